package store

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"entgo.io/ent/dialect"

	"chairside/ent"
)

// Step is a group of statements for a migration file of their own: the file of
// one step is applied in a transaction that has ended before the next begins.
type Step struct {
	Name       string // what the name of the file ends in; "" for the first
	Statements []string
}

// PlanTotals gives the steps after which a database, whose tables are the
// schema's already, keeps the totals that the schema declares; none where it
// does. It is for writing migrations.
//
// On SQLite, which has one writer, one step makes the triggers of a table anew
// and counts its totals. On PostgreSQL clients go on writing:
//
//   - the first step replaces functions and triggers and forgets the totals
//     that are new, changed or gone. It holds each table's lock for some
//     milliseconds. Every transaction that wrote under the old triggers
//     has ended when it gets the lock, and every later one notes its changes;
//   - the second counts, without a lock, in one statement and so in one state
//     of the database: what the rows amount to, less what has been noted since.
//
// Totals that stay what they were are left alone, and a table of which only such
// totals are kept is not even locked.
//
// before are the CountedTables of the state that is migrated. The totals of those
// that are gone, or have another name, are forgotten: no trigger mentions them any more.
func (db *DB) PlanTotals(ctx context.Context, before ...string) ([]Step, error) {
	have, want, err := db.triggers(ctx)
	if err != nil {
		return nil, fmt.Errorf("store: plan totals: %w", err)
	}
	first, count := Step{}, Step{Name: "count"}
	planned := keepers(db.Dialect, db.tables)
	for _, t := range have {
		if !slices.ContainsFunc(planned, func(k keeper) bool { return k.table == t.table }) {
			planned = append(planned, keeper{dialect: db.Dialect, table: t.table}) // keeps nothing any more
		}
	}
	for _, k := range planned {
		old, fresh := ofTable(have, k.table), ofTable(want, k.table)
		switch {
		case maps.Equal(old, fresh):
		case db.postgres():
			statements, counting := k.replace(old, fresh)
			first.Statements = append(first.Statements, statements...)
			count.Statements = append(count.Statements, counting...)
		default:
			first.Statements = append(first.Statements, k.renew(old)...)
		}
	}
	for _, table := range before {
		if k := (keeper{dialect: db.Dialect, table: table}); !slices.ContainsFunc(planned, func(p keeper) bool { return p.table == table }) {
			first.Statements = append(first.Statements, k.forget(have)...)
		}
	}
	return slices.DeleteFunc([]Step{first, count}, func(s Step) bool { return len(s.Statements) == 0 }), nil
}

// CountedTables are those whose totals triggers keep.
func (db *DB) CountedTables(ctx context.Context) (tables []string, err error) {
	read := func() (map[string]trigger, error) { return sqliteTriggers(ctx, db.SQL) }
	if db.postgres() {
		read = func() (map[string]trigger, error) { return postgresTriggers(ctx, db.SQL, "public") }
	}
	found, err := read()
	if err != nil {
		return nil, err
	}
	for name, t := range found {
		if name == (keeper{table: t.table}).name("INSERT") {
			tables = append(tables, t.table)
		}
	}
	slices.Sort(tables)
	return tables, nil
}

// forget removes the totals of a table that is gone, and the functions that its
// triggers have left behind. Those of a renamed table go with the triggers in have.
func (k keeper) forget(have map[string]trigger) (plan []string) {
	if k.dialect == dialect.Postgres {
		for _, event := range []string{"INSERT", "DELETE", "UPDATE", "TRUNCATE"} {
			if _, there := have[k.name(event)]; !there {
				plan = append(plan, "DROP FUNCTION IF EXISTS "+k.name(event)+"()")
			}
		}
		plan = append(plan, "DELETE FROM "+changeTable+" WHERE total LIKE '"+k.table+".%'")
	}
	return append(plan, "DELETE FROM "+keptTable+" WHERE total LIKE '"+k.table+".%'")
}

// renew makes the triggers of an SQLite table anew and counts its rows.
func (k keeper) renew(old map[string]trigger) (plan []string) {
	for _, name := range slices.Sorted(maps.Keys(old)) {
		plan = append(plan, "DROP TRIGGER "+name)
	}
	plan = append(plan, "DELETE FROM "+keptTable+" WHERE total LIKE '"+k.table+".%'")
	if len(k.totals) > 0 {
		plan = append(plan, k.triggers()...)
		plan = append(plan, "INSERT INTO "+keptTable+" (total, practice_id, key, n)\n  "+k.counts())
	}
	return plan
}

// replace turns the triggers of a PostgreSQL table from old into fresh. It
// gives the statements of both steps.
func (k keeper) replace(old, fresh map[string]trigger) (first, count []string) {
	var counted, left []string // totals that are to be counted, and those that are not touched
	anew := keeper{dialect: k.dialect, table: k.table}
	for _, t := range k.totals {
		if k.kept(t, old) {
			left = append(left, quote(t.Total))
		} else {
			counted, anew.totals = append(counted, quote(t.Total)), append(anew.totals, t)
		}
	}
	var makes, drops []string
	statements := k.triggers()
	for i := 0; len(k.totals) > 0 && i < len(statements); i += 2 { // a function, then its trigger
		name, _, _ := strings.Cut(strings.TrimPrefix(statements[i+1], "CREATE TRIGGER "), " ")
		if old[name].body != fresh[name].body {
			makes = append(makes, statements[i])
		}
		if old[name].definition != fresh[name].definition {
			if _, there := old[name]; there {
				makes = append(makes, "DROP TRIGGER "+name+" ON "+k.table)
			}
			makes = append(makes, statements[i+1])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(old)) {
		if _, stays := fresh[name]; !stays {
			drops = append(drops, "DROP TRIGGER "+name+" ON "+k.table, "DROP FUNCTION "+name+"()")
		}
	}
	// Gone are the table's totals that the schema does not name any more.
	gone := "total LIKE '" + k.table + ".%'"
	if len(left) > 0 {
		gone += " AND total NOT IN (" + strings.Join(left, ", ") + ")"
	}
	forgets := len(counted) > 0 || len(left) < len(totalsOf(old))
	plan := slices.Concat(makes, drops)
	triggersChange := slices.ContainsFunc(plan, func(s string) bool { return !strings.HasPrefix(s, "CREATE OR REPLACE FUNCTION") })
	switch {
	case triggersChange: // DROP TRIGGER needs it; a lock that grew later would be a deadlock
		first = append(first, "LOCK TABLE "+k.table+" IN ACCESS EXCLUSIVE MODE")
	case forgets: // nobody is writing while the functions change
		first = append(first, "LOCK TABLE "+k.table+" IN SHARE ROW EXCLUSIVE MODE")
	}
	first = append(first, plan...)
	if forgets {
		// Changes go first: a fold that has some of them in hand has then
		// ended before the totals go.
		first = append(first, "DELETE FROM "+changeTable+" WHERE "+gone, "DELETE FROM "+keptTable+" WHERE "+gone)
	}
	if len(anew.totals) > 0 {
		count = append(count, anew.countMissing(strings.Join(counted, ", ")))
	}
	return first, count
}

// countMissing notes what the totals lack: what counting gives, less what is
// kept. It is one statement, which sees a row exactly if it also sees the note
// that the row's transaction made. On PostgreSQL it therefore needs no lock, and
// repeated it adds nothing.
func (k keeper) countMissing(names string) string {
	return fmt.Sprintf(`INSERT INTO %[1]s (total, practice_id, key, n)
SELECT total, practice_id, key, sum(n) FROM (
  %[3]s
  UNION ALL SELECT total, practice_id, key, -n FROM %[2]s WHERE total IN (%[4]s)
  UNION ALL SELECT total, practice_id, key, -n FROM %[1]s WHERE total IN (%[4]s)
) AS missing GROUP BY total, practice_id, key HAVING sum(n) <> 0`, changeTable, keptTable, k.counts(), names)
}

// noted finds the totals in the function of a trigger (keeper.note): name, key
// and condition.
var noted = regexp.MustCompile(`(?m)^    (\('([a-z0-9_.]+)', .*\)),?$`)

// totalsOf are the names of the totals that triggers keep.
func totalsOf(triggers map[string]trigger) map[string]bool {
	names := map[string]bool{}
	for _, t := range triggers {
		for _, found := range noted.FindAllStringSubmatch(t.body, -1) {
			names[found[2]] = true
		}
	}
	return names
}

// kept reports whether triggers keep a total as it is declared now.
func (k keeper) kept(total ent.Kept, triggers map[string]trigger) bool {
	for _, event := range []string{"INSERT", "DELETE", "UPDATE", "TRUNCATE"} {
		t, ok := triggers[k.name(event)]
		if !ok || !strings.Contains(t.definition, " "+enabled) {
			return false
		}
		if event == "TRUNCATE" {
			continue // it notes all of the table's
		}
		notes := noted.FindAllStringSubmatch(t.body, -1)
		if !slices.ContainsFunc(notes, func(found []string) bool { return found[1] == k.noteOf(total) }) {
			return false
		}
	}
	// An update is noted for changes of the columns that the trigger names.
	update := triggers[k.name("UPDATE")].definition
	return !slices.ContainsFunc(total.Columns, func(c string) bool { return !strings.Contains(strings.ToLower(update), "old."+c) })
}

func quote(text string) string { return "'" + text + "'" }

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
	tx, err := db.SQL.BeginTx(ctx, nil)
	if err != nil {
		return nil, nil, err
	}
	defer tx.Rollback()
	if have, err = postgresTriggers(ctx, tx, "public"); err != nil {
		return nil, nil, err
	}
	const scratch = "chairside_plan"
	statements := []string{"CREATE SCHEMA " + scratch, "SET LOCAL search_path = " + scratch + ", public"}
	for _, k := range keepers(db.Dialect, db.tables) {
		statements = append(statements, "CREATE TABLE "+k.table+" (LIKE public."+k.table+")")
		statements = append(statements, k.triggers()...)
	}
	if _, err := tx.ExecContext(ctx, strings.Join(statements, ";\n")); err != nil {
		return nil, nil, err
	}
	want, err = postgresTriggers(ctx, tx, scratch)
	return have, want, err
}
