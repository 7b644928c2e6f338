package web

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"chairside/internal/apierror"
	"chairside/internal/report"
	"chairside/internal/scope"
	"chairside/internal/signin"
)

const recordsPath = "/settings/records"

const (
	sortField, directionField = "sort_by", "sort_direction"
	// recordRows is the number of records on a page.
	recordRows = "25"
)

// recordGroup are the resources that one family of scopes opens.
type recordGroup struct {
	Name, Title string
	Kinds       []*recordKind
}

// recordIndex lists the resources that the visitor's role may read.
func (s *Site) recordIndex(w http.ResponseWriter, r *http.Request) error {
	scopes := visitorScopes(r)
	var groups []recordGroup
	for _, family := range scope.Families {
		g := recordGroup{Name: family, Title: scope.Title(family)}
		for _, k := range s.kinds {
			if of, _, _ := strings.Cut(k.list.scope(), ":"); of == family && k.openTo(scopes) {
				g.Kinds = append(g.Kinds, k)
			}
		}
		if len(g.Kinds) > 0 {
			groups = append(groups, g)
		}
	}
	s.show(w, r, http.StatusOK, "records", view{Title: "Records", Here: recordsPath, Page: groups})
	return nil
}

// visitorScopes are the scopes that the visitor's role may hold.
func visitorScopes(r *http.Request) scope.Effective {
	return signin.From(r.Context()).User.Role.PermissionLevel().Effective()
}

// pathKind returns the resource in the path, if the visitor's role may read it.
func (s *Site) pathKind(r *http.Request) (*recordKind, error) {
	i := slices.IndexFunc(s.kinds, func(k *recordKind) bool { return k.Name == r.PathValue("resource") })
	switch {
	case i < 0:
		return nil, apierror.NotFound()
	case !s.kinds[i].openTo(visitorScopes(r)):
		return nil, errAdministrator
	}
	return s.kinds[i], nil
}

// recordListView is the data of a page of records.
type recordListView struct {
	*recordKind
	Rows           []recordRow
	Total          string
	Number         string   // of the page, as sent; "" for the first one
	Previous, Next string   // URLs; "" for none
	Missing        []string // filters that the list cannot do without
	Curl           string   // the request; "" if none was made
}

// recordRow is one record of a list.
type recordRow struct {
	ID    string
	Cells []fieldView
}

// recordList lists records, with the filters and orders of the API's list.
func (s *Site) recordList(w http.ResponseWriter, r *http.Request) error {
	k, err := s.pathKind(r)
	if err != nil {
		return err
	}
	sent, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return errMalformed
	}
	f, query := form{values: url.Values{}}, url.Values{"per_page": {recordRows}}
	page := recordListView{recordKind: k}
	take := func(name string) {
		if value := strings.TrimSpace(sent.Get(name)); value != "" {
			f.values.Set(name, value)
			query.Set(name, value)
		}
	}
	for _, p := range k.Filters {
		take(p.Name)
	}
	take(sortField)
	take(directionField)
	if page.Number = sent.Get("page"); page.Number != "" {
		query.Set("page", page.Number)
	}
	status, err := s.fillRecordList(r, &page, &f, query)
	if err != nil {
		return err
	}
	s.show(w, r, status, "record_list", view{Title: k.Title, Here: recordsPath, Form: f, Page: page})
	return nil
}

// fillRecordList sets the rows that the API returns, or adds its messages to the form. It returns the
// status of the page.
func (s *Site) fillRecordList(r *http.Request, page *recordListView, f *form, query url.Values) (status int, err error) {
	page.Curl = s.curl(page.list.Path, query)
	status, body := s.Read(r, visitorScopes(r), page.list.Path+"?"+query.Encode())
	if status == http.StatusBadRequest && addParams(f, body) {
		if !f.HasValues() && page.Number == "" { // the list cannot do without filters
			for _, m := range f.wrong {
				page.Missing = append(page.Missing, m.Field)
			}
			f.wrong, page.Curl = nil, ""
			return http.StatusOK, nil
		}
		return http.StatusUnprocessableEntity, nil
	}
	if status != http.StatusOK {
		return 0, readProblem(status, body)
	}
	var found map[string]json.RawMessage
	var meta struct {
		Total      int `json:"total"`
		Page       int `json:"page"`
		TotalPages int `json:"total_pages"`
	}
	var records []ordered[json.RawMessage]
	if err := json.Unmarshal(body, &found); err != nil {
		return 0, err
	}
	if err := json.Unmarshal(found["meta"], &meta); err != nil {
		return 0, err
	}
	if err := json.Unmarshal(found[s.Operations[page.list.ID].Key], &records); err != nil {
		return 0, err
	}
	page.Total = report.English.Format(report.Count, meta.Total)
	for _, members := range records {
		all := page.fields(members)
		row := recordRow{ID: all["id"].Text}
		for _, name := range page.Columns {
			row.Cells = append(row.Cells, all[name])
		}
		page.Rows = append(page.Rows, row)
	}
	address := func(number int) string {
		f.values.Set("page", strconv.Itoa(number))
		defer f.values.Del("page")
		return recordsPath + "/" + page.Name + "?" + f.values.Encode()
	}
	if meta.Page > 1 {
		page.Previous = address(min(meta.Page-1, max(1, meta.TotalPages)))
	}
	if meta.Page < meta.TotalPages {
		page.Next = address(meta.Page + 1)
	}
	return http.StatusOK, nil
}

// curl returns the command that sends a GET request of the API.
func (s *Site) curl(path string, query url.Values) string {
	address := s.BaseURL + "/v1" + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	return "curl -H \"Authorization: Bearer $TOKEN\" \\\n  '" + strings.ReplaceAll(address, "'", "%27") + "'"
}

// addParams adds the messages of an error response about parameters, and reports whether it has any.
func addParams(f *form, body []byte) bool {
	var response struct {
		Error struct {
			Params ordered[[]string] `json:"params"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &response) != nil {
		return false
	}
	for _, p := range response.Error.Params {
		for _, message := range p.Value {
			f.add(p.Name, p.Name+" "+message+".")
		}
	}
	return len(f.wrong) > 0
}

// readProblem returns the error page for an error response of the API.
func readProblem(status int, body []byte) error {
	if status == http.StatusForbidden {
		return errAdministrator
	}
	var response struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	_ = json.Unmarshal(body, &response) // without a message the page has its own
	return problemFor(&apierror.Error{Status: status, Message: response.Error.Message})
}
