package counters

import (
	"context"
	"fmt"
	"log/slog"
	"time"
)

const (
	// compactEvery is how often changes are compacted: a reader of a counter adds up
	// the changes of about that time.
	compactEvery = time.Second
	// compactTime bounds one compacting statement, even if its connection is lost.
	compactTime = time.Minute
	// compactBatch is the most changes of one statement.
	compactBatch = 10_000
	// vacuumAfter is the number of compacted changes after which dead rows are removed,
	// whatever autovacuum does: every reader steps over them.
	vacuumAfter = 20_000
)

// compact is one statement, so an interruption undoes all of it. The advisory lock keeps
// processes from waiting for each other; the result would be right without it, because
// whoever deletes a change adds it.
const compact = `
	WITH mine AS MATERIALIZED (
		SELECT pg_try_advisory_xact_lock(hashtext('chairside compact counters')) AS locked
	), gone AS (
		DELETE FROM counter_changes
		WHERE ctid = ANY (ARRAY(SELECT ctid FROM counter_changes WHERE (SELECT locked FROM mine) LIMIT $1))
		RETURNING counter, practice_id, key, n
	), compacted AS (
		INSERT INTO counters (counter, practice_id, key, n)
		SELECT counter, practice_id, key, sum(n) FROM gone GROUP BY 1, 2, 3 HAVING sum(n) <> 0
		ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = counters.n + excluded.n
	)
	SELECT count(*) FROM gone`

// Compact adds noted changes to the counters, at most 10,000, and returns how many there
// were. It changes no count, because readers add up both. On SQLite, where the triggers
// write the counters themselves, it does nothing.
func (c *Counters) Compact(ctx context.Context) (int, error) {
	if !c.postgres() {
		return 0, nil
	}
	ctx, cancel := context.WithTimeout(ctx, compactTime)
	defer cancel()
	var compacted int
	if err := c.pool.QueryRowContext(ctx, compact, compactBatch).Scan(&compacted); err != nil {
		return 0, fmt.Errorf("store: compact counters: %w", err)
	}
	return compacted, nil
}

// KeepCompacting compacts every second until ctx ends. Any number of processes may call
// it: one of them works at a time. It logs errors and tries again.
func (c *Counters) KeepCompacting(ctx context.Context, logger *slog.Logger) {
	if !c.postgres() {
		return
	}
	tick := time.NewTicker(compactEvery)
	defer tick.Stop()
	for dead := 0; ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := c.compactAll(ctx, &dead)
		if err == nil && dead >= vacuumAfter {
			dead = 0
			if _, err = c.pool.ExecContext(ctx, "VACUUM (TRUNCATE FALSE) "+ChangesTable+", "+Table); err != nil {
				err = fmt.Errorf("store: vacuum counters: %w", err)
			}
		}
		if err != nil && ctx.Err() == nil {
			logger.Warn("counters were not compacted or vacuumed, which slows lists down", "error", err)
		}
	}
}

// compactAll compacts until nothing is left, and adds the number of changes to compacted.
func (c *Counters) compactAll(ctx context.Context, compacted *int) error {
	for {
		n, err := c.Compact(ctx)
		*compacted += n
		if err != nil || n < compactBatch {
			return err
		}
	}
}
