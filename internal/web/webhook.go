package web

import (
	"net/http"
	"strconv"
	"time"

	"chairside/ent"
	"chairside/ent/webhook"
	"chairside/ent/webhookdelivery"
	events "chairside/internal/events/webhook"
)

// logPage is the number of deliveries on one page of a webhook's log.
const logPage = 50

// deliveryRow is one entry of a webhook's log.
type deliveryRow struct {
	*ent.WebhookDelivery
	Hook webhookRow
}

// NextAttempt is when the event is sent again; nil if that is not known.
func (d deliveryRow) NextAttempt() *time.Time {
	return events.NextAttempt(d.Hook.Webhook, d.WebhookDelivery)
}

// State is the state of the delivery in one word.
func (d deliveryRow) State() string {
	switch {
	case d.Succeeded:
		return "Delivered"
	case d.SettledAt != nil:
		return "Failed"
	}
	return "Waiting"
}

// webhook shows a webhook, the form to edit it, and its log.
func (s *Site) webhook(w http.ResponseWriter, r *http.Request) error {
	hook, err := s.pathWebhook(r)
	if err != nil {
		return err
	}
	f := form{values: map[string][]string{"url": {hook.URL}, "events": hook.Events}}
	return s.showWebhook(w, r, http.StatusOK, hook, s.restored(r, f, r.URL.Path))
}

// pathWebhook returns the webhook whose id is in the path.
func (s *Site) pathWebhook(r *http.Request) (*ent.Webhook, error) {
	id, err := pathID(r)
	if err != nil {
		return nil, err
	}
	return s.DB.Ent.Webhook.Query().Where(webhook.ID(id)).Only(r.Context())
}

func (s *Site) showWebhook(w http.ResponseWriter, r *http.Request, status int, hook *ent.Webhook, f form) error {
	log := s.DB.Ent.WebhookDelivery.Query().Where(webhookdelivery.WebhookID(hook.ID)).Order(ent.Desc(webhookdelivery.FieldID)).Limit(logPage + 1)
	if before, err := strconv.ParseInt(r.URL.Query().Get("before"), 10, 64); err == nil {
		log.Where(webhookdelivery.IDLT(before))
	}
	found, err := log.All(r.Context())
	if err != nil {
		return err
	}
	page := struct {
		webhookRow
		Events []family
		Log    []deliveryRow
		Older  int64 // id before which the next page starts; 0 without one
		Days   int   // for which the log is kept
	}{webhookRow{hook}, eventRows(f), nil, 0, s.Webhooks.RetentionDays()}
	for i, d := range found {
		if i == logPage {
			page.Older = found[i-1].ID
			break
		}
		page.Log = append(page.Log, deliveryRow{d, page.webhookRow})
	}
	s.show(w, r, status, "webhook", view{Title: "Webhook", Here: webhooksPath, Form: f, Page: page})
	return nil
}
