package plan

import (
	"fmt"
	"slices"
	"strings"

	atlas "ariga.io/atlas/sql/schema"

	"chairside/internal/store/migrate/lint"
)

// refuse adds a problem: what the change would do, and the flags that allow it.
func (p *planner) refuse(format string, args ...any) {
	p.problems = append(p.problems, fmt.Sprintf(format, args...))
}

// allows reports whether the request has a flag, and keeps the flag's reason for the analyzers.
func (p *planner) allows(flag, key string, analyzers ...string) bool {
	text, ok := p.request.options()[flag][key]
	if ok {
		p.used["--"+flag+" "+key] = true
		if flag != "backfill" { // its value is an expression, and analyzers see the UPDATE
			p.reasons[key] = reason{text, analyzers}
		}
	}
	return ok
}

// judge refuses a change that may lose data or fail on existing rows, unless the request allows
// it.
func (p *planner) judge(change atlas.Change) {
	switch c := change.(type) {
	case *atlas.DropTable:
		if !p.allows("drop", c.T.Name, lint.Destructive) {
			p.refuse("table %[1]s would be dropped, with all its rows. Either it has a new name:\n\t--rename-table %[1]s=NEW\nor it is to go:\n\t--drop %[1]s --because \"…\"", c.T.Name)
		}
	case *atlas.ModifyTable:
		for _, inner := range c.Changes {
			p.judgeIn(c, inner)
		}
	}
}

func (p *planner) judgeIn(m *atlas.ModifyTable, change atlas.Change) {
	table := m.T.Name
	switch c := change.(type) {
	case *atlas.DropColumn:
		if key := table + "." + c.C.Name; !p.allows("drop", key, lint.Destructive) {
			p.refuse("column %[1]s would be dropped, with all its values. Either it has a new name:\n\t--rename %[1]s=%[2]s\nor it is to go:\n\t--drop %[1]s --because \"…\"", key, likely(m, c.C))
		}
	case *atlas.AddColumn:
		if !c.C.Type.Null && c.C.Default == nil && !generated(c.C) {
			p.require(table, c.C, "is new and required, but rows have no value for it")
		}
	case *atlas.ModifyColumn:
		if c.Change.Is(atlas.ChangeType) && !lint.Widens(p.db.Dialect, c.From.Type, c.To.Type) && !p.allows("retype", table+"."+c.To.Name, lint.Narrowed, lint.Blocking) {
			p.refuse("column %[1]s would change its type from %[2]s to %[3]s, which may lose values or rewrite the table.\nAdd a column of the new type, fill it (--backfill), and drop the old one in a later release. If every value fits and the table is so small that its clients can wait:\n\t--retype %[1]s --because \"…\"",
				table+"."+c.To.Name, c.From.Type.Raw, c.To.Type.Raw)
		}
		if c.Change.Is(atlas.ChangeNull) && c.From.Type.Null && !c.To.Type.Null {
			p.require(table, c.To, "becomes required, but rows may have no value in it")
		}
	case *atlas.AddIndex:
		p.judgeUnique(m, c.I)
	case *atlas.ModifyIndex:
		p.judgeUnique(m, c.To)
	case *atlas.AddCheck:
		p.judgeCheck(m, nil, c.C)
	case *atlas.ModifyCheck:
		p.judgeCheck(m, c.From, c.To)
	case *atlas.AddForeignKey:
		p.judgeKey(m, c.F)
	case *atlas.ModifyForeignKey:
		if !lint.SameKey(c.From, c.To) {
			p.judgeKey(m, c.To)
		}
	case *atlas.DropForeignKey:
		if slices.ContainsFunc(m.Changes, func(other atlas.Change) bool {
			add, ok := other.(*atlas.AddForeignKey)
			return ok && lint.SameKey(c.F, add.F)
		}) || slices.ContainsFunc(c.F.Columns, func(column *atlas.Column) bool { return atlas.Changes(m.Changes).IndexDropColumn(column.Name) >= 0 }) {
			return // renamed, or gone with its column
		}
		if key := table + "." + c.F.Symbol; !p.allows("drop", key, lint.Dropped) {
			p.refuse("foreign key %s would be dropped. If it is to go:\n\t--drop %s --because \"…\"", key, key)
		}
	case *atlas.ModifyPrimaryKey, *atlas.AddPrimaryKey, *atlas.DropPrimaryKey:
		p.refuse("the primary key of %s would change. Make a new table, fill it, and switch to it in a later release", table)
	}
}

// likely returns the name to which a dropped column was probably renamed, or NEW.
func likely(m *atlas.ModifyTable, old *atlas.Column) string {
	for _, c := range m.Changes {
		if add, ok := c.(*atlas.AddColumn); ok && fmt.Sprintf("%T", add.C.Type.Type) == fmt.Sprintf("%T", old.Type.Type) {
			return add.C.Name
		}
	}
	return "NEW"
}

func generated(c *atlas.Column) bool {
	return slices.ContainsFunc(c.Attrs, func(a atlas.Attr) bool {
		_, ok := a.(*atlas.GeneratedExpr)
		return ok || strings.HasSuffix(fmt.Sprintf("%T", a), ".Identity")
	})
}

// require refuses a required column that has no value in existing rows.
func (p *planner) require(table string, c *atlas.Column, what string) {
	key := table + "." + c.Name
	if p.allows("backfill", key, lint.DataDepend) {
		return
	}
	p.refuse("column %[1]s %[2]s. Either\n"+
		"  1. make it Optional() in schema/ and run diff, with --backfill %[1]s=\"EXPRESSION\" where rows can have a value,\n"+
		"  2. release that, so that every running program writes the column,\n"+
		"  3. make it required, run diff with --backfill again, and release.\n"+
		"Or, if no program of the previous release writes meanwhile, do it in one step:\n\t--backfill %[1]s=\"EXPRESSION\"", key, what)
}

// isNew reports whether a change of the table adds the column and leaves it null in existing
// rows.
func (p *planner) isNew(m *atlas.ModifyTable, column string) bool {
	i := atlas.Changes(m.Changes).IndexAddColumn(column)
	if i < 0 {
		return false
	}
	_, filled := p.request.Backfills[m.T.Name+"."+column]
	return !filled && m.Changes[i].(*atlas.AddColumn).C.Default == nil
}

func (p *planner) judgeUnique(m *atlas.ModifyTable, i *atlas.Index) {
	if !i.Unique {
		return
	}
	key := m.T.Name + "." + i.Name
	covers := func(other *atlas.Index) bool {
		return other != nil && other.Unique && len(other.Parts) > 0 && !slices.ContainsFunc(other.Parts, func(part *atlas.IndexPart) bool {
			return part.C == nil || !slices.ContainsFunc(i.Parts, func(own *atlas.IndexPart) bool { return own.C != nil && own.C.Name == part.C.Name })
		})
	}
	primary := m.T.PrimaryKey
	if primary != nil {
		unique := *primary
		unique.Unique = true
		if covers(&unique) {
			p.reasons[key] = reason{"it contains the primary key, which is unique", []string{lint.DataDepend}}
			return
		}
	}
	for _, c := range m.Changes {
		if drop, ok := c.(*atlas.DropIndex); ok && covers(drop.I) && !hasPredicate(drop.I) {
			p.reasons[key] = reason{"it contains the columns of " + drop.I.Name + ", which was unique", []string{lint.DataDepend}}
			return
		}
		if modify, ok := c.(*atlas.ModifyIndex); ok && modify.To == i && covers(modify.From) && !hasPredicate(modify.From) {
			p.reasons[key] = reason{"it contains the columns of the old index, which was unique", []string{lint.DataDepend}}
			return
		}
	}
	if slices.ContainsFunc(i.Parts, func(part *atlas.IndexPart) bool { return part.C != nil && p.isNew(m, part.C.Name) }) {
		p.reasons[key] = reason{"it contains a new column, which is null in all rows", []string{lint.DataDepend}}
		return
	}
	if !p.allows("assert", key, lint.DataDepend) {
		p.refuse("unique index %s fails if existing rows have equal values. Look for them, remove them in a migration before this one, then:\n\t--assert %s --because \"…\"", key, key)
	}
}

func hasPredicate(i *atlas.Index) bool {
	return strings.Contains(attributes(i), "IndexPredicate")
}

func (p *planner) judgeCheck(m *atlas.ModifyTable, from, to *atlas.Check) {
	key := m.T.Name + "." + to.Name
	switch {
	case from != nil && lint.Loosens(from, to):
		return
	case lint.OnlyColumns(m.T, to, func(column string) bool { return p.isNew(m, column) }):
		p.reasons[key] = reason{"its columns are new, and null in all rows", []string{lint.DataDepend}}
	case from == nil && p.loosensOther(m, to):
		p.reasons[key] = reason{"it allows all that the check allowed which it replaces", []string{lint.DataDepend}}
	case !p.allows("assert", key, lint.DataDepend):
		p.refuse("check %s fails if existing rows break it:\n\t%s\nLook for such rows, correct them in a migration before this one, then:\n\t--assert %s --because \"…\"", key, to.Expr, key)
	}
}

// loosensOther reports whether a check replaces a narrower one of another name.
func (p *planner) loosensOther(m *atlas.ModifyTable, to *atlas.Check) bool {
	return slices.ContainsFunc(m.Changes, func(c atlas.Change) bool {
		drop, ok := c.(*atlas.DropCheck)
		return ok && lint.Loosens(drop.C, to)
	})
}

func (p *planner) judgeKey(m *atlas.ModifyTable, key *atlas.ForeignKey) {
	name := m.T.Name + "." + key.Symbol
	switch {
	case slices.ContainsFunc(m.Changes, func(c atlas.Change) bool {
		drop, ok := c.(*atlas.DropForeignKey)
		return ok && lint.SameKey(drop.F, key)
	}):
		p.reasons[name] = reason{"it compares the columns of the key that it replaces", []string{lint.DataDepend}}
	case slices.ContainsFunc(key.Columns, func(c *atlas.Column) bool { return p.isNew(m, c.Name) }):
		p.reasons[name] = reason{"it contains a new column, which is null in all rows", []string{lint.DataDepend}}
	case !p.allows("assert", name, lint.DataDepend):
		p.refuse("foreign key %s fails if existing rows point at rows of %s that do not exist. Look for them, correct them in a migration before this one, then:\n\t--assert %s --because \"…\"", name, key.RefTable.Name, name)
	}
}
