package counters

import (
	"context"
	"fmt"
	"log/slog"
	"time"
)

const (
	// CompactEvery is how often changes are compacted. Reading a counter adds up the changes
	// that have collected since.
	CompactEvery = time.Second
	// compactTime bounds one compacting statement, even if its connection is lost.
	compactTime = time.Minute
	// compactBatch is the most changes of one statement.
	compactBatch = 10_000
	// vacuumAfter is the number of compacted changes after which the tables are vacuumed,
	// because every reader has to skip dead rows. Autovacuum would come too late.
	vacuumAfter = 20_000
)

// compact moves changes into the counters. It is one statement, so an interruption undoes all
// of it. The advisory lock only keeps processes from waiting for each other: whichever process
// deletes a change also adds it, so the result is right without the lock.
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

// Compact moves at most 10,000 pending changes into the counters and returns their number. No
// count changes, because readers add up counters and pending changes. On SQLite, where the
// triggers write the counters directly, it does nothing.
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

// maxWaiting is the most changes that Waiting counts.
const maxWaiting = 1_000_000

// Waiting returns the number of changes that are not compacted yet, at most a million. On SQLite
// none wait.
func (c *Counters) Waiting(ctx context.Context) (n int, err error) {
	if !c.postgres() {
		return 0, nil
	}
	err = c.pool.QueryRowContext(ctx, "SELECT count(*) FROM (SELECT 1 FROM "+ChangesTable+" LIMIT $1) AS waiting", maxWaiting).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("store: count changes of counters: %w", err)
	}
	return n, nil
}

// KeepCompacting compacts every second until ctx ends. Any number of processes may run it; they
// take turns. It calls ran after each run, logs errors and continues.
func (c *Counters) KeepCompacting(ctx context.Context, logger *slog.Logger, ran func(error)) {
	if !c.postgres() {
		return
	}
	tick := time.NewTicker(CompactEvery)
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
		ran(err)
		if err != nil && ctx.Err() == nil {
			logger.Warn("cannot compact or vacuum counters, which slows lists down", "error", err)
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
