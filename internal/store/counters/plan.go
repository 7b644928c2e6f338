package counters

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"chairside/internal/entx"

	"entgo.io/ent/dialect"
)

// Step is a group of statements for a migration file of their own: the file of
// one step is applied in a transaction that has ended before the next begins.
type Step struct {
	Name       string // what the name of the file ends in; "" for the first
	Statements []string
}

// Plan returns the steps after which a database, whose tables already are the schema's,
// maintains the counters that the schema declares; none where it does. It is for writing
// migrations.
//
// On SQLite, which has one writer, one step creates the triggers of a table again and
// counts its rows. On PostgreSQL clients go on writing:
//
//   - the first step replaces functions and triggers and deletes the counters that are new,
//     changed or gone. It holds each table's lock for some milliseconds. Every transaction
//     that wrote under the old triggers has ended when the step gets the lock, and every
//     later one notes its changes;
//   - the second counts without a lock, in one statement and so in one state of the
//     database: the rows, less what has been noted since.
//
// Counters that stay the same are left alone, and a table that has only such counters is
// not even locked.
//
// before are the Counted tables of the state that is migrated. The counters of those that
// are gone, or have another name, are deleted: no trigger mentions them any more.
func (c *Counters) Plan(ctx context.Context, before ...string) ([]Step, error) {
	have, want, err := c.triggers(ctx)
	if err != nil {
		return nil, fmt.Errorf("store: plan counters: %w", err)
	}
	first, count := Step{}, Step{Name: "count"}
	planned := of(c.dialect, c.tables)
	for _, existing := range have {
		if !slices.ContainsFunc(planned, func(t Triggers) bool { return t.table == existing.table }) {
			planned = append(planned, Triggers{dialect: c.dialect, table: existing.table}) // has no counters any more
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
	read := func() (map[string]trigger, error) { return sqliteTriggers(ctx, c.pool) }
	if c.postgres() {
		read = func() (map[string]trigger, error) { return postgresTriggers(ctx, c.pool, "public") }
	}
	found, err := read()
	if err != nil {
		return nil, err
	}
	for name, t := range found {
		if name == (Triggers{table: t.table}).name("INSERT") {
			tables = append(tables, t.table)
		}
	}
	slices.Sort(tables)
	return tables, nil
}

// forget deletes the counters of a table that is gone, and the functions that its triggers
// have left behind. Those of a renamed table go with the triggers in have.
func (t Triggers) forget(have map[string]trigger) (plan []string) {
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
func (t Triggers) renew(old map[string]trigger) (plan []string) {
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

// replace turns the triggers of a PostgreSQL table from old into fresh. It returns the
// statements of both steps.
func (t Triggers) replace(old, fresh map[string]trigger) (first, count []string) {
	var counted, left []string // counters to be counted, and those left alone
	anew := Triggers{dialect: t.dialect, table: t.table}
	for _, c := range t.counters {
		if t.maintained(c, old) {
			left = append(left, quote(c.Name))
		} else {
			counted, anew.counters = append(counted, quote(c.Name)), append(anew.counters, c)
		}
	}
	var makes, drops []string
	statements := t.statements()
	for i := 0; len(t.counters) > 0 && i < len(statements); i += 2 { // a function, then its trigger
		name, _, _ := strings.Cut(strings.TrimPrefix(statements[i+1], "CREATE TRIGGER "), " ")
		if old[name].body != fresh[name].body {
			makes = append(makes, statements[i])
		}
		if old[name].definition != fresh[name].definition {
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
	// Gone are the table's counters that the schema no longer declares.
	gone := "counter LIKE '" + t.table + ".%'"
	if len(left) > 0 {
		gone += " AND counter NOT IN (" + strings.Join(left, ", ") + ")"
	}
	forgets := len(counted) > 0 || len(left) < len(countersOf(old))
	plan := slices.Concat(makes, drops)
	triggersChange := slices.ContainsFunc(plan, func(s string) bool { return !strings.HasPrefix(s, "CREATE OR REPLACE FUNCTION") })
	switch {
	case triggersChange: // DROP TRIGGER needs it; a lock that grew later would be a deadlock
		first = append(first, "LOCK TABLE "+t.table+" IN ACCESS EXCLUSIVE MODE")
	case forgets: // nobody is writing while the functions change
		first = append(first, "LOCK TABLE "+t.table+" IN SHARE ROW EXCLUSIVE MODE")
	}
	first = append(first, plan...)
	if forgets {
		// Changes go first: a compaction that holds some of them has then ended before
		// the counters go.
		first = append(first, "DELETE FROM "+ChangesTable+" WHERE "+gone, "DELETE FROM "+Table+" WHERE "+gone)
	}
	if len(anew.counters) > 0 {
		count = append(count, anew.countMissing(strings.Join(counted, ", ")))
	}
	return first, count
}

// countMissing notes what the counters lack: the rows, less what is counted already. It is
// one statement, which sees a row exactly if it sees the note of that row's transaction.
// So it needs no lock on PostgreSQL, and running it again adds nothing.
func (t Triggers) countMissing(names string) string {
	return fmt.Sprintf(`INSERT INTO %[1]s (counter, practice_id, key, n)
SELECT counter, practice_id, key, sum(n) FROM (
  %[3]s
  UNION ALL SELECT counter, practice_id, key, -n FROM %[2]s WHERE counter IN (%[4]s)
  UNION ALL SELECT counter, practice_id, key, -n FROM %[1]s WHERE counter IN (%[4]s)
) AS missing GROUP BY counter, practice_id, key HAVING sum(n) <> 0`, ChangesTable, Table, t.countQuery(), names)
}

// noted finds the counters in the function of a trigger (Triggers.note): name, key and
// condition.
var noted = regexp.MustCompile(`(?m)^    (\('([a-z0-9_.]+)', .*\)),?$`)

// countersOf returns the names of the counters that triggers maintain.
func countersOf(triggers map[string]trigger) map[string]bool {
	names := map[string]bool{}
	for _, t := range triggers {
		for _, found := range noted.FindAllStringSubmatch(t.body, -1) {
			names[found[2]] = true
		}
	}
	return names
}

// maintained reports whether triggers maintain a counter as it is declared now.
func (t Triggers) maintained(c entx.Counter, triggers map[string]trigger) bool {
	for _, event := range events {
		existing, ok := triggers[t.name(event)]
		if !ok || !strings.Contains(existing.definition, " "+enabled) {
			return false
		}
		if event == "TRUNCATE" {
			continue // it notes every counter of the table
		}
		notes := noted.FindAllStringSubmatch(existing.body, -1)
		if !slices.ContainsFunc(notes, func(found []string) bool { return found[1] == t.noteOf(c) }) {
			return false
		}
	}
	// An update is noted for changes of the columns that the trigger names.
	update := triggers[t.name("UPDATE")].definition
	return !slices.ContainsFunc(c.Columns, func(name string) bool { return !strings.Contains(strings.ToLower(update), "old."+name) })
}

func quote(text string) string { return "'" + text + "'" }

func ofTable(triggers map[string]trigger, table string) map[string]trigger {
	found := maps.Clone(triggers)
	maps.DeleteFunc(found, func(_ string, t trigger) bool { return t.table != table })
	return found
}

// triggers returns the triggers that the database has and those that it should have.
func (c *Counters) triggers(ctx context.Context) (have, want map[string]trigger, err error) {
	if !c.postgres() {
		have, err = sqliteTriggers(ctx, c.pool)
		return have, wantedSQLiteTriggers(c.tables), err
	}
	tx, err := c.pool.BeginTx(ctx, nil)
	if err != nil {
		return nil, nil, err
	}
	defer tx.Rollback()
	if have, err = postgresTriggers(ctx, tx, "public"); err != nil {
		return nil, nil, err
	}
	const scratch = "chairside_plan"
	statements := []string{"CREATE SCHEMA " + scratch, "SET LOCAL search_path = " + scratch + ", public"}
	for _, t := range of(c.dialect, c.tables) {
		statements = append(statements, "CREATE TABLE "+t.table+" (LIKE public."+t.table+")")
		statements = append(statements, t.statements()...)
	}
	if _, err := tx.ExecContext(ctx, strings.Join(statements, ";\n")); err != nil {
		return nil, nil, err
	}
	want, err = postgresTriggers(ctx, tx, scratch)
	return have, want, err
}
