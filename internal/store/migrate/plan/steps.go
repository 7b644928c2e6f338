package plan

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"ariga.io/atlas/sql/postgres"
	atlas "ariga.io/atlas/sql/schema"

	"chairside/internal/store/migrate"
	"chairside/internal/store/migrate/lint"
)

// inSteps writes the changes of a PostgreSQL database as files that can be applied while clients
// work.
func (p *planner) inSteps(ctx context.Context) error {
	filled := p.backfills()
	for _, b := range filled {
		b.column.Type.Null = true
	}
	changes, err := p.changes(ctx) // with the columns still nullable
	if err != nil {
		return err
	}
	constraints, indexes, err := p.columns(ctx, changes)
	if err != nil {
		return err
	}
	if err := p.counters(ctx); err != nil {
		return err
	}
	if err := p.feed(ctx); err != nil {
		return err
	}
	var fills []migrate.Statement
	for _, b := range filled {
		s, err := b.batches()
		if err != nil {
			return err
		}
		fills = append(fills, s)
	}
	if err := p.add(ctx, "backfill", true, fills...); err != nil {
		return err
	}
	for _, m := range indexes {
		if err := p.index(ctx, m); err != nil {
			return err
		}
	}
	for _, b := range filled {
		b.column.Type.Null = b.nullable
	}
	return p.constrain(ctx, filled, fills, constraints)
}

// columns writes new tables and the quick changes of existing ones, and returns the constraints
// and indexes that must follow.
func (p *planner) columns(ctx context.Context, changes []atlas.Change) (constraints, indexes []*atlas.ModifyTable, err error) {
	late := map[*atlas.Table]bool{} // tables whose unique indexes foreign keys have to wait for
	for _, change := range changes {
		if m, ok := change.(*atlas.ModifyTable); ok && slices.ContainsFunc(m.Changes, func(c atlas.Change) bool {
			add, ok := c.(*atlas.AddIndex)
			return ok && add.I.Unique
		}) {
			late[m.T] = true
		}
	}
	var whole []atlas.Change
	var alters []*atlas.ModifyTable
	for _, change := range changes {
		switch c := change.(type) {
		case *atlas.AddTable:
			table := *c.T
			table.ForeignKeys = nil
			keys := &atlas.ModifyTable{T: c.T}
			for _, key := range c.T.ForeignKeys {
				if late[key.RefTable] {
					keys.Changes = append(keys.Changes, &atlas.AddForeignKey{F: key})
					p.reasons[c.T.Name+"."+key.Symbol] = reason{"its table is new", []string{lint.DataDepend}}
				} else {
					table.ForeignKeys = append(table.ForeignKeys, key)
				}
			}
			whole = append(whole, &atlas.AddTable{T: &table, Extra: c.Extra})
			if len(keys.Changes) > 0 {
				constraints = append(constraints, keys)
			}
		case *atlas.ModifyTable:
			now, constraint, index := split(c)
			if len(now.Changes) > 0 {
				alters = append(alters, now)
			}
			if len(constraint.Changes) > 0 {
				constraints = append(constraints, constraint)
			}
			if len(index.Changes) > 0 {
				indexes = append(indexes, index)
			}
		default:
			whole = append(whole, change)
		}
	}
	if err := p.change(ctx, "", whole...); err != nil {
		return nil, nil, err
	}
	for i, m := range alters {
		suffix := "" // one file for each table, so that none holds a lock while it waits for another
		if i > 0 && !p.together() {
			suffix = m.T.Name
		}
		if err := p.change(ctx, suffix, m); err != nil {
			return nil, nil, err
		}
	}
	return constraints, indexes, nil
}

// split sorts the changes of a table into those that take no time, new
// constraints, and indexes.
func split(m *atlas.ModifyTable) (now, constraint, index *atlas.ModifyTable) {
	now, constraint, index = &atlas.ModifyTable{T: m.T}, &atlas.ModifyTable{T: m.T}, &atlas.ModifyTable{T: m.T}
	add := func(to *atlas.ModifyTable, changes ...atlas.Change) { to.Changes = append(to.Changes, changes...) }
	for _, change := range m.Changes {
		switch c := change.(type) {
		case *atlas.AddIndex, *atlas.ModifyIndex:
			add(index, c)
		case *atlas.DropIndex:
			if !slices.ContainsFunc(c.I.Parts, func(part *atlas.IndexPart) bool {
				return part.C != nil && atlas.Changes(m.Changes).IndexDropColumn(part.C.Name) >= 0
			}) { // else it goes with its column
				add(index, c)
			}
		case *atlas.AddCheck, *atlas.AddForeignKey:
			add(constraint, c)
		case *atlas.DropCheck:
			if !droppedWithColumn(m, c.C) {
				add(now, c)
			}
		case *atlas.ModifyCheck:
			if !droppedWithColumn(m, c.From) {
				add(constraint, &atlas.DropCheck{C: c.From})
			}
			add(constraint, &atlas.AddCheck{C: c.To})
		case *atlas.ModifyForeignKey:
			add(constraint, &atlas.DropForeignKey{F: c.From}, &atlas.AddForeignKey{F: c.To})
		case *atlas.DropForeignKey:
			if slices.ContainsFunc(c.F.Columns, func(column *atlas.Column) bool { return atlas.Changes(m.Changes).IndexDropColumn(column.Name) >= 0 }) {
				continue // it goes with its column
			}
			add(constraint, c)
		default:
			add(now, c)
		}
	}
	return now, constraint, index
}

// droppedWithColumn reports whether PostgreSQL drops a check together with one of its columns.
func droppedWithColumn(m *atlas.ModifyTable, check *atlas.Check) bool {
	return slices.ContainsFunc(m.Changes, func(change atlas.Change) bool {
		drop, ok := change.(*atlas.DropColumn)
		return ok && lint.Mentions(check, drop.C.Name)
	})
}

// drops is 1 for a change that drops an index, else 0.
func drops(change atlas.Change) int {
	if _, ok := change.(*atlas.DropIndex); ok {
		return 1
	}
	return 0
}

// index writes the statements that build and drop the indexes of a table while clients write. A
// changed index is replaced once its successor is ready, and others are dropped last: until then requests
// use them.
func (p *planner) index(ctx context.Context, m *atlas.ModifyTable) error {
	one := func(change atlas.Change) error {
		return p.change(ctx, "index", &atlas.ModifyTable{T: m.T, Changes: []atlas.Change{change}})
	}
	dropped := func(i *atlas.Index) migrate.Statement {
		return migrate.Statement{Comment: fmt.Sprintf("Drop index %q of table %q", i.Name, m.T.Name), Text: `DROP INDEX CONCURRENTLY IF EXISTS "` + i.Name + `"`}
	}
	dropsLast := slices.SortedStableFunc(slices.Values(m.Changes), func(a, b atlas.Change) int { return cmp.Compare(drops(a), drops(b)) })
	for _, change := range dropsLast {
		var err error
		switch c := change.(type) {
		case *atlas.AddIndex:
			err = one(&atlas.AddIndex{I: c.I, Extra: []atlas.Clause{&postgres.Concurrently{}}})
		case *atlas.DropIndex:
			err = p.add(ctx, "index", true, dropped(c.I))
		case *atlas.ModifyIndex:
			next := *c.To
			next.Name = "new_" + c.To.Name
			if len(next.Name) > 63 {
				next.Name = next.Name[:63]
			}
			if r, ok := p.reasons[m.T.Name+"."+c.To.Name]; ok {
				p.reasons[m.T.Name+"."+next.Name] = r
			}
			if err = one(&atlas.AddIndex{I: &next, Extra: []atlas.Clause{&postgres.Concurrently{}}}); err == nil {
				err = p.add(ctx, "index", true, dropped(c.From), migrate.Statement{Text: fmt.Sprintf(`ALTER INDEX IF EXISTS "%s" RENAME TO "%s"`, next.Name, c.To.Name)})
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// constrain adds the constraints for new rows only, then validates the existing rows without a
// lock, and then makes columns NOT NULL, for which PostgreSQL relies on the validated check.
func (p *planner) constrain(ctx context.Context, filled []*backfill, fills []migrate.Statement, constraints []*atlas.ModifyTable) error {
	var validate []migrate.Statement
	valid := func(table, constraint string) {
		validate = append(validate, migrate.Statement{Text: fmt.Sprintf(`ALTER TABLE "%s" VALIDATE CONSTRAINT "%s"`, table, constraint)})
	}
	var required []*backfill
	var again []migrate.Statement // backfills again, for rows written meanwhile by the previous release
	for i, b := range filled {
		current, err := p.inspect(ctx)
		if err != nil {
			return err
		}
		if t, ok := current.Table(b.table.Name); ok && !b.nullable {
			if c, ok := t.Column(b.column.Name); ok && c.Type.Null {
				required, again = append(required, b), append(again, fills[i])
			}
		}
	}
	step := 0
	suffix := func(table string) string {
		if step++; step > 1 {
			return "constrain_" + table
		}
		return "constrain"
	}
	for _, m := range constraints {
		for i, c := range m.Changes {
			switch c := c.(type) {
			case *atlas.AddCheck:
				m.Changes[i] = &atlas.AddCheck{C: c.C, Extra: []atlas.Clause{&postgres.NotValid{}}}
				valid(m.T.Name, c.C.Name)
			case *atlas.AddForeignKey:
				m.Changes[i] = &atlas.AddForeignKey{F: c.F, Extra: []atlas.Clause{&postgres.NotValid{}}}
				valid(m.T.Name, c.F.Symbol)
			}
		}
		if err := p.change(ctx, suffix(m.T.Name), m); err != nil {
			return err
		}
	}
	for _, b := range required {
		if err := p.add(ctx, suffix(b.table.Name), false, migrate.Statement{
			Comment: lint.Allow("the rows have been filled before", lint.DataDepend),
			Text:    fmt.Sprintf(`ALTER TABLE "%s" ADD CONSTRAINT "%s" CHECK ("%s" IS NOT NULL) NOT VALID`, b.table.Name, b.check(), b.column.Name),
		}); err != nil {
			return err
		}
		valid(b.table.Name, b.check())
	}
	if err := p.add(ctx, "validate", true, slices.Concat(again, validate)...); err != nil {
		return err
	}
	for i, b := range required {
		name := "require"
		if i > 0 {
			name += "_" + b.table.Name + "_" + b.column.Name
		}
		if err := p.add(ctx, name, false,
			migrate.Statement{Text: fmt.Sprintf(`ALTER TABLE "%s" ALTER COLUMN "%s" SET NOT NULL`, b.table.Name, b.column.Name)},
			migrate.Statement{Text: fmt.Sprintf(`ALTER TABLE "%s" DROP CONSTRAINT "%s"`, b.table.Name, b.check())},
		); err != nil {
			return err
		}
	}
	return nil
}

// check returns the name of the temporary check that makes SET NOT NULL quick.
func (b *backfill) check() string {
	name := b.table.Name + "_" + b.column.Name + "_not_null"
	return name[:min(len(name), 63)]
}
