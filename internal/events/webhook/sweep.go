package webhook

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// SweepEvery is how often old entries of the log are deleted, sweepPause when the next try follows a failure.
const (
	SweepEvery = time.Hour
	sweepPause = time.Minute
)

// sweepBatch is how many are deleted at once.
const sweepBatch = 1000

// RetentionDays is for how many days the log is kept.
func (d *Deliverer) RetentionDays() int { return int(d.retention / (24 * time.Hour)) }

// sweepUntil sweeps now and every hour, after an error a minute later, until ctx ends.
func (d *Deliverer) sweepUntil(ctx context.Context, swept func(error)) {
	for {
		pause, err := SweepEvery, d.sweep(ctx)
		if swept(err); err != nil {
			pause = sweepPause
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// sweep deletes old entries of the log, everything of deleted webhooks, and old secrets. Events
// that have waited for so long since they were last due are dropped: the feed no longer has them
// either. An event that was redelivered is due from then, however old its change.
func (d *Deliverer) sweep(ctx context.Context) error {
	before := now().Add(-d.retention)
	_, secrets := d.db.SQL.ExecContext(ctx, "UPDATE webhooks SET previous_secret = NULL, previous_until = NULL WHERE previous_until < $1", now())
	err := errors.Join(
		secrets,
		d.sweepWhere(ctx, "webhook_attempts", "at < $1", before),
		d.sweepWhere(ctx, "webhook_deliveries", "settled_at < $1", before),
		d.sweepWhere(ctx, "webhook_deliveries", "settled_at IS NULL AND due_at < $1", before),
		d.sweepWhere(ctx, "webhook_deliveries", "NOT EXISTS (SELECT * FROM webhooks AS w WHERE w.id = webhook_deliveries.webhook_id)"),
		d.sweepWhere(ctx, "webhook_attempts", "NOT EXISTS (SELECT * FROM webhook_deliveries AS d WHERE d.id = webhook_attempts.delivery_id)"),
	)
	if err != nil && ctx.Err() == nil {
		d.logger.Warn("cannot delete old entries of the webhooks' logs", "error", err)
	}
	return err
}

func (d *Deliverer) sweepWhere(ctx context.Context, table, condition string, args ...any) error {
	statement := fmt.Sprintf("DELETE FROM %[1]s WHERE id IN (SELECT id FROM %[1]s WHERE %[2]s ORDER BY id LIMIT %[3]d)", table, condition, sweepBatch)
	for {
		n, err := affected(d.db.SQL.ExecContext(ctx, statement, args...))
		if err != nil {
			return fmt.Errorf("webhook: delete old entries of the log: %w", err)
		}
		if n < sweepBatch {
			return nil
		}
	}
}
