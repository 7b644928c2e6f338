package webhook

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"chairside/ent"
	"chairside/ent/webhook"
	"chairside/ent/webhookattempt"
	"chairside/internal/audit/trail"
	"chairside/internal/seal"
)

// switchOff is the number of failures in a row after which a webhook is switched off.
const switchOff = 50

// maxHold is the longest time that a webhook is held.
const maxHold = 10 * time.Minute

// holdAfter returns how long nothing is sent to a webhook after a number of failures in a row.
// Each failure doubles the time: otherwise a short outage of a busy receiver would switch its
// webhook off.
func (d *Deliverer) holdAfter(failures int) time.Duration {
	return min(d.hold<<min(max(0, failures-1), 16), maxHold)
}

// disabledReason is the disabled_reason of a webhook that failures switched off.
var disabledReason = fmt.Sprintf("%d attempts in a row failed", switchOff)

// sendOperation is the operation of the events of the audit log about records that were sent.
const sendOperation = "sendWebhook"

// attempt sends a delivery and records the outcome.
func (d *Deliverer) attempt(ctx context.Context, x delivery) (a outcome, err error) {
	leased, cancel := context.WithDeadline(ctx, x.until)
	defer cancel()
	reading, done := context.WithTimeout(leased, d.lease/2)
	defer done()
	c, err := d.content(reading, x)
	secrets, closed := d.secrets(x)
	if err = errors.Join(err, closed); err != nil { // no failure of the receiver
		d.logger.Warn("cannot read the record of a webhook's event; it is sent later", "error", err, "webhook_id", x.webhook.String(), "event_id", x.eventID)
		a.err = "Chairside could not read the record."
		return a, d.postpone(ctx, x)
	}
	at := now()
	if x.until.Sub(at) < d.client.Timeout { // another process could send it at the same time
		a.err = "Chairside had no time to send it."
		return a, d.postpone(ctx, x)
	}
	headers := Sign(x.eventID, at, c.body, secrets...)
	headers["Content-Type"], headers["User-Agent"] = "application/json", UserAgent
	a = send(leased, d.client, x.url, headers, c.body, func() {
		if c.read.Empty() {
			return
		}
		d.logger.LogAttrs(ctx, slog.LevelInfo, "patient data sent", slog.String("practice_id", x.practice.String()),
			slog.String("webhook_id", x.webhook.String()), slog.String("event_id", x.eventID), slog.Any("records", c.read))
		// One event a second for each webhook, like the reads of a token.
		d.trail.Read(trail.Entry{Who: trail.Who{Practice: x.practice}, At: at, Operation: sendOperation, Record: x.webhook.String(), Request: x.eventID}, c.read)
	})
	return a, d.settle(ctx, x, at, headers, c, a)
}

// secrets returns the secrets that sign a delivery.
func (d *Deliverer) secrets(x delivery) (secrets []string, err error) {
	current, err := d.db.Keys.Open(seal.Place{Practice: x.practice, Table: webhook.Table, Column: webhook.FieldSecret, Row: x.webhook.String()}, x.secret)
	if err != nil {
		return nil, err
	}
	previous, err := d.db.Keys.Open(seal.Place{Practice: x.practice, Table: webhook.Table, Column: webhook.FieldPreviousSecret, Row: x.webhook.String()}, x.previous)
	if secrets = append(secrets, current); previous != "" {
		secrets = append(secrets, previous)
	}
	return secrets, err
}

// postpone makes a delivery due again, as if it had not been claimed: after the first pause, or
// a tenth of the time since the change if that is longer, up to maxHold.
func (d *Deliverer) postpone(ctx context.Context, x delivery) error {
	// It is released though the server ends.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
	defer cancel()
	end := now()
	pause := max(d.backOff[0], min(end.Sub(x.changedAt)/10, maxHold))
	if x.changedAt.IsZero() { // it could not be read itself
		pause = d.backOff[0]
	}
	_, err := d.db.SQL.ExecContext(ctx, `UPDATE webhook_deliveries SET attempt = attempt - 1, due_at = $1, leased_until = $2
		WHERE id = $3 AND attempt = $4 AND settled_at IS NULL`, end.Add(pause), end, x.id, x.number)
	if err != nil {
		return fmt.Errorf("webhook: postpone a delivery: %w", err)
	}
	return nil
}

// settle records an attempt, unless the lease has ended and another process has taken the
// delivery since.
func (d *Deliverer) settle(ctx context.Context, x delivery, at time.Time, headers map[string]string, c content, a outcome) error {
	ctx, cancel := context.WithTimeout(ctx, writeTime)
	defer cancel()
	shown, err := json.Marshal(headers)
	if err != nil {
		return err
	}
	end := now()
	settled, next := sql.NullTime{Time: end, Valid: true}, end
	if !a.ok() && x.event != testEvent && x.number <= len(d.backOff) {
		settled.Valid, next = false, end.Add(d.backOff[x.number-1])
	}
	var off bool
	err = d.transaction(ctx, func(tx *sql.Tx) error {
		if n, err := affected(tx.ExecContext(ctx, `UPDATE webhook_deliveries SET settled_at = $1, succeeded = $2, due_at = $3, leased_until = $4
			WHERE id = $5 AND attempt = $6 AND settled_at IS NULL`, settled, a.ok(), next, end, x.id, x.number)); err != nil || n == 0 {
			return err
		}
		id, body, response, err := d.seal(ctx, tx, x, c, a)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO webhook_attempts (id, practice_id, delivery_id, at, headers, body, records, status, error, response, duration_ms)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
			id, x.practice, x.id, at, string(shown), body, c.records, a.status, a.err, response, a.duration.Milliseconds()); err != nil {
			return err
		}
		if a.ok() {
			_, err := tx.ExecContext(ctx, "UPDATE webhooks SET successful_deliveries = successful_deliveries + 1, failures_in_row = 0, held_until = NULL, last_delivered_at = $1 WHERE id = $2", end, x.webhook)
			return err
		}
		if x.event == testEvent {
			_, err := tx.ExecContext(ctx, "UPDATE webhooks SET failed_deliveries = failed_deliveries + 1 WHERE id = $1", x.webhook)
			return err
		}
		// Later events of the record are not looked at before their turn can come.
		if _, err := tx.ExecContext(ctx, `UPDATE webhook_deliveries SET due_at = $1
			WHERE webhook_id = $2 AND resource = $3 AND record_id = $4 AND settled_at IS NULL AND id > $5 AND due_at < $1`,
			next, x.webhook, x.resource, x.record, x.id); err != nil {
			return err
		}
		// Attempts of all processes that began before the webhook was held are one failure.
		var inRow int
		err = tx.QueryRowContext(ctx, `UPDATE webhooks SET failed_deliveries = failed_deliveries + 1,
			failures_in_row = failures_in_row + CASE WHEN held_until IS NULL OR held_until <= $2 THEN 1 ELSE 0 END
			WHERE id = $1 RETURNING failures_in_row`, x.webhook, at).Scan(&inRow)
		if errors.Is(err, sql.ErrNoRows) { // deleted
			return nil
		}
		if err != nil {
			return err
		}
		if inRow < switchOff {
			_, err := tx.ExecContext(ctx, "UPDATE webhooks SET held_until = $1 WHERE id = $2", end.Add(d.holdAfter(inRow)), x.webhook)
			return err
		}
		n, err := affected(tx.ExecContext(ctx, `UPDATE webhooks SET active = false, held_until = NULL, disabled_at = $1, disabled_reason = $2, updated_at = $1
			WHERE id = $3 AND active`, end, disabledReason, x.webhook))
		if off = n > 0; !off || err != nil {
			return err
		}
		return trail.WriteIn(ctx, d.db, tx, trail.Entry{
			Who: trail.Who{Practice: x.practice}, At: end, Action: "update", Resource: ent.TypeWebhook, Record: x.webhook.String(), Operation: sendOperation,
			Details: map[string]any{"new": map[string]any{"active": false, "disabled_reason": disabledReason}},
		})
	})
	if err != nil {
		return fmt.Errorf("webhook: record an attempt: %w", err)
	}
	if off {
		d.logger.Warn("a webhook is switched off: "+disabledReason, slog.String("practice_id", x.practice.String()), slog.String("webhook_id", x.webhook.String()))
	}
	return nil
}

// seal returns the id of a new attempt, and its request's and response's bodies, sealed for its row:
// they are copies of records.
func (d *Deliverer) seal(ctx context.Context, tx *sql.Tx, x delivery, c content, a outcome) (id int64, body, response seal.Value, err error) {
	if id, err = d.db.NextID(ctx, tx, webhookattempt.Table); err != nil {
		return 0, body, response, err
	}
	at := seal.Place{Practice: x.practice, Table: webhookattempt.Table, Column: webhookattempt.FieldBody, Row: strconv.FormatInt(id, 10)}
	if body, err = d.db.Keys.Seal(at, string(c.body)); err != nil || a.text == "" {
		return id, body, response, err
	}
	at.Column = webhookattempt.FieldResponse
	response, err = d.db.Keys.Seal(at, a.text)
	return id, body, response, err
}

// affected returns the number of rows that a statement changed.
func affected(result sql.Result, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}
