package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/webhook"
	"chairside/ent/webhookattempt"
	"chairside/ent/webhookdelivery"
	"chairside/internal/config"
	"chairside/internal/events/feed"
	events "chairside/internal/events/webhook"
	"chairside/internal/principal"
	"chairside/internal/scope"
	"chairside/internal/server"
	"chairside/internal/store"
)

type webhookCommands struct {
	Create     webhookCreate     `cmd:"" help:"Create a webhook."`
	List       webhookList       `cmd:"" help:"List webhooks."`
	Update     webhookUpdate     `cmd:"" help:"Change a webhook's URL or events, pause it or resume it."`
	Delete     webhookDelete     `cmd:"" help:"Delete a webhook and its log."`
	Rotate     webhookRotate     `cmd:"" help:"Replace a webhook's signing secret."`
	Test       webhookTest       `cmd:"" help:"Send a test event."`
	Deliveries webhookDeliveries `cmd:"" help:"List a webhook's latest deliveries."`
	Retry      webhookRetry      `cmd:"" help:"Retry an event that waits for its next attempt now."`
	Redeliver  webhookRedeliver  `cmd:"" help:"Redeliver an event that was delivered or has failed."`
}

type webhookCreate struct{ config.WebhookFlags }

// Help is the text of --help.
func (webhookCreate) Help() string {
	return "Prints the id and the signing secret as JSON. The secret cannot be shown again. A running server delivers changes from now on."
}

// createdWebhook is what "webhook create" and "webhook rotate" print.
type createdWebhook struct {
	ID     string `json:"id"`
	Secret string `json:"secret"`
}

var errNoAdministrator = errors.New("only administrators may create webhooks")

// Run creates the webhook and prints its secret.
func (w *webhookCreate) Run(c *console) error {
	flags, err := w.Read()
	if err != nil {
		return err
	}
	var created createdWebhook
	err = c.withDatabase(flags.Database, func(db *store.DB) error {
		cursor, err := feed.New(db).End(c)
		if err != nil {
			return err
		}
		return db.Tx(c, func(tx *ent.Client) error {
			u, err := findUser(c, tx, flags.User)
			if err != nil {
				return err
			}
			if !u.Active {
				return errDisabled
			}
			if u.Role.PermissionLevel() < scope.Administrator {
				return errNoAdministrator
			}
			ctx := principal.With(c, &principal.Principal{PracticeID: u.PracticeID, UserID: u.ID})
			row, secret, err := events.Create(ctx, tx, cursor, events.Draft{URL: flags.URL, Events: flags.Events})
			if err != nil {
				return asMistakes(err)
			}
			created = createdWebhook{row.ID.String(), secret}
			return nil
		})
	})
	if err != nil {
		return err
	}
	return printJSON(c.out, created)
}

type webhookList struct {
	config.Database
	listing
}

// Run prints the webhooks of all practices, one per line.
func (w *webhookList) Run(c *console) error {
	return c.withDatabase(w.Database, func(db *store.DB) error {
		rows, err := db.Ent.Webhook.Query().WithPractice().Order(webhook.ByCreatedAt(), webhook.ByID()).All(principal.AsSystem(c))
		if err != nil {
			return err
		}
		var cells [][]any
		for _, row := range rows {
			state := "active"
			switch {
			case row.DisabledAt != nil && !row.Active:
				state = "switched off"
			case !row.Active:
				state = "paused"
			}
			cells = append(cells, []any{row.ID, row.Edges.Practice.Slug, state, row.SuccessfulDeliveries, row.FailedDeliveries, row.LastDeliveredAt, row.Events, row.URL})
		}
		return w.print(c, []string{"ID", "PRACTICE", "STATE", "DELIVERED", "FAILED", "LAST DELIVERED", "EVENTS", "URL"}, cells)
	})
}

// webhookFlags name one webhook.
type webhookFlags struct {
	config.Database
	ID string `arg:"" help:"The webhook's id; see \"chairside webhook list\"."`
}

// with finds the webhook and runs work on it.
func (f webhookFlags) with(c *console, work func(db *store.DB, row *ent.Webhook) error) error {
	id, err := uuid.Parse(f.ID)
	if err != nil {
		return config.Mistakes{"ID must be a UUID; see \"chairside webhook list\""}
	}
	return c.withDatabase(f.Database, func(db *store.DB) error {
		row, err := db.Ent.Webhook.Get(principal.AsSystem(c), id)
		if ent.IsNotFound(err) {
			return errors.New("no such webhook; see \"chairside webhook list\"")
		}
		if err != nil {
			return err
		}
		return work(db, row)
	})
}

// in returns a context for the webhook's practice.
func in(c *console, row *ent.Webhook) context.Context {
	return principal.With(c, &principal.Principal{PracticeID: row.PracticeID})
}

// deliverer sends and redelivers without a server.
func deliverer(c *console, db *store.DB, allowPrivate bool) *events.Deliverer {
	return events.New(events.Options{
		DB: db, Feed: feed.New(db), Reads: server.Reads(db), AllowPrivate: allowPrivate, Logger: slog.New(slog.NewTextHandler(c.err, nil)),
	})
}

type webhookUpdate struct {
	webhookFlags
	URL    string   `name:"url" placeholder:"URL" help:"New URL."`
	Events []string `name:"event" placeholder:"EVENT" help:"New events, in place of all old ones. Repeat the flag for each event."`
	Pause  bool     `xor:"active" help:"Stop deliveries. Events wait."`
	Resume bool     `xor:"active" help:"Continue deliveries where they stopped."`
}

// Validate refuses an update that changes nothing; the parser calls it.
func (w *webhookUpdate) Validate() error {
	if w.URL == "" && len(w.Events) == 0 && !w.Pause && !w.Resume {
		return errors.New("give --url, --event, --pause or --resume")
	}
	return nil
}

// Run changes the webhook.
func (w *webhookUpdate) Run(c *console) error {
	return w.with(c, func(db *store.DB, row *ent.Webhook) error {
		ctx, draft := in(c, row), events.Draft{URL: cmp.Or(w.URL, row.URL), Events: row.Events}
		if len(w.Events) > 0 {
			draft.Events = w.Events
		}
		return db.Tx(ctx, func(tx *ent.Client) error {
			if w.URL != "" || len(w.Events) > 0 {
				if err := events.Edit(ctx, tx, row, draft); err != nil {
					return asMistakes(err)
				}
			}
			switch {
			case w.Pause:
				return events.Pause(ctx, tx, row)
			case w.Resume:
				return events.Resume(ctx, tx, row)
			}
			return nil
		})
	})
}

type webhookDelete struct {
	webhookFlags
	confirmation
}

// Run deletes the webhook.
func (w *webhookDelete) Run(c *console) error {
	return w.with(c, func(db *store.DB, row *ent.Webhook) error {
		if err := w.confirm(c, "This deletes the webhook. Waiting events are discarded."); err != nil {
			return err
		}
		ctx := in(c, row)
		return db.Tx(ctx, func(tx *ent.Client) error { return tx.Webhook.DeleteOne(row).Exec(ctx) })
	})
}

type webhookRotate struct{ webhookFlags }

// Help is the text of --help.
func (webhookRotate) Help() string {
	return "Prints the new secret as JSON. For a day, webhook-signature also has a signature with the old secret; X-Chairside-Signature uses the new secret at once."
}

// Run replaces the secret and prints the new one.
func (w *webhookRotate) Run(c *console) error {
	return w.with(c, func(db *store.DB, row *ent.Webhook) error {
		ctx, created := in(c, row), createdWebhook{ID: row.ID.String()}
		err := db.Tx(ctx, func(tx *ent.Client) (err error) {
			created.Secret, err = events.Rotate(ctx, db.Keys, tx, row.ID)
			return err
		})
		if err != nil {
			return err
		}
		return printJSON(c.out, created)
	})
}

type webhookTest struct {
	webhookFlags
	config.WebhookNetwork
}

// Run sends the event webhook.test and prints the status of the response.
func (w *webhookTest) Run(c *console) error {
	return w.with(c, func(db *store.DB, row *ent.Webhook) error {
		result, err := deliverer(c, db, w.WebhookAllowPrivate).Test(c, row)
		switch {
		case err != nil:
			return err
		case result.Err == events.ErrForbiddenAddress.Error():
			return fmt.Errorf("not delivered: %s; --webhook-allow-private allows loopback and private ones", result.Err)
		case result.Status == 0:
			return fmt.Errorf("not delivered: %s", result.Err)
		case !result.OK():
			return fmt.Errorf("not delivered: the response has status %d", result.Status)
		}
		fmt.Fprintf(c.out, "delivered: the response has status %d, after %d ms\n", result.Status, result.Duration.Milliseconds())
		return nil
	})
}

type webhookDeliveries struct {
	webhookFlags
	listing
	Limit int `placeholder:"N" default:"20" help:"Maximum number of deliveries, newest first. Default: ${default}"`
}

// Run prints the last deliveries of the webhook, the newest first, one per line.
func (w *webhookDeliveries) Run(c *console) error {
	return w.with(c, func(db *store.DB, row *ent.Webhook) error {
		ctx := in(c, row)
		rows, err := db.Ent.WebhookDelivery.Query().Where(webhookdelivery.WebhookID(row.ID)).Order(ent.Desc(webhookdelivery.FieldID)).Limit(max(w.Limit, 1)).All(ctx)
		if err != nil {
			return err
		}
		var cells [][]any
		for _, d := range rows {
			last, err := db.Ent.WebhookAttempt.Query().Where(webhookattempt.DeliveryID(d.ID)).Order(ent.Desc(webhookattempt.FieldID)).First(ctx)
			if err != nil && !ent.IsNotFound(err) {
				return err
			}
			response := "-"
			switch {
			case last != nil && last.Status == 0:
				response = last.Error
			case last != nil:
				response = strconv.Itoa(last.Status)
			}
			record := d.RecordID
			if d.Resource == "" { // a test
				record = "-"
			}
			state := "waiting"
			switch {
			case d.Succeeded:
				state = "delivered"
			case d.SettledAt != nil:
				state = "failed"
			}
			var next any
			if at := events.NextAttempt(row, d); at != nil {
				next = at
			}
			cells = append(cells, []any{d.ID, d.Event, record, &d.ChangedAt, state, d.Attempt, next, response})
		}
		return w.print(c, []string{"ID", "EVENT", "RECORD", "CHANGED", "STATE", "ATTEMPTS", "NEXT ATTEMPT", "LAST RESPONSE"}, cells)
	})
}

// deliveryFlags name one delivery of a webhook.
type deliveryFlags struct {
	webhookFlags
	Delivery int64 `arg:"" help:"The delivery's id; see \"chairside webhook deliveries\"."`
}

// with finds the delivery and runs work on it.
func (f deliveryFlags) with(c *console, work func(ctx context.Context, db *store.DB, row *ent.Webhook, found *ent.WebhookDelivery) error) error {
	return f.webhookFlags.with(c, func(db *store.DB, row *ent.Webhook) error {
		ctx := in(c, row)
		found, err := db.Ent.WebhookDelivery.Query().Where(webhookdelivery.ID(f.Delivery), webhookdelivery.WebhookID(row.ID)).Only(ctx)
		if ent.IsNotFound(err) {
			return errors.New("no such delivery; see \"chairside webhook deliveries\"")
		}
		if err != nil {
			return err
		}
		return work(ctx, db, row, found)
	})
}

type webhookRetry struct{ deliveryFlags }

// Help is the text of --help.
func (webhookRetry) Help() string {
	return "A running server makes the next attempt now, and delivers the later events of the record if it succeeds. The event must wait for its next attempt, and the webhook must be active."
}

// Run ends the pause before the next attempt.
func (w *webhookRetry) Run(c *console) error {
	return w.with(c, func(ctx context.Context, db *store.DB, row *ent.Webhook, found *ent.WebhookDelivery) error {
		switch {
		case found.SettledAt != nil:
			return errors.New("the event does not wait: \"chairside webhook redeliver\" sends it once more")
		case !row.Active:
			return errors.New("the event waits for its webhook: \"chairside webhook update --resume\" continues deliveries")
		}
		return deliverer(c, db, false).Retry(ctx, row, found)
	})
}

type webhookRedeliver struct{ deliveryFlags }

// Help is the text of --help.
func (webhookRedeliver) Help() string {
	return "A running server sends the event once more, with its id and the record as it is then. The event must have been delivered or given up."
}

// Run hands the event to a running server once more.
func (w *webhookRedeliver) Run(c *console) error {
	return w.with(c, func(ctx context.Context, db *store.DB, row *ent.Webhook, found *ent.WebhookDelivery) error {
		if found.SettledAt == nil {
			return errors.New("the event waits to be delivered: \"chairside webhook retry\" makes its next attempt now")
		}
		if err := deliverer(c, db, false).Redeliver(ctx, row, found); err != nil {
			return err
		}
		if !row.Active {
			fmt.Fprintln(c.err, "The event will be delivered again when the webhook is resumed.")
		}
		return nil
	})
}
