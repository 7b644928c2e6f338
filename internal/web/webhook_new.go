package web

import (
	"net/http"
	"strings"

	"chairside/ent"
	"chairside/internal/events/webhook"
)

// newWebhook shows the form that creates a webhook.
func (s *Site) newWebhook(w http.ResponseWriter, r *http.Request) error {
	s.showNewWebhook(w, r, http.StatusOK, s.restored(r, form{values: map[string][]string{"events": {"*"}}}, webhooksPath))
	return nil
}

func (s *Site) showNewWebhook(w http.ResponseWriter, r *http.Request, status int, f form) {
	s.show(w, r, status, "webhook_new", view{Title: "New webhook", Here: webhooksPath, Form: f, Page: struct{ Events []family }{eventRows(f)}})
}

// webhookSecret is a webhook with a secret that is shown once.
type webhookSecret struct {
	*ent.Webhook
	Secret  string
	Rotated bool // an earlier secret signs too, for a day
}

// createWebhook creates a webhook and shows its secret, in this response only. The webhook
// follows the change feed from now.
func (s *Site) createWebhook(w http.ResponseWriter, r *http.Request) error {
	ctx, f := r.Context(), submitted(r)
	cursor, err := s.Feed.End(ctx)
	if err != nil {
		return err
	}
	made := webhookSecret{}
	err = s.DB.Tx(ctx, func(tx *ent.Client) (err error) {
		made.Webhook, made.Secret, err = webhook.Create(ctx, tx, cursor, readWebhook(f))
		return err
	})
	switch {
	case f.addFieldErrors(err, webhookLabels):
		s.showNewWebhook(w, r, http.StatusUnprocessableEntity, f)
		return nil
	case err != nil:
		return err
	}
	s.show(w, r, http.StatusOK, "webhook_made", view{Title: "Your new webhook", Here: webhooksPath, Page: made})
	return nil
}

// readWebhook reads the fields that the create and edit forms share.
func readWebhook(f form) webhook.Draft {
	return webhook.Draft{URL: strings.TrimSpace(f.Value("url")), Events: f.values["events"]}
}

// webhookLabels turn the field errors of package webhook into sentences.
var webhookLabels = []label{
	{"url", "The URL", "Enter a URL."},
	{"events", "The events", "Choose at least one event."},
}
