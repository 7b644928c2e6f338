package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// PlanTotals gives the statements after which a database, whose tables are the
// schema's already, keeps the totals that the schema declares; none where it
// does. It is for writing migrations.
//
// What changes is planned for a table as a whole: its triggers are made anew,
// which on PostgreSQL locks writers out until the migration ends, and then its
// totals are counted.
func (db *DB) PlanTotals(ctx context.Context) ([]string, error) {
	have, want, err := db.triggers(ctx)
	if err != nil {
		return nil, fmt.Errorf("store: plan totals: %w", err)
	}
	var plan []string
	planned := keepers(db.Dialect, db.tables)
	for _, t := range have {
		if !slices.ContainsFunc(planned, func(k keeper) bool { return k.table == t.table }) {
			planned = append(planned, keeper{dialect: db.Dialect, table: t.table}) // keeps nothing any more
		}
	}
	for _, k := range planned {
		if maps.Equal(ofTable(have, k.table), ofTable(want, k.table)) {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(ofTable(have, k.table))) {
			if db.postgres() {
				plan = append(plan, "DROP TRIGGER "+name+" ON "+k.table, "DROP FUNCTION "+name+"()")
			} else {
				plan = append(plan, "DROP TRIGGER "+name)
			}
		}
		if len(k.totals) > 0 {
			plan = append(plan, k.triggers()...)
		}
		if db.postgres() {
			plan = append(plan, k.forget(changeTable))
		}
		plan = append(plan, k.forget(keptTable))
		if len(k.totals) > 0 {
			plan = append(plan, "INSERT INTO "+keptTable+" (total, practice_id, key, n)\n  "+k.counts())
		}
	}
	return plan, nil
}

// forget removes the totals of the table. Changes go first: a fold that has
// some of them in hand has then ended before the totals go.
func (k keeper) forget(from string) string {
	return fmt.Sprintf("DELETE FROM %s WHERE total LIKE '%s.%%'", from, k.table)
}

func ofTable(triggers map[string]trigger, table string) map[string]trigger {
	found := maps.Clone(triggers)
	maps.DeleteFunc(found, func(_ string, t trigger) bool { return t.table != table })
	return found
}

// triggers are those that the database has and those it is to have.
func (db *DB) triggers(ctx context.Context) (have, want map[string]trigger, err error) {
	if !db.postgres() {
		have, err = sqliteTriggers(ctx, db.SQL)
		return have, wantedSQLiteTriggers(db.tables), err
	}
	transaction, err := db.SQL.BeginTx(ctx, nil)
	if err != nil {
		return nil, nil, err
	}
	defer transaction.Rollback()
	if have, err = postgresTriggers(ctx, transaction, "public"); err != nil {
		return nil, nil, err
	}
	const scratch = "chairside_plan"
	statements := []string{"CREATE SCHEMA " + scratch, "SET LOCAL search_path = " + scratch + ", public"}
	for _, k := range keepers(db.Dialect, db.tables) {
		statements = append(statements, "CREATE TABLE "+k.table+" (LIKE public."+k.table+")")
		statements = append(statements, k.triggers()...)
	}
	if _, err := transaction.ExecContext(ctx, strings.Join(statements, ";\n")); err != nil {
		return nil, nil, err
	}
	want, err = postgresTriggers(ctx, transaction, scratch)
	return have, want, err
}
