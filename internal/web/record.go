package web

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"time"

	"chairside/internal/apierror"
	"chairside/internal/entx/table"
)

// recordID matches the ids of the API's records.
var recordID = regexp.MustCompile(`^([0-9]{1,19}|[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})$`)

// fieldView is a member of a record as the pages show it.
type fieldView struct {
	Name   string
	Text   string // the value; "" for none
	At     *time.Time
	Nested string // an object or a list, as JSON
	Link   string // page of the record that the value is the id of; "" for none
}

// recordView is the data of the page of one record.
type recordView struct {
	*recordKind
	ID     string
	Fields []fieldView
	Lists  []recordLink
	Curl   string
}

// recordLink leads to a list of records that point at a record.
type recordLink struct{ Title, Address string }

// record shows one record, its links and the request that reads it.
func (s *Site) record(w http.ResponseWriter, r *http.Request) error {
	k, err := s.pathKind(r)
	if err != nil {
		return err
	}
	id := r.PathValue("id")
	if !recordID.MatchString(id) { // the path of another operation
		return apierror.NotFound()
	}
	path := k.list.Path + "/" + url.PathEscape(id)
	status, body := s.Read(r, visitorScopes(r), path)
	if status != http.StatusOK {
		return readProblem(status, body)
	}
	var found map[string]ordered[json.RawMessage]
	if err := json.Unmarshal(body, &found); err != nil {
		return err
	}
	page := recordView{recordKind: k, ID: id, Curl: s.curl(path, nil)}
	all, scopes := k.fields(found[k.one]), visitorScopes(r)
	for _, member := range found[k.one] {
		field := all[member.Name]
		if n, ok := k.refersTo[member.Name]; ok && field.Text != "" && scopes.Allows(k.forward[n].Scope) {
			field.Link = recordsPath + "/" + k.forward[n].Plural + "/" + url.PathEscape(field.Text)
		}
		page.Fields = append(page.Fields, field)
	}
	for _, l := range k.reverse {
		if l.kind.openTo(scopes) {
			page.Lists = append(page.Lists, recordLink{l.kind.Title, recordsPath + "/" + l.kind.Name + "?" + url.Values{l.param: {id}}.Encode()})
		}
	}
	s.show(w, r, http.StatusOK, "record", view{Title: table.Title(k.one) + " " + id, Here: recordsPath, Page: page})
	return nil
}

// fields returns the members of a record by name.
func (k *recordKind) fields(members ordered[json.RawMessage]) map[string]fieldView {
	times := map[string]bool{}
	for _, p := range k.schema.Properties {
		times[p.Name] = p.Value.Format == "date-time"
	}
	all := map[string]fieldView{}
	for _, m := range members {
		v := fieldView{Name: m.Name}
		switch text := string(m.Value); {
		case text == "null" || text == "[]" || text == "{}":
		case text[0] == '{' || text[0] == '[':
			v.Nested = pretty(m.Value)
		case text[0] == '"':
			_ = json.Unmarshal(m.Value, &v.Text) // a string of the API's own JSON
			if at, err := time.Parse(time.RFC3339, v.Text); err == nil && times[m.Name] {
				v.At = &at
			}
		default:
			v.Text = text
		}
		all[m.Name] = v
	}
	return all
}
