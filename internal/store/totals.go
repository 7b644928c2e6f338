package store

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql/schema"
	"entgo.io/ent/schema/field"
)

// The tables of kept totals. Triggers write them (triggers.go), the generated
// queries read them (ent/kept.go). They are the store's own and not entities:
// without an id, and a key to the practice, a change costs half as much.
const (
	keptTable   = "kept_totals"
	changeTable = "total_changes" // PostgreSQL: what has not been folded into kept_totals yet
)

const (
	// foldEvery is how often changes are folded: what a reader of a total adds
	// up are the changes of about so long.
	foldEvery = time.Second
	// foldTime bounds one statement that folds, however the connection was lost.
	foldTime = time.Minute
	// foldBatch bounds the changes of one statement.
	foldBatch = 10_000
	// vacuumAfter is the number of folded changes after which dead rows are
	// removed, whatever autovacuum does: they lie in the way of every reader.
	vacuumAfter = 20_000
)

// totalTables gives the tables of kept totals on a dialect, in Ent's form.
func totalTables(dialectName string) []*schema.Table {
	table := func(name string) *schema.Table {
		return &schema.Table{Name: name, Columns: []*schema.Column{
			{Name: "total", Type: field.TypeString},
			{Name: tenantColumn, Type: field.TypeUUID},
			{Name: "key", Type: field.TypeInt64},
			{Name: "n", Type: field.TypeInt64},
		}}
	}
	kept := table(keptTable)
	kept.PrimaryKey = kept.Columns[:3]
	if dialectName == dialect.SQLite {
		return []*schema.Table{kept}
	}
	changes := table(changeTable)
	changes.Indexes = []*schema.Index{{Name: "total_change_total_practice_id_key", Columns: changes.Columns[:3]}}
	return []*schema.Table{kept, changes}
}

// foldTotals is one statement, so that whatever breaks it off undoes all of it.
// The lock keeps processes from waiting for each other; the result would be
// right without it: a change is folded by whoever deletes it.
const foldTotals = `
	WITH mine AS MATERIALIZED (
		SELECT pg_try_advisory_xact_lock(hashtext('chairside fold totals')) AS locked
	), gone AS (
		DELETE FROM total_changes
		WHERE ctid = ANY (ARRAY(SELECT ctid FROM total_changes WHERE (SELECT locked FROM mine) LIMIT $1))
		RETURNING total, practice_id, key, n
	), folded AS (
		INSERT INTO kept_totals (total, practice_id, key, n)
		SELECT total, practice_id, key, sum(n) FROM gone GROUP BY 1, 2, 3 HAVING sum(n) <> 0
		ON CONFLICT (total, practice_id, key) DO UPDATE SET n = kept_totals.n + excluded.n
	)
	SELECT count(*) FROM gone`

// FoldTotals adds changes that the triggers have noted to the kept totals, at
// most 10,000, and returns how many there were. It changes no total: a reader
// adds up both. On SQLite, where the triggers write the totals themselves, it
// does nothing.
func (db *DB) FoldTotals(ctx context.Context) (int, error) {
	if !db.postgres() {
		return 0, nil
	}
	ctx, cancel := context.WithTimeout(ctx, foldTime)
	defer cancel()
	var folded int
	if err := db.SQL.QueryRowContext(ctx, foldTotals, foldBatch).Scan(&folded); err != nil {
		return 0, fmt.Errorf("store: fold totals: %w", err)
	}
	return folded, nil
}

// KeepFolding folds totals every second until ctx ends. Any number of processes
// may: one of them works at a time. What fails is logged and tried again.
func (db *DB) KeepFolding(ctx context.Context, logger *slog.Logger) {
	if !db.postgres() {
		return
	}
	tick := time.NewTicker(foldEvery)
	defer tick.Stop()
	for dead := 0; ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := db.foldAll(ctx, &dead)
		if err == nil && dead >= vacuumAfter {
			dead = 0
			if _, err = db.SQL.ExecContext(ctx, "VACUUM (TRUNCATE FALSE) "+changeTable+", "+keptTable); err != nil {
				err = fmt.Errorf("store: vacuum totals: %w", err)
			}
		}
		if err != nil && ctx.Err() == nil {
			logger.Warn("totals were not folded or vacuumed, which slows lists down", "error", err)
		}
	}
}

// foldAll folds all changes there are, and adds their number to folded.
func (db *DB) foldAll(ctx context.Context, folded *int) error {
	for {
		n, err := db.FoldTotals(ctx)
		*folded += n
		if err != nil || n < foldBatch {
			return err
		}
	}
}
