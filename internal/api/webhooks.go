package api

import (
	"context"

	"chairside/internal/apierror"
	"chairside/internal/events/webhook"
	"chairside/internal/principal"
	"chairside/internal/seal"
	"chairside/ogent"
)

// CreateWebhook creates a webhook that follows the change feed from now. Its position is read
// before the transaction, which must not wait for a second connection.
func (h *Handler) CreateWebhook(ctx context.Context, in *ogent.WebhookInputRequest) (*ogent.WebhookResponse, error) {
	cursor, err := h.feed.End(ctx)
	if err != nil {
		return nil, err
	}
	writes := h.Writes
	writes.Rules.Webhook = func(ctx context.Context, w *ogent.WebhookWrite) error {
		if err := webhookRule(ctx, w); err != nil {
			return err
		}
		secret := webhook.NewSecret()
		w.Mutation.SetSecret(seal.Plain(secret))
		w.Mutation.SetFeedCursor(cursor)
		if err := w.Save(ctx); err != nil {
			return err
		}
		w.Response.Webhook.Secret.SetTo(secret)
		return nil
	}
	return writes.CreateWebhook(ctx, in)
}

// webhookRule checks the address and the events. A token must be able to read what it has sent
// to an address. A webhook that is switched on again starts to count its failures anew.
func webhookRule(ctx context.Context, w *ogent.WebhookWrite) error {
	if principal.Must(ctx).SiteLifted { // the webhook would still send every site's records after the hour
		return apierror.SiteLimited()
	}
	address, moved := w.In.URL.Get()
	if message := webhook.CheckURL(address); moved && message != "" {
		w.Problems.Add("url", message)
	}
	events, chosen := w.In.Events, w.In.Events != nil
	if message := webhook.CheckEvents(events); chosen && message != "" {
		w.Problems.Add("events", message)
	}
	if !chosen && w.Old != nil {
		events = w.Old.Events
	}
	resumed, set := w.Mutation.Active()
	resumed = resumed && set
	if err := w.Check(ctx); err != nil {
		return err
	}
	if moved || chosen || resumed {
		if err := mayReadEvents(ctx, events); err != nil {
			return err
		}
	}
	if w.Old == nil || !resumed {
		return nil
	}
	webhook.Resumed(w.Mutation)
	return webhook.Hasten(ctx, w.Tx, w.Old.ID)
}

// mayReadEvents returns apierror.InsufficientScope if the caller may not read all resources of
// the events.
func mayReadEvents(ctx context.Context, events []string) error {
	scopes := principal.Must(ctx).Scopes
	for _, resource := range webhook.Resources(events) {
		if needed := ogent.Resources[resource].Scope; !scopes.Allows(needed) {
			return apierror.InsufficientScope(needed)
		}
	}
	return nil
}
