package plan

import (
	"context"
	"slices"

	atlas "ariga.io/atlas/sql/schema"

	"chairside/internal/store/migrate"
)

// dropViews drops the views for analysts before a column that they may show is dropped or gets
// another type, which PostgreSQL would refuse.
func (p *planner) dropViews(ctx context.Context, changes []atlas.Change) error {
	if !slices.ContainsFunc(changes, changesView) {
		return nil
	}
	statements, err := migrate.PlanWithoutViews(ctx, p.db)
	if err != nil {
		return err
	}
	return p.add(ctx, "", false, statements...)
}

func changesView(change atlas.Change) bool {
	switch c := change.(type) {
	case *atlas.DropTable:
		return true
	case *atlas.ModifyTable:
		return slices.ContainsFunc(c.Changes, func(inner atlas.Change) bool {
			if _, ok := inner.(*atlas.DropColumn); ok {
				return true
			}
			modify, ok := inner.(*atlas.ModifyColumn)
			return ok && modify.Change.Is(atlas.ChangeType)
		})
	}
	return false
}

// views makes the views for analysts those of the tables.
func (p *planner) views(ctx context.Context) error {
	statements, err := migrate.PlanViews(ctx, p.db, p.tables)
	if err != nil {
		return err
	}
	suffix := "views"
	if p.baseline {
		suffix = ""
	}
	return p.add(ctx, suffix, false, statements...)
}
