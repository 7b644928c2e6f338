package counters

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"chairside/internal/entx"
	"chairside/internal/store/triggers"

	"entgo.io/ent/dialect"
)

// Step is a group of statements for one migration file. Each file is applied in a transaction
// of its own.
type Step struct {
	Name       string // suffix of the file's name; "" for the first step
	Statements []string
}

// Plan returns the steps that make a database maintain the counters of the schema; none if it
// does so already. Its tables must already be those of the schema. Plan is for writing
// migrations.
//
// On SQLite, which has one writer, a single step creates the triggers of a table again and
// counts its rows. On PostgreSQL clients continue to write meanwhile:
//
//   - The first step replaces functions and triggers, and deletes the counters that are new,
//     changed or no longer declared. It locks each table for some milliseconds. When it gets
//     the lock, every transaction that wrote under the old triggers has ended; every later one
//     adds its changes under the new ones.
//   - The second step counts without a lock. It is one statement, so it sees one snapshot: the
//     rows, minus the changes that the new triggers have already added.
//
// Unchanged counters are left alone, and a table with only unchanged counters is not locked.
//
// before are the tables that had counters before the migration (Counted). Counters of tables
// that were dropped or renamed are deleted.
func (c *Counters) Plan(ctx context.Context, before ...string) ([]Step, error) {
	have, want, err := c.haveAndWant(ctx)
	if err != nil {
		return nil, fmt.Errorf("store: plan counters: %w", err)
	}
	first, count := Step{}, Step{Name: "count"}
	planned := triggersOf(c.dialect, c.tables)
	for _, existing := range have {
		if !slices.ContainsFunc(planned, func(t Triggers) bool { return t.table == existing.Table }) {
			planned = append(planned, Triggers{dialect: c.dialect, table: existing.Table}) // no longer has counters
		}
	}
	for _, t := range planned {
		old, fresh := ofTable(have, t.table), ofTable(want, t.table)
		switch {
		case maps.Equal(old, fresh):
		case c.postgres():
			statements, counting := t.replace(old, fresh)
			first.Statements = append(first.Statements, statements...)
			count.Statements = append(count.Statements, counting...)
		default:
			first.Statements = append(first.Statements, t.renew(old)...)
		}
	}
	for _, table := range before {
		t := Triggers{dialect: c.dialect, table: table}
		if !slices.ContainsFunc(planned, func(p Triggers) bool { return p.table == table }) {
			first.Statements = append(first.Statements, t.forget(have)...)
		}
	}
	return slices.DeleteFunc([]Step{first, count}, func(s Step) bool { return len(s.Statements) == 0 }), nil
}

// Counted returns the tables whose counters triggers maintain.
func (c *Counters) Counted(ctx context.Context) (tables []string, err error) {
	read := func() (map[string]triggers.Trigger, error) { return triggers.SQLite(ctx, c.pool) }
	if c.postgres() {
		read = func() (map[string]triggers.Trigger, error) { return triggers.Postgres(ctx, c.pool, "public") }
	}
	found, err := read()
	if err != nil {
		return nil, err
	}
	for name, t := range found {
		if name == (Triggers{table: t.Table}).name("INSERT") {
			tables = append(tables, t.Table)
		}
	}
	slices.Sort(tables)
	return tables, nil
}

// forget deletes the counters of a dropped or renamed table, and the functions that its dropped
// triggers have left behind. Functions of triggers that still exist, as after a rename, are
// dropped together with those.
func (t Triggers) forget(have map[string]triggers.Trigger) (plan []string) {
	if t.dialect == dialect.Postgres {
		for _, event := range events {
			if _, there := have[t.name(event)]; !there {
				plan = append(plan, "DROP FUNCTION IF EXISTS "+t.name(event)+"()")
			}
		}
		plan = append(plan, "DELETE FROM "+ChangesTable+" WHERE counter LIKE '"+t.table+".%'")
	}
	return append(plan, "DELETE FROM "+Table+" WHERE counter LIKE '"+t.table+".%'")
}

// renew creates the triggers of an SQLite table again and counts its rows.
func (t Triggers) renew(old map[string]triggers.Trigger) (plan []string) {
	for _, name := range slices.Sorted(maps.Keys(old)) {
		plan = append(plan, "DROP TRIGGER "+name)
	}
	plan = append(plan, "DELETE FROM "+Table+" WHERE counter LIKE '"+t.table+".%'")
	if len(t.counters) > 0 {
		plan = append(plan, t.statements()...)
		plan = append(plan, "INSERT INTO "+Table+" (counter, practice_id, key, n)\n  "+t.countQuery())
	}
	return plan
}

// replace returns the statements of both steps that turn the triggers of a PostgreSQL table
// from old into fresh.
func (t Triggers) replace(old, fresh map[string]triggers.Trigger) (first, count []string) {
	var counted, unchanged []string // names of the counters to count, and of the others, quoted
	recounted := Triggers{dialect: t.dialect, table: t.table}
	for _, c := range t.counters {
		if t.maintained(c, old) {
			unchanged = append(unchanged, quote(c.Name))
		} else {
			counted, recounted.counters = append(counted, quote(c.Name)), append(recounted.counters, c)
		}
	}
	var makes, drops []string
	statements := t.statements()
	for i := 0; len(t.counters) > 0 && i < len(statements); i += 2 { // a function, then its trigger
		name, _, _ := strings.Cut(strings.TrimPrefix(statements[i+1], "CREATE TRIGGER "), " ")
		if old[name].Body != fresh[name].Body {
			makes = append(makes, statements[i])
		}
		if old[name].Definition != fresh[name].Definition {
			if _, there := old[name]; there {
				makes = append(makes, "DROP TRIGGER "+name+" ON "+t.table)
			}
			makes = append(makes, statements[i+1])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(old)) {
		if _, stays := fresh[name]; !stays {
			drops = append(drops, "DROP TRIGGER "+name+" ON "+t.table, "DROP FUNCTION "+name+"()")
		}
	}
	// gone selects the counters of the table to delete: all but the unchanged ones.
	gone := "counter LIKE '" + t.table + ".%'"
	if len(unchanged) > 0 {
		gone += " AND counter NOT IN (" + strings.Join(unchanged, ", ") + ")"
	}
	deletes := len(counted) > 0 || len(unchanged) < len(countersOf(old))
	plan := slices.Concat(makes, drops)
	triggersChange := slices.ContainsFunc(plan, func(s string) bool { return !strings.HasPrefix(s, "CREATE OR REPLACE FUNCTION") })
	switch {
	case triggersChange: // DROP TRIGGER needs this lock; upgrading to it later could deadlock
		first = append(first, "LOCK TABLE "+t.table+" IN ACCESS EXCLUSIVE MODE")
	case deletes: // no one may write while the functions change
		first = append(first, "LOCK TABLE "+t.table+" IN SHARE ROW EXCLUSIVE MODE")
	}
	first = append(first, plan...)
	if deletes {
		// Changes are deleted first: this waits for a compaction that is moving some of
		// them into counters.
		first = append(first, "DELETE FROM "+ChangesTable+" WHERE "+gone, "DELETE FROM "+Table+" WHERE "+gone)
	}
	if len(recounted.counters) > 0 {
		count = append(count, recounted.countMissing(strings.Join(counted, ", ")))
	}
	return first, count
}

// countMissing adds what the counters lack: the rows, minus what is counted already. It is one
// statement, so it sees a row if, and only if, it sees the change that the row's transaction
// added. So it needs no lock on PostgreSQL, and running it again adds nothing.
func (t Triggers) countMissing(names string) string {
	return fmt.Sprintf(`INSERT INTO %[1]s (counter, practice_id, key, n)
SELECT counter, practice_id, key, sum(n) FROM (
  %[3]s
  UNION ALL SELECT counter, practice_id, key, -n FROM %[2]s WHERE counter IN (%[4]s)
  UNION ALL SELECT counter, practice_id, key, -n FROM %[1]s WHERE counter IN (%[4]s)
) AS missing GROUP BY counter, practice_id, key HAVING sum(n) <> 0`, ChangesTable, Table, t.countQuery(), names)
}

// counterLine matches the line of each counter in the function of a trigger (Triggers.lineOf).
var counterLine = regexp.MustCompile(`(?m)^    (\('([a-z0-9_.]+)', .*\)),?$`)

// countersOf returns the names of the counters that triggers maintain.
func countersOf(have map[string]triggers.Trigger) map[string]bool {
	names := map[string]bool{}
	for _, t := range have {
		for _, found := range counterLine.FindAllStringSubmatch(t.Body, -1) {
			names[found[2]] = true
		}
	}
	return names
}

// maintained reports whether the triggers maintain a counter as it is declared now.
func (t Triggers) maintained(c entx.Counter, have map[string]triggers.Trigger) bool {
	for _, event := range events {
		existing, ok := have[t.name(event)]
		if !ok || !strings.Contains(existing.Definition, " "+triggers.Enabled) {
			return false
		}
		if event == "TRUNCATE" {
			continue // it subtracts every counter of the table
		}
		lines := counterLine.FindAllStringSubmatch(existing.Body, -1)
		if !slices.ContainsFunc(lines, func(found []string) bool { return found[1] == t.lineOf(c) }) {
			return false
		}
	}
	// The update trigger only runs for changes of the columns that its condition names.
	update := have[t.name("UPDATE")].Definition
	return !slices.ContainsFunc(c.Columns, func(name string) bool { return !strings.Contains(strings.ToLower(update), "old."+name) })
}

func quote(text string) string { return "'" + text + "'" }

func ofTable(all map[string]triggers.Trigger, table string) map[string]triggers.Trigger {
	found := maps.Clone(all)
	maps.DeleteFunc(found, func(_ string, t triggers.Trigger) bool { return t.Table != table })
	return found
}

// haveAndWant returns the triggers that the database has, other than the change feed's, and those
// of counters that it should have.
func (c *Counters) haveAndWant(ctx context.Context) (have, want map[string]triggers.Trigger, err error) {
	defer func() {
		maps.DeleteFunc(have, func(name string, _ triggers.Trigger) bool { return strings.HasPrefix(name, triggers.FeedPrefix) })
	}()
	if !c.postgres() {
		have, err = triggers.SQLite(ctx, c.pool)
		return have, triggers.Wanted(Statements(c.dialect, c.tables)), err
	}
	tx, err := c.pool.BeginTx(ctx, nil)
	if err != nil {
		return nil, nil, err
	}
	defer tx.Rollback()
	if have, err = triggers.Postgres(ctx, tx, "public"); err != nil {
		return nil, nil, err
	}
	const scratch = "chairside_plan"
	statements := []string{"CREATE SCHEMA " + scratch, "SET LOCAL search_path = " + scratch + ", public"}
	for _, t := range triggersOf(c.dialect, c.tables) {
		statements = append(statements, "CREATE TABLE "+t.table+" (LIKE public."+t.table+")")
		statements = append(statements, t.statements()...)
	}
	if _, err := tx.ExecContext(ctx, strings.Join(statements, ";\n")); err != nil {
		return nil, nil, err
	}
	want, err = triggers.Postgres(ctx, tx, scratch)
	return have, want, err
}
