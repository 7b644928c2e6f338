package feedlog

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql/schema"

	"chairside/internal/store/triggers"
)

// Plan returns the statements that make a database record the feed's changes; none if it does so
// already. Its tables must already be those of the schema. Plan is for writing migrations.
//
// On PostgreSQL each statement locks one table for an instant. A transaction that wrote before
// that is not recorded, which is no loss: a table that was not recorded has no readers.
func Plan(ctx context.Context, pool *sql.DB, dialectName string, tables []*schema.Table) (plan []string, err error) {
	have, want, err := haveAndWant(ctx, pool, dialectName, tables)
	if err != nil {
		return nil, fmt.Errorf("store: plan the change feed: %w", err)
	}
	postgres := dialectName == dialect.Postgres
	for _, name := range slices.Sorted(maps.Keys(have)) {
		if fresh, stays := want[name]; stays && fresh.Definition == have[name].Definition {
			continue
		}
		if postgres {
			plan = append(plan, "DROP TRIGGER "+name+" ON "+have[name].Table)
		} else {
			plan = append(plan, "DROP TRIGGER "+name)
		}
		if _, stays := want[name]; postgres && !stays {
			plan = append(plan, "DROP FUNCTION "+name+"()")
		}
	}
	function := ""
	for _, statement := range Statements(dialectName, tables) {
		name, _ := triggers.Name(statement)
		if name == "" {
			function = statement
			continue
		}
		if function != "" && have[name].Body != want[name].Body {
			plan = append(plan, function)
		}
		if have[name].Definition != want[name].Definition {
			plan = append(plan, statement)
		}
	}
	var started bool
	if err := pool.QueryRowContext(ctx, "SELECT count(*) > 0 FROM "+stateTable).Scan(&started); err != nil {
		return nil, fmt.Errorf("store: plan the change feed: %w", err)
	}
	if !started {
		plan = append([]string{"INSERT INTO " + stateTable + " (id, last_seq, swept_seq, epoch) VALUES (1, 0, 0, " + randomEpoch(dialectName) + ") ON CONFLICT DO NOTHING"}, plan...)
	}
	return plan, nil
}

// haveAndWant returns the triggers of the feed that the database has and those that it should
// have.
func haveAndWant(ctx context.Context, pool *sql.DB, dialectName string, tables []*schema.Table) (have, want map[string]triggers.Trigger, err error) {
	defer func() {
		maps.DeleteFunc(have, func(name string, _ triggers.Trigger) bool { return !strings.HasPrefix(name, prefix) })
	}()
	if dialectName != dialect.Postgres {
		have, err = triggers.SQLite(ctx, pool)
		return have, triggers.Wanted(Statements(dialectName, tables)), err
	}
	tx, err := pool.BeginTx(ctx, nil)
	if err != nil {
		return nil, nil, err
	}
	defer tx.Rollback()
	if have, err = triggers.Postgres(ctx, tx, "public"); err != nil {
		return nil, nil, err
	}
	const scratch = "chairside_plan"
	statements := []string{"CREATE SCHEMA " + scratch, "SET LOCAL search_path = " + scratch + ", public"}
	for _, r := range recorders(dialectName, tables) {
		statements = append(statements, "CREATE TABLE "+r.table+" (LIKE public."+r.table+")")
		statements = append(statements, r.statements()...)
	}
	if _, err := tx.ExecContext(ctx, strings.Join(statements, ";\n")); err != nil {
		return nil, nil, err
	}
	want, err = triggers.Postgres(ctx, tx, scratch)
	return have, want, err
}
