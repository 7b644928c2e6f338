package idempotency

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"chairside/ent"
	"chairside/ent/idempotencykey"
	"chairside/internal/clock"
	"chairside/internal/principal"
	"chairside/internal/store"
)

const (
	// PruneEvery is how often expired responses are deleted.
	PruneEvery = time.Minute
	// pruneBatch is the most rows of one transaction, so that writes do not wait long.
	pruneBatch = 5_000
	// pruneTime bounds one transaction.
	pruneTime = time.Minute
)

// Prune deletes at most 5,000 expired responses and returns their number. While another
// process does so, it deletes none.
func Prune(ctx context.Context, db *store.DB) (n int, err error) {
	ctx, cancel := context.WithTimeout(clock.Refresh(principal.AsSystem(ctx)), pruneTime)
	defer cancel()
	err = db.TxOnce(ctx, store.LockOf("idempotency prune"), func(tx *ent.Client) error {
		ids, err := tx.IdempotencyKey.Query().Where(idempotencykey.CreatedAtLTE(clock.Now(ctx).Add(-Retention))).
			Order(idempotencykey.ByCreatedAt()).Limit(pruneBatch).IDs(ctx)
		if err != nil || len(ids) == 0 {
			return err
		}
		n, err = tx.IdempotencyKey.Delete().Where(idempotencykey.IDIn(ids...)).Exec(ctx)
		return err
	})
	if errors.Is(err, store.ErrLocked) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("idempotency: delete expired responses: %w", err)
	}
	return n, nil
}

// KeepPruning deletes expired responses every minute until ctx ends. Any number of processes
// may run it. It calls ran after each run, logs errors and continues.
func KeepPruning(ctx context.Context, db *store.DB, logger *slog.Logger, ran func(error)) {
	tick := time.NewTicker(PruneEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for {
			n, err := Prune(ctx, db)
			if err != nil && ctx.Err() == nil {
				logger.Warn("cannot delete expired idempotency keys", "error", err)
			}
			if err != nil || n < pruneBatch {
				ran(err)
				break
			}
		}
	}
}
