package feedlog

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"entgo.io/ent/dialect"
)

const (
	// sequenceBatch is the most changes that one run numbers.
	sequenceBatch = 10_000
	// sequenceTime bounds one run, even if its connection is lost.
	sequenceTime = 20 * time.Second
	// sweepBatch is the most changes that one transaction deletes.
	sweepBatch = 5_000
)

// pending asks whether there are changes to number. A standby gets their numbers from its primary.
const pending = "SELECT NOT pg_is_in_recovery() AND EXISTS (SELECT * FROM " + changesTable + " WHERE seq IS NULL)"

// number numbers changes in one round trip and one transaction. Its first statement waits for
// the lock; only the snapshot of the second one sees everything that the last holder numbered.
var number = fmt.Sprintf(`
	SELECT pg_advisory_xact_lock(hashtext('chairside number feed changes'));
	WITH numbered AS MATERIALIZED (
		SELECT id, row_number() OVER (ORDER BY id) AS n FROM %[1]s WHERE seq IS NULL ORDER BY id LIMIT %[3]d
	), state AS (
		UPDATE %[2]s SET last_seq = last_seq + (SELECT count(*) FROM numbered) WHERE EXISTS (SELECT * FROM numbered)
		RETURNING last_seq - (SELECT count(*) FROM numbered) AS last
	)
	UPDATE %[1]s AS c SET seq = state.last + numbered.n FROM numbered, state WHERE c.id = numbered.id`, changesTable, stateTable, sequenceBatch)

// Sequence gives every committed change a seq. On SQLite, where the triggers do so, it does
// nothing. Any number of processes may run it.
func Sequence(ctx context.Context, pool *sql.DB, dialectName string) error {
	ctx, cancel := context.WithTimeout(ctx, sequenceTime)
	defer cancel()
	for more := true; more; {
		var err error
		if more, err = SequenceSome(ctx, pool, dialectName); err != nil {
			return err
		}
	}
	return nil
}

// SequenceSome is Sequence for the oldest 10,000 changes, which are all there are unless one transaction has just
// committed many, such as the import of a practice. more is whether others may be left.
func SequenceSome(ctx context.Context, pool *sql.DB, dialectName string) (more bool, err error) {
	if dialectName != dialect.Postgres {
		return false, nil
	}
	var some bool
	if err := pool.QueryRowContext(ctx, pending).Scan(&some); err != nil || !some {
		return false, wrap(err)
	}
	result, err := pool.ExecContext(ctx, number)
	if err != nil {
		return false, wrap(err)
	}
	n, err := result.RowsAffected()
	return n == sequenceBatch, wrap(err)
}

// Unnumbered returns the time of the oldest committed change without a seq, or the zero time.
func Unnumbered(ctx context.Context, pool *sql.DB, dialectName string) (at time.Time, err error) {
	if dialectName != dialect.Postgres {
		return at, nil
	}
	err = pool.QueryRowContext(ctx, "WITH unnumbered AS MATERIALIZED (SELECT id, at FROM "+changesTable+" WHERE seq IS NULL) SELECT at FROM unnumbered ORDER BY id LIMIT 1").Scan(&at)
	if errors.Is(err, sql.ErrNoRows) {
		return at, nil
	}
	return at, wrap(err)
}

func wrap(err error) error {
	if err != nil {
		return fmt.Errorf("store: number feed changes: %w", err)
	}
	return nil
}

// Sweep deletes changes of that age, in pieces. Cursors from before them expire.
func Sweep(ctx context.Context, pool *sql.DB, age time.Duration) error {
	before := time.Now().Add(-age)
	for {
		n, err := sweep(ctx, pool, before)
		if err != nil {
			return fmt.Errorf("store: sweep the change feed: %w", err)
		}
		if n < sweepBatch {
			return nil
		}
	}
}

// sweep deletes one piece. The update comes first: its lock makes sweepers take turns.
func sweep(ctx context.Context, pool *sql.DB, before time.Time) (deleted int64, err error) {
	tx, err := pool.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback() // after a commit it does nothing
	old := fmt.Sprintf("(SELECT * FROM (SELECT id, seq, at FROM %s ORDER BY id LIMIT %d) AS first WHERE at < $1 AND seq IS NOT NULL) AS old", changesTable, sweepBatch)
	for _, statement := range []string{
		"UPDATE " + stateTable + " SET swept_seq = coalesce((SELECT max(seq) FROM (SELECT seq FROM " + old + " UNION ALL SELECT swept_seq) AS swept), swept_seq)",
		"DELETE FROM " + changesTable + " WHERE id IN (SELECT id FROM " + old + ")",
	} {
		result, err := tx.ExecContext(ctx, statement, before)
		if err != nil {
			return 0, err
		}
		if deleted, err = result.RowsAffected(); err != nil {
			return 0, err
		}
	}
	return deleted, tx.Commit()
}
