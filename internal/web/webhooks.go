package web

import (
	"net/http"
	"slices"
	"strings"

	"chairside/ent"
	"chairside/ent/webhook"
	"chairside/internal/entx/table"
	events "chairside/internal/events/webhook"
	"chairside/internal/signin"
)

const webhooksPath = "/settings/webhooks"

// webhookRow is a webhook with its texts.
type webhookRow struct{ *ent.Webhook }

// Summary lists the events: "All events", "patients.created, rooms.*".
func (w webhookRow) Summary() string {
	if slices.Contains(w.Events, "*") {
		return "All events"
	}
	return strings.Join(w.Events, ", ")
}

// Failed reports whether failures switched the webhook off.
func (w webhookRow) Failed() bool { return !w.Active && w.DisabledReason != nil }

// webhooks lists the practice's webhooks.
func (s *Site) webhooks(w http.ResponseWriter, r *http.Request) error {
	all, err := s.DB.Ent.Webhook.Query().Order(webhook.ByCreatedAt(), webhook.ByID()).All(r.Context())
	if err != nil {
		return err
	}
	rows := make([]webhookRow, len(all))
	for i, hook := range all {
		rows[i] = webhookRow{hook}
	}
	s.show(w, r, http.StatusOK, "webhooks", view{Title: "Webhooks", Here: webhooksPath, Page: rows})
	return nil
}

// webhookIsOff reports whether failures switched off a webhook that the visitor may manage.
func (s *Site) webhookIsOff(r *http.Request) bool {
	visitor := signin.From(r.Context())
	if visitor == nil || !slices.ContainsFunc(s.sectionsFor(visitor), func(s section) bool { return s.Path == webhooksPath }) {
		return false
	}
	off, err := s.DB.Ent.Webhook.Query().Where(webhook.Active(false), webhook.DisabledReasonNotNil()).Exist(r.Context())
	return err == nil && off // without the database, the page says so itself
}

// eventRows returns the checkboxes of all events, one row for each resource.
func eventRows(f form) []family {
	all := []family{{Name: "all", Title: "Everything", Covers: "every resource, and those that are added later", Boxes: []box{
		{"*", "All events", "All events", f.Chosen("events", "*")},
	}}}
	for _, name := range events.Resources([]string{"*"}) {
		row := family{Name: name, Title: table.Title(name)}
		for _, kind := range []struct{ name, word string }{{"*", "All"}, {"created", "Created"}, {"updated", "Updated"}, {"deleted", "Deleted"}} {
			event := name + "." + kind.name
			row.Boxes = append(row.Boxes, box{event, kind.word, row.Title + ": " + strings.ToLower(kind.word), f.Chosen("events", event)})
		}
		all = append(all, row)
	}
	return all
}
