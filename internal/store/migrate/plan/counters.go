package plan

import (
	"context"
	"regexp"
	"strings"

	"chairside/internal/store/feedlog"
	"chairside/internal/store/migrate"
	"chairside/internal/store/migrate/lint"
)

// definition matches the statements of counters that a baseline needs: an empty database has
// nothing to lock, delete or count.
var definition = regexp.MustCompile(`^CREATE (OR REPLACE FUNCTION|TRIGGER) `)

// feed adds the statements of the triggers that record the change feed.
func (p *planner) feed(ctx context.Context) error {
	texts, err := feedlog.Plan(ctx, p.db.SQL, p.db.Dialect, p.tables)
	if err != nil {
		return err
	}
	statements := make([]migrate.Statement, len(texts))
	for i, text := range texts {
		statements[i].Text = text
	}
	suffix := "feed"
	if p.baseline || p.together() {
		suffix = ""
	}
	return p.add(ctx, suffix, false, statements...)
}

// counters adds the statements of the counters. On PostgreSQL the triggers change in
// a file of their own, which locks their table briefly, and the rows are counted
// in the next one, without a lock.
func (p *planner) counters(ctx context.Context) error {
	steps, err := p.db.Counters.Plan(ctx, p.counted...)
	if err != nil {
		return err
	}
	for _, step := range steps {
		var statements []migrate.Statement
		for _, s := range step.Statements {
			if p.baseline && !definition.MatchString(s) {
				continue
			}
			statement := migrate.Statement{Text: s}
			if strings.HasPrefix(s, "LOCK ") {
				statement.Comment = lint.Allow("writers under the old triggers have to end first; the lock lasts milliseconds", lint.Blocking)
			}
			statements = append(statements, statement)
		}
		suffix := "counters"
		switch {
		case p.baseline:
			suffix = ""
		case step.Name != "":
			suffix = step.Name
		case p.together():
			suffix = ""
		}
		if err := p.add(ctx, suffix, false, statements...); err != nil {
			return err
		}
	}
	return nil
}

// together reports whether columns or tables are dropped or renamed. The functions of counters may
// use their names, so they are then replaced in the same transaction.
func (p *planner) together() bool {
	return len(p.request.Renames)+len(p.request.RenameTables)+len(p.request.Drops) > 0
}
