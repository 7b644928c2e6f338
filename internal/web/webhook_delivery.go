package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"chairside/ent"
	"chairside/ent/webhookattempt"
	"chairside/ent/webhookdelivery"
	"chairside/internal/apierror"
	"chairside/internal/audit"
	"chairside/internal/events/webhook"
)

// attemptView is one attempt of a delivery, for its page.
type attemptView struct {
	*ent.WebhookAttempt
	Number         int
	URL            string
	body, Response string
}

// OK reports whether the receiver accepted the event.
func (a attemptView) OK() bool { return webhook.Accepted(a.Status) }

// Took is the duration: "12 ms".
func (a attemptView) Took() string { return strconv.Itoa(a.DurationMs) + " ms" }

// Request is the request as text.
func (a attemptView) Request() string {
	var b strings.Builder
	b.WriteString("POST " + a.URL + "\n")
	for _, name := range slices.Sorted(maps.Keys(a.Headers)) {
		b.WriteString(name + ": " + a.Headers[name] + "\n")
	}
	b.WriteByte('\n')
	var body bytes.Buffer
	if json.Indent(&body, []byte(a.body), "", "  ") != nil {
		body.WriteString(a.body)
	}
	return b.String() + body.String()
}

// webhookDelivery shows a delivery: each request, with its body, and its response. The records in
// the bodies are in the access log.
func (s *Site) webhookDelivery(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	hook, found, err := s.pathDelivery(r)
	if err != nil {
		return err
	}
	attempts, err := s.DB.Ent.WebhookAttempt.Query().Where(webhookattempt.DeliveryID(found.ID)).Order(webhookattempt.ByID()).All(ctx)
	if err != nil {
		return err
	}
	page := struct {
		deliveryRow
		Retryable, Redeliverable bool
		Attempts                 []attemptView
	}{deliveryRow{found, webhookRow{hook}}, webhook.CanRetry(hook, found), webhook.CanRedeliver(hook, found), nil}
	for i, a := range attempts {
		if err := audit.From(ctx).Unmarshal(a.Records); err != nil {
			return err
		}
		if err := a.Unseal(s.DB.Keys); err != nil {
			return err
		}
		body, _ := a.Body.Plain()
		response, _ := a.Response.Plain()
		page.Attempts = append(page.Attempts, attemptView{a, i + 1, hook.URL, body, response})
	}
	slices.Reverse(page.Attempts)
	s.show(w, r, http.StatusOK, "webhook_delivery", view{Title: found.Event, Here: webhooksPath, Page: page})
	return nil
}

// pathDelivery returns the webhook and the delivery whose ids are in the path.
func (s *Site) pathDelivery(r *http.Request) (hook *ent.Webhook, found *ent.WebhookDelivery, err error) {
	if hook, err = s.pathWebhook(r); err != nil {
		return nil, nil, err
	}
	id, err := strconv.ParseInt(r.PathValue("delivery"), 10, 64)
	if err != nil || strconv.FormatInt(id, 10) != r.PathValue("delivery") {
		return nil, nil, apierror.NotFound()
	}
	found, err = s.DB.Ent.WebhookDelivery.Query().Where(webhookdelivery.ID(id), webhookdelivery.WebhookID(hook.ID)).Only(r.Context())
	return hook, found, err
}

// testWebhook sends a test event and shows its delivery.
func (s *Site) testWebhook(w http.ResponseWriter, r *http.Request) error {
	hook, err := s.pathWebhook(r)
	if err != nil {
		return err
	}
	result, err := s.Webhooks.Test(r.Context(), hook)
	if err != nil {
		return err
	}
	return redirect(w, webhooksPath+"/"+hook.ID.String()+"/deliveries/"+strconv.FormatInt(result.Delivery, 10))
}

// redeliver sends an event again.
func (s *Site) redeliver(w http.ResponseWriter, r *http.Request) error {
	hook, found, err := s.pathDelivery(r)
	if err != nil {
		return err
	}
	switch err := s.Webhooks.Redeliver(r.Context(), hook, found); {
	case errors.Is(err, webhook.ErrNotRedelivered): // its page has no button for that
		return apierror.NotFound()
	case err != nil:
		return err
	}
	if !hook.Active {
		return toWebhook(w, hook, "webhook-redelivered-later")
	}
	return toWebhook(w, hook, "webhook-redelivered")
}

// retryDelivery makes the next attempt of an event that waits for it now.
func (s *Site) retryDelivery(w http.ResponseWriter, r *http.Request) error {
	hook, found, err := s.pathDelivery(r)
	if err != nil {
		return err
	}
	switch err := s.Webhooks.Retry(r.Context(), hook, found); {
	case errors.Is(err, webhook.ErrNotRetried): // the attempt was made meanwhile, or the webhook is off: its page says which
		return redirect(w, webhooksPath+"/"+hook.ID.String()+"/deliveries/"+strconv.FormatInt(found.ID, 10))
	case err != nil:
		return err
	}
	return toWebhook(w, hook, "webhook-retried")
}
