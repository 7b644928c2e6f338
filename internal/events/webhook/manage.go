package webhook

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/webhook"
	"chairside/ent/webhookdelivery"
	"chairside/internal/apierror"
	"chairside/internal/audit"
	"chairside/internal/audit/trail"
	"chairside/internal/principal"
	"chairside/internal/seal"
	"chairside/internal/store"
)

// maxURL is the longest address, in characters.
const maxURL = 2000

// Draft is what an administrator chooses about a webhook.
type Draft struct {
	URL    string
	Events []string
}

// check returns apierror.ValidationFailed with all problems of the draft.
func (w Draft) check() error {
	problems := apierror.Params{}
	if w.URL == "" {
		problems.Add("url", "can't be blank")
	} else if message := CheckURL(w.URL); message != "" {
		problems.Add("url", message)
	}
	if message := CheckEvents(w.Events); message != "" {
		problems.Add("events", message)
	}
	if len(problems) > 0 {
		return apierror.ValidationFailed(problems)
	}
	return nil
}

// Create creates a webhook of the caller's practice that follows the change feed from the
// cursor, and returns its secret, which is not shown again.
func Create(ctx context.Context, tx *ent.Client, cursor string, draft Draft) (w *ent.Webhook, secret string, err error) {
	if err := draft.check(); err != nil {
		return nil, "", err
	}
	secret = NewSecret()
	w, err = tx.Webhook.Create().SetURL(draft.URL).SetEvents(draft.Events).SetSecret(seal.Plain(secret)).SetFeedCursor(cursor).Save(ctx)
	return w, secret, err
}

// Edit changes the address and the events of a webhook.
func Edit(ctx context.Context, tx *ent.Client, w *ent.Webhook, draft Draft) error {
	if err := draft.check(); err != nil {
		return err
	}
	return tx.Webhook.UpdateOne(w).SetURL(draft.URL).SetEvents(draft.Events).Exec(ctx)
}

// Pause stops the deliveries of a webhook. Its events wait.
func Pause(ctx context.Context, tx *ent.Client, w *ent.Webhook) error {
	return tx.Webhook.UpdateOne(w).SetActive(false).Exec(ctx)
}

// Resume starts the deliveries of a webhook again, from where they stopped.
func Resume(ctx context.Context, tx *ent.Client, w *ent.Webhook) error {
	u := tx.Webhook.UpdateOne(w).SetActive(true)
	Resumed(u.Mutation())
	if err := u.Exec(ctx); err != nil {
		return err
	}
	return Hasten(ctx, tx, w.ID)
}

// Resumed clears, in a mutation that activates a webhook, its failures and why it was disabled.
func Resumed(m *ent.WebhookMutation) {
	m.SetFailuresInRow(0)
	m.ClearHeldUntil()
	m.ClearDisabledAt()
	m.ClearDisabledReason()
}

// Hasten makes everything due that waits for another attempt.
func Hasten(ctx context.Context, tx *ent.Client, id uuid.UUID) error {
	return tx.WebhookDelivery.Update().Where(webhookdelivery.WebhookID(id), webhookdelivery.SettledAtIsNil(), webhookdelivery.DueAtGT(now())).SetDueAt(now()).Exec(ctx)
}

// Rotate gives a webhook a new secret and returns it. For a day, the old one signs too. It locks
// the webhook, so that of two rotations at once the later one keeps the secret of the first.
func Rotate(ctx context.Context, keys *seal.Keys, tx *ent.Client, id uuid.UUID) (secret string, err error) {
	w, err := tx.Webhook.Query().Where(webhook.ID(id), store.ForUpdate).Only(ctx)
	if err != nil {
		return "", err
	}
	old, err := w.OpenSecret(keys)
	if err != nil {
		return "", fmt.Errorf("webhook: open the secret: %w", err)
	}
	secret = NewSecret()
	return secret, tx.Webhook.UpdateOne(w).SetSecret(seal.Plain(secret)).SetPreviousSecret(seal.Plain(old)).SetPreviousUntil(now().Add(rotationOverlap)).Exec(ctx)
}

// Result is the outcome of a test.
type Result struct {
	Delivery int64  // id of its entry in the log
	Status   int    // of the response; 0 without one
	Err      string // why there is no response
	Duration time.Duration
}

// OK reports whether the receiver accepted the event.
func (r Result) OK() bool { return Accepted(r.Status) }

// Test sends the event webhook.test once and waits for the response. It also works for a webhook
// that is switched off.
func (d *Deliverer) Test(ctx context.Context, w *ent.Webhook) (r Result, err error) {
	// The attempt may outlast the request that asks for it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), d.lease)
	defer cancel()
	event := "evt_" + uuid.NewString()
	at := now()
	until := at.Add(d.lease)
	var id int64
	err = d.transaction(ctx, func(tx *sql.Tx) error {
		// It is leased from the start, so no other process sends it.
		return tx.QueryRowContext(ctx, `INSERT INTO webhook_deliveries
			(practice_id, webhook_id, event_id, event, resource, record_id, changed_at, due_at, leased_until, attempt, succeeded)
			VALUES ($1, $2, $3, $4, '', $3, $5, $5, $6, 1, false) RETURNING id`,
			w.PracticeID, w.ID, event, testEvent, at, until).Scan(&id)
	})
	if err != nil {
		return r, fmt.Errorf("webhook: store the test: %w", err)
	}
	x, err := d.read(ctx, id)
	if err != nil {
		return r, err
	}
	x.number, x.until = 1, until
	a, err := d.attempt(ctx, x)
	return Result{id, a.status, a.err, a.duration}, err
}

// ErrNotRedelivered refuses to deliver an event again.
var ErrNotRedelivered = errors.New("only an event that was delivered or has failed, and that the webhook still receives, can be delivered again")

// CanRedeliver reports whether Redeliver takes a delivery: no test, none that still waits, and
// none that the webhook does not want anymore, because it would be dropped.
func CanRedeliver(w *ent.Webhook, x *ent.WebhookDelivery) bool {
	return x.SettledAt != nil && x.Event != testEvent && stillWanted(w, x)
}

// stillWanted reports whether a webhook receives the event of a delivery: others are dropped.
func stillWanted(w *ent.Webhook, x *ent.WebhookDelivery) bool {
	return delivery{event: x.Event, resource: x.Resource, events: w.Events}.wanted()
}

// NextAttempt returns when a delivery that has failed is tried again: when its pause and that of its webhook are over. It
// returns nil if it is settled, was not tried yet, or waits until its webhook is resumed.
func NextAttempt(w *ent.Webhook, x *ent.WebhookDelivery) *time.Time {
	switch {
	case x.SettledAt != nil || x.Attempt == 0 || !w.Active:
		return nil
	case w.HeldUntil != nil && w.HeldUntil.After(x.DueAt):
		return w.HeldUntil
	}
	return &x.DueAt
}

// ErrNotRetried refuses to make the next attempt of an event now.
var ErrNotRetried = errors.New("only an event that failed and waits for its next attempt, of a webhook that is active and still receives it, can be sent now")

// CanRetry reports whether Retry takes a delivery: one that waits for its next attempt, of a webhook that is active and
// still receives it.
func CanRetry(w *ent.Webhook, x *ent.WebhookDelivery) bool {
	at := now()
	next := NextAttempt(w, x)
	return next != nil && next.After(at) && !x.LeasedUntil.After(at) && stillWanted(w, x)
}

// Retry ends the pause of a delivery and of its webhook: the next attempt is made now, and if it succeeds, the later events of
// the record follow. It returns ErrNotRetried unless CanRetry.
func (d *Deliverer) Retry(ctx context.Context, w *ent.Webhook, x *ent.WebhookDelivery) error {
	if !CanRetry(w, x) {
		return ErrNotRetried
	}
	return d.transaction(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `UPDATE webhook_deliveries SET due_at = $1
			WHERE webhook_id = $2 AND resource = $3 AND record_id = $4 AND settled_at IS NULL AND due_at > $1`, now(), w.ID, x.Resource, x.RecordID); err != nil {
			return fmt.Errorf("webhook: end the pause of a delivery: %w", err)
		}
		if _, err := tx.ExecContext(ctx, "UPDATE webhooks SET held_until = NULL WHERE id = $1", w.ID); err != nil {
			return fmt.Errorf("webhook: end the pause of a webhook: %w", err)
		}
		return d.sentAgain(ctx, tx, x, "retry")
	})
}

// Redeliver sends an event of a webhook again, with its id, after the waiting events of its
// record: if the webhook is paused, once it is resumed. It returns ErrNotRedelivered unless
// CanRedeliver.
func (d *Deliverer) Redeliver(ctx context.Context, w *ent.Webhook, x *ent.WebhookDelivery) error {
	if !CanRedeliver(w, x) {
		return ErrNotRedelivered
	}
	return d.transaction(ctx, func(tx *sql.Tx) error {
		err := insert(ctx, tx, delivery{
			practice: x.PracticeID, webhook: x.WebhookID, eventID: x.EventID, event: x.Event, resource: x.Resource, record: x.RecordID, user: x.UserID, changedAt: x.ChangedAt,
		})
		if err != nil {
			return err
		}
		return d.sentAgain(ctx, tx, x, "redeliver")
	})
}

// sentAgain writes to the audit log who has an event sent again.
func (d *Deliverer) sentAgain(ctx context.Context, tx *sql.Tx, x *ent.WebhookDelivery, how string) error {
	e := trail.Entry{
		Who: trail.Caller(ctx, principal.Actor(ctx)), At: now(), Action: "update", Resource: ent.TypeWebhookDelivery, Record: strconv.FormatInt(x.ID, 10),
		Details: map[string]any{"command": how, "webhook_id": x.WebhookID.String(), "event_id": x.EventID, "resource": x.Resource, "record_id": x.RecordID},
	}
	e.Practice = x.PracticeID
	if log := audit.From(ctx); log != nil {
		e.Request, e.Operation = log.RequestID, log.Operation
	}
	if err := trail.WriteIn(ctx, d.db, tx, e); err != nil {
		return fmt.Errorf("webhook: write the audit log: %w", err)
	}
	return nil
}
