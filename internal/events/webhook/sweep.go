package webhook

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// sweepEvery is how often old entries of the log are deleted, sweepBatch how many at once.
const sweepEvery, sweepBatch = time.Hour, 1000

// sweep deletes old entries of the log, everything of deleted webhooks, and old secrets. Events
// that have waited for so long are dropped: the feed no longer has them either.
func (d *Deliverer) sweep(ctx context.Context) {
	before := now().Add(-d.retention)
	err := errors.Join(
		d.sweepWhere(ctx, "webhook_attempts", "at < $1", before),
		d.sweepWhere(ctx, "webhook_deliveries", "settled_at < $1 OR settled_at IS NULL AND changed_at < $1", before),
		d.sweepWhere(ctx, "webhook_deliveries", "webhook_id NOT IN (SELECT id FROM webhooks)"),
		d.sweepWhere(ctx, "webhook_attempts", "delivery_id NOT IN (SELECT id FROM webhook_deliveries)"),
	)
	if err == nil {
		_, err = d.db.SQL.ExecContext(ctx, "UPDATE webhooks SET previous_secret = NULL, previous_until = NULL WHERE previous_until < $1", now())
	}
	if err != nil && ctx.Err() == nil {
		d.logger.Warn("cannot delete old entries of the webhooks' logs", "error", err)
	}
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
