package plan

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	atlas "ariga.io/atlas/sql/schema"

	"chairside/internal/store/migrate"
	"chairside/internal/store/migrate/lint"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

const renamed = "renamed on request; a program of the previous release that still runs fails on it"

// rename renames tables and columns, then the indexes, keys and checks whose names
// follow.
func (p *planner) rename(ctx context.Context) error {
	current, err := p.inspect(ctx)
	if err != nil {
		return err
	}
	allow := lint.Allow(renamed, lint.Incompatible)
	for _, old := range sortedKeys(p.request.RenameTables) {
		fresh := p.request.RenameTables[old]
		if !gone(current, p.want, old) || !gone(p.want, current, fresh) {
			continue
		}
		p.used["--rename-table "+old] = true
		if err := p.add(ctx, "", false, migrate.Statement{Comment: allow, Text: fmt.Sprintf(`ALTER TABLE "%s" RENAME TO "%s"`, old, fresh)}); err != nil {
			return err
		}
	}
	if current, err = p.inspect(ctx); err != nil {
		return err
	}
	for _, key := range sortedKeys(p.request.Renames) {
		table, old, _ := strings.Cut(key, ".")
		fresh := p.request.Renames[key]
		have, ok := current.Table(table)
		want, also := p.want.Table(table)
		if !ok || !also || !lacks(have, want, old) || !lacks(want, have, fresh) {
			continue
		}
		p.used["--rename "+key] = true
		if err := p.add(ctx, "", false, migrate.Statement{Comment: allow, Text: fmt.Sprintf(`ALTER TABLE "%s" RENAME COLUMN "%s" TO "%s"`, table, old, fresh)}); err != nil {
			return err
		}
	}
	if !p.postgres() {
		return nil
	}
	return p.renameObjects(ctx)
}

// gone reports whether a table is in the schema in but not in from.
func gone(in, from *atlas.Schema, table string) bool {
	_, ok := in.Table(table)
	_, still := from.Table(table)
	return ok && !still
}

// lacks reports whether a column is in the table in but not in from.
func lacks(in, from *atlas.Table, column string) bool {
	_, ok := in.Column(column)
	_, still := from.Column(column)
	return ok && !still
}

// renameObjects renames PostgreSQL's indexes, foreign keys and checks that differ only in their
// names, because recreating them would read the whole table.
func (p *planner) renameObjects(ctx context.Context) error {
	changes, err := p.changes(ctx)
	if err != nil {
		return err
	}
	for _, change := range changes {
		m, ok := change.(*atlas.ModifyTable)
		if !ok {
			continue
		}
		done := map[atlas.Change]bool{}
		for _, from := range m.Changes {
			for _, to := range m.Changes {
				if done[from] || done[to] {
					continue
				}
				var statement string
				switch from := from.(type) {
				case *atlas.DropIndex:
					if to, ok := to.(*atlas.AddIndex); ok && sameIndex(from.I, to.I) {
						statement = fmt.Sprintf(`ALTER INDEX "%s" RENAME TO "%s"`, from.I.Name, to.I.Name)
					}
				case *atlas.DropForeignKey:
					if to, ok := to.(*atlas.AddForeignKey); ok && lint.SameKey(from.F, to.F) && from.F.OnDelete == to.F.OnDelete && from.F.OnUpdate == to.F.OnUpdate {
						statement = fmt.Sprintf(`ALTER TABLE "%s" RENAME CONSTRAINT "%s" TO "%s"`, m.T.Name, from.F.Symbol, to.F.Symbol)
					}
				case *atlas.DropCheck:
					if to, ok := to.(*atlas.AddCheck); ok && lint.SameCheck(from.C, to.C) {
						statement = fmt.Sprintf(`ALTER TABLE "%s" RENAME CONSTRAINT "%s" TO "%s"`, m.T.Name, from.C.Name, to.C.Name)
					}
				}
				if statement != "" {
					done[from], done[to] = true, true
					if err := p.add(ctx, "", false, migrate.Statement{Text: statement}); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

func sameIndex(a, b *atlas.Index) bool {
	return a.Unique == b.Unique && fmt.Sprint(parts(a)) == fmt.Sprint(parts(b)) && attributes(a) == attributes(b)
}

// attributes describes the attributes of an index other than its parts: method, predicate, included
// columns.
func attributes(i *atlas.Index) string {
	var list []string
	for _, a := range i.Attrs {
		list = append(list, fmt.Sprintf("%T", a))
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

func parts(i *atlas.Index) (list []string) {
	for _, part := range i.Parts {
		switch {
		case part.C != nil:
			list = append(list, fmt.Sprint(part.C.Name, part.Desc))
		case part.X != nil:
			list = append(list, fmt.Sprint(part.X, part.Desc))
		}
	}
	return list
}
