package plan

import (
	"context"
	"strings"

	"chairside/internal/store"
)

// totals adds the statements of the counters. In the baseline there are no rows
// to be counted.
func (p *planner) totals(ctx context.Context) error {
	statements, err := p.db.PlanTotals(ctx)
	if err != nil {
		return err
	}
	var kept []store.Statement
	for _, s := range statements {
		if p.baseline && (strings.HasPrefix(s, "DELETE ") || strings.HasPrefix(s, "INSERT ")) {
			continue
		}
		kept = append(kept, store.Statement{Text: s})
	}
	suffix := "counters"
	if p.baseline || p.together() {
		suffix = ""
	}
	return p.add(ctx, suffix, false, kept...)
}

// together reports whether columns or tables go, or get other names. The
// functions of the counters, which may name them, are then replaced in the same
// transaction.
func (p *planner) together() bool {
	return len(p.request.Renames)+len(p.request.RenameTables)+len(p.request.Drops) > 0
}
