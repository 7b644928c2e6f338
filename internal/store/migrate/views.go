package migrate

import (
	"context"
	"fmt"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql/schema"

	"chairside/internal/store"
	"chairside/internal/store/analyst"
)

// PlanViews returns the statements that make the views for analysts those of the tables, which the
// database must already have. SQLite has no such views.
func PlanViews(ctx context.Context, db *store.DB, tables []*schema.Table) (plan []Statement, err error) {
	if db.Dialect != dialect.Postgres {
		return nil, nil
	}
	tx, err := db.SQL.BeginTx(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("plan views: %w", err)
	}
	defer tx.Rollback()
	existing, err := analyst.Existing(ctx, tx)
	if err != nil {
		return nil, fmt.Errorf("plan views: %w", err)
	}
	differing, err := analyst.Differences(ctx, tx, tables)
	if err != nil {
		return nil, fmt.Errorf("plan views: %w", err)
	}
	return ofViews(analyst.Plan(tables, existing, differing)), nil
}

// PlanWithoutViews returns the statement that drops all views for analysts. A column that a view
// shows cannot be dropped or get another type, so that comes first, and PlanViews makes them again.
func PlanWithoutViews(ctx context.Context, db *store.DB) ([]Statement, error) {
	if db.Dialect != dialect.Postgres {
		return nil, nil
	}
	existing, err := analyst.Existing(ctx, db.SQL)
	if err != nil {
		return nil, fmt.Errorf("plan views: %w", err)
	}
	return ofViews(analyst.DropViews(existing)), nil
}

func ofViews(plan []analyst.Statement) []Statement {
	all := make([]Statement, len(plan))
	for i, s := range plan {
		all[i] = Statement(s)
	}
	return all
}

// viewDifferences compares the views for analysts with those of the tables.
func viewDifferences(ctx context.Context, m *migrator, live string, tables []*schema.Table) (list []string, err error) {
	if live != "public" { // a test's
		return nil, nil
	}
	pool := m.maintenance()
	defer pool.Close()
	tx, err := pool.BeginTx(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("compare the views: %w", err)
	}
	defer tx.Rollback()
	differing, err := analyst.Differences(ctx, tx, tables)
	if err != nil && ctx.Err() == nil { // a column is missing, which is a difference of its table, too
		return []string{fmt.Sprintf("the views of schema %s cannot be made: %v", analyst.Schema, err)}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("compare the views: %w", err)
	}
	for _, name := range differing {
		list = append(list, "view "+analyst.Schema+"."+name+" differs")
	}
	return list, nil
}
