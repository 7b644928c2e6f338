package web

import (
	"context"
	"net/http"

	"chairside/ent"
	"chairside/internal/events/webhook"
)

// editWebhook changes a webhook's URL and events.
func (s *Site) editWebhook(w http.ResponseWriter, r *http.Request) error {
	ctx, f := r.Context(), submitted(r)
	hook, err := s.pathWebhook(r)
	if err != nil {
		return err
	}
	err = s.DB.Tx(ctx, func(tx *ent.Client) error { return webhook.Edit(ctx, tx, hook, readWebhook(f)) })
	switch {
	case f.addFieldErrors(err, webhookLabels):
		return s.showWebhook(w, r, http.StatusUnprocessableEntity, hook, f)
	case err != nil:
		return err
	}
	return toWebhook(w, hook, "webhook-saved")
}

// pauseWebhook stops the deliveries of a webhook.
func (s *Site) pauseWebhook(w http.ResponseWriter, r *http.Request) error {
	return s.switchWebhook(w, r, "webhook-paused", webhook.Pause)
}

// resumeWebhook starts the deliveries of a webhook again.
func (s *Site) resumeWebhook(w http.ResponseWriter, r *http.Request) error {
	return s.switchWebhook(w, r, "webhook-resumed", webhook.Resume)
}

func (s *Site) switchWebhook(w http.ResponseWriter, r *http.Request, done string, change func(context.Context, *ent.Client, *ent.Webhook) error) error {
	ctx := r.Context()
	hook, err := s.pathWebhook(r)
	if err != nil {
		return err
	}
	if err := s.DB.Tx(ctx, func(tx *ent.Client) error { return change(ctx, tx, hook) }); err != nil {
		return err
	}
	return toWebhook(w, hook, done)
}

// rotateWebhookSecret replaces a webhook's secret and shows the new one, in this response only.
func (s *Site) rotateWebhookSecret(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	hook, err := s.pathWebhook(r)
	if err != nil {
		return err
	}
	made := webhookSecret{Webhook: hook, Rotated: true}
	err = s.DB.Tx(ctx, func(tx *ent.Client) (err error) {
		made.Secret, err = webhook.Rotate(ctx, s.DB.Keys, tx, hook.ID)
		return err
	})
	if err != nil {
		return err
	}
	s.show(w, r, http.StatusOK, "webhook_made", view{Title: "New signing secret", Here: webhooksPath, Page: made})
	return nil
}

// deleteWebhook deletes a webhook. Its log is deleted within the hour.
func (s *Site) deleteWebhook(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	hook, err := s.pathWebhook(r)
	if err != nil {
		return err
	}
	if err := s.DB.Tx(ctx, func(tx *ent.Client) error { return tx.Webhook.DeleteOne(hook).Exec(ctx) }); err != nil {
		return err
	}
	return redirect(w, webhooksPath+"?done=webhook-deleted")
}

// toWebhook redirects to the page of a webhook.
func toWebhook(w http.ResponseWriter, hook *ent.Webhook, done string) error {
	return redirect(w, webhooksPath+"/"+hook.ID.String()+"?done="+done)
}
