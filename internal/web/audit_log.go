package web

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"chairside/ent"
	"chairside/ent/application"
	"chairside/ent/auditevent"
	"chairside/internal/audit/trail"
	"chairside/internal/civil"
	"chairside/internal/entx/table"
	"chairside/internal/principal"
	"chairside/schema"
)

const auditPath = "/settings/audit"

// auditRows is the most events of a page.
const auditRows = 50

// auditView is the data of the audit log's page.
type auditView struct {
	Users, Applications []choice
	Actions             []choice
	Events              []auditRow
	Filtered            bool
	Older               string // URL of the next page; "" on the last one
}

// auditRow is one event with its texts.
type auditRow struct {
	*ent.AuditEvent
	Who     string   // the user, or why there is none
	Through string   // "a browser", "a token", or the application's name; "" for neither
	What    string   // "Updated appointment 7"
	About   string   // "patient 12"; "" if it is about none
	Changed string   // the changed columns, in words
	Records []string // of a read: "patients 3, 7"
	Lifted  bool     // a token did it while its limit to a site was lifted
	Reason  string   // for which such a limit was lifted; "" for other events
}

// auditWords are the actions in words, for the list and the filter.
var auditWords = map[string]string{
	"create": "Created", "update": "Changed", "delete": "Deleted", "read": "Read patients’ records", "refuse": "Refused a request",
	"sign_in": "Signed in", "sign_in_failed": "Failed to sign in", "sign_out": "Signed out", "report": "Opened report", "export": "Exported", "import": "Imported", "erase": "Erased", "prune": "Pruned the audit log", "rotate": "Added a key",
}

// audited are the tables by the name that events have for a kind of record.
var audited = func() map[string]*table.Table {
	all := map[string]*table.Table{}
	for _, t := range ent.Tables {
		all[t.Type] = t
	}
	return all
}()

// auditLog lists the practice's audit events, the newest first.
func (s *Site) auditLog(w http.ResponseWriter, r *http.Request) error {
	ctx, c := r.Context(), principal.Must(r.Context())
	sent, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return errMalformed
	}
	f := form{values: url.Values{}}
	for _, field := range []string{"patient", "user", "application", "action", "day"} {
		if value := strings.TrimSpace(sent.Get(field)); value != "" {
			f.values.Set(field, value)
		}
	}
	page := auditView{Filtered: len(f.values) > 0}
	users, applications, err := s.auditChoices(r, &page)
	if err != nil {
		return err
	}
	q := s.DB.Ent.AuditEvent.Query().Order(ent.Desc(auditevent.FieldID)).Limit(auditRows + 1)
	if id, ok := f.number("patient", "Enter the patient’s ID, which is a number."); ok {
		q.Where(trail.AboutPatient(c.PracticeID, id))
	}
	if id, ok := f.number("user", "Choose a user."); ok {
		q.Where(auditevent.UserID(id))
	}
	if chosen := f.Value("application"); chosen != "" {
		if id, ok := applications[chosen]; ok {
			q.Where(auditevent.ApplicationID(id.ID))
		} else {
			f.add("application", "Choose an application.")
		}
	}
	if action := f.Value("action"); action != "" {
		if slices.Contains(schema.AuditActions, action) {
			q.Where(auditevent.Action(action))
		} else {
			f.add("action", "Choose an event.")
		}
	}
	if text := f.Value("day"); text != "" {
		if day, err := civil.Parse(text); err != nil {
			f.add("day", "Enter a day, such as 2026-07-01.")
		} else {
			q.Where(trail.OnDay(day, c.Zone))
		}
	}
	if before, err := strconv.ParseInt(sent.Get("before"), 10, 64); err == nil {
		q.Where(auditevent.IDLT(before))
	}
	status := http.StatusUnprocessableEntity
	if len(f.wrong) == 0 {
		status = http.StatusOK
		events, err := q.All(ctx)
		if err != nil {
			return err
		}
		if len(events) > auditRows {
			events = events[:auditRows]
			next := url.Values{}
			for field := range f.values {
				next.Set(field, f.Value(field))
			}
			next.Set("before", strconv.FormatInt(events[auditRows-1].ID, 10))
			page.Older = auditPath + "?" + next.Encode()
		}
		for _, e := range events {
			page.Events = append(page.Events, auditRowOf(e, users, applications))
		}
	}
	s.show(w, r, status, "audit_log", view{Title: "Audit log", Here: auditPath, Form: f, Page: page})
	return nil
}

// number returns the number in a field, if there is one.
func (f *form) number(field, message string) (n int64, ok bool) {
	text := f.Value(field)
	if text == "" {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		f.add(field, message)
		return 0, false
	}
	return n, true
}

// auditChoices sets the options of the filters and returns users' names and applications by id.
func (s *Site) auditChoices(r *http.Request, page *auditView) (users map[int64]string, applications map[string]*ent.Application, err error) {
	people, err := s.DB.Ent.User.Query().All(r.Context())
	if err != nil {
		return nil, nil, err
	}
	users = map[int64]string{}
	for _, u := range people {
		users[u.ID] = schema.FullName(u.FirstName, u.LastName)
		page.Users = append(page.Users, choice{strconv.FormatInt(u.ID, 10), users[u.ID], u.Active})
	}
	slices.SortFunc(page.Users, byName)
	registered, err := s.DB.Ent.Application.Query().Order(application.ByCreatedAt()).All(r.Context())
	if err != nil {
		return nil, nil, err
	}
	applications = map[string]*ent.Application{}
	for _, a := range registered {
		applications[a.ID.String()] = a
		page.Applications = append(page.Applications, choice{a.ID.String(), a.Name, a.DeletedAt == nil})
	}
	slices.SortFunc(page.Applications, byName)
	for _, action := range schema.AuditActions {
		page.Actions = append(page.Actions, choice{action, auditWords[action], true})
	}
	return users, applications, nil
}

// auditRowOf returns the texts of an event.
func auditRowOf(e *ent.AuditEvent, users map[int64]string, applications map[string]*ent.Application) auditRow {
	row := auditRow{AuditEvent: e, Who: "The command line or Chairside itself", What: auditWords[e.Action]}
	switch {
	case e.UserID != nil && users[*e.UserID] != "":
		row.Who = users[*e.UserID]
	case e.UserID != nil:
		row.Who = "User " + strconv.FormatInt(*e.UserID, 10)
	case e.RequestID != nil:
		row.Who = "No user"
	}
	switch {
	case e.ApplicationID != nil && applications[e.ApplicationID.String()] != nil:
		row.Through = applications[e.ApplicationID.String()].Name
	case e.ApplicationID != nil:
		row.Through = "another application"
	case e.TokenID != nil:
		row.Through = "a personal token"
	case e.SessionID != nil:
		row.Through = "a browser"
	}
	if e.Resource != nil {
		row.What += " " + recordWords(*e.Resource)
		if t, ok := audited[*e.Resource]; ok {
			row.Changed = strings.Join(columnWords(t, e.Fields), ", ")
		}
	}
	if e.RecordID != nil && *e.RecordID != "" && !strings.HasPrefix(e.Action, "sign_in") {
		row.What += " " + *e.RecordID
	}
	if e.Status != nil {
		row.What += " with status " + strconv.Itoa(*e.Status)
	}
	if e.PatientID != nil && (e.Resource == nil || *e.Resource != ent.TypePatient) {
		row.About = "patient " + strconv.FormatInt(*e.PatientID, 10)
	}
	row.Lifted, row.Reason = trail.SiteLift(e)
	if e.Action == "read" {
		row.Records = trail.Records(e)
	}
	return row
}

// columnWords returns what people call the columns of an entry: "site" for site_id, "password" for
// password_hash. Columns that hooks write with others, such as folded copies, are left out: the schema
// keeps their values out of the audit log, too.
func columnWords(t *table.Table, columns []string) (all []string) {
	for _, name := range columns {
		c := t.Column(name)
		if c == nil || schema.AuditValueOf(t.Type, name, false) == schema.AuditOmitted {
			continue
		}
		if c.References != "" {
			name = strings.TrimSuffix(name, "_id")
		}
		if c.ReadOnly {
			name = strings.TrimSuffix(name, "hash")
		}
		if name = strings.TrimSuffix(name, "_"); name != "" {
			all = append(all, table.Words(name))
		}
	}
	return all
}

// recordWords returns the name of an entity in words: "treatment plan" for TreatmentPlan.
func recordWords(entity string) string {
	var b strings.Builder
	for i, r := range entity {
		if r >= 'A' && r <= 'Z' && i > 0 && entity[i-1] >= 'a' && entity[i-1] <= 'z' {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
	}
	words := b.String()
	if strings.HasPrefix(words, "NHS") {
		return words
	}
	return strings.ToLower(words)
}
