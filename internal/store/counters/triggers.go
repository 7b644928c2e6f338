package counters

import (
	"fmt"
	"slices"
	"strings"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql/schema"

	"chairside/ent"
	"chairside/internal/entx"
)

// Triggers writes the SQL of the triggers that maintain the counters of one table. They count
// every change, whether by this program, another one, SQL by hand or COPY, and a rollback
// undoes their counting.
//
// On PostgreSQL, a transaction that updated the row of a counter would block all others until
// it ended. So the triggers only insert changes, one row for each counter and key that a
// statement changes, and Compact adds them up later. SQLite has one writer, so there the
// triggers update the counters directly.
type Triggers struct {
	dialect  string
	table    string
	counters []entx.Counter // of the table
}

// triggersOf returns the triggers of each table that has counters.
func triggersOf(dialectName string, tables []*schema.Table) (all []Triggers) {
	for _, table := range tables {
		t := Triggers{dialect: dialectName, table: table.Name}
		for _, c := range ent.Counters {
			if c.Table == table.Name {
				t.counters = append(t.counters, c)
			}
		}
		if len(t.counters) > 0 {
			all = append(all, t)
		}
	}
	return all
}

// Statements returns the statements that create the triggers of tables.
func Statements(dialectName string, tables []*schema.Table) (statements []string) {
	for _, t := range triggersOf(dialectName, tables) {
		statements = append(statements, t.statements()...)
	}
	return statements
}

// columns returns the columns that any of the counters depends on.
func (t Triggers) columns() []string {
	columns := []string{practiceColumn}
	for _, c := range t.counters {
		for _, name := range c.Columns {
			if !slices.Contains(columns, name) {
				columns = append(columns, name)
			}
		}
	}
	return columns
}

// each formats each column and joins them with commas. In format, ROW stands for the row (OLD or
// NEW) and COLUMN for the name.
func each(columns []string, row, format string) string {
	var all []string
	for _, c := range columns {
		all = append(all, strings.NewReplacer("ROW", row, "COLUMN", c).Replace(format))
	}
	return strings.Join(all, ", ")
}

// key returns the SQL expression of the key under which counter c counts a row. A day is the
// number of days since 1970, rounded down, in UTC.
func (t Triggers) key(c entx.Counter) string {
	const day = "86400000000" // in microseconds, as SQLite stores times
	switch {
	case c.By != "":
		return c.By
	case c.Day == "":
		return "0"
	case t.dialect == dialect.Postgres:
		return fmt.Sprintf("CAST((%s AT TIME ZONE 'UTC')::date - DATE '1970-01-01' AS bigint)", c.Day)
	default:
		return fmt.Sprintf("(%[1]s - (%[1]s %% %[2]s + %[2]s) %% %[2]s) / %[2]s", c.Day, day)
	}
}

// condition returns the SQL condition of the rows that counter c counts.
func condition(c entx.Counter) string {
	if c.Where == "" {
		return "true"
	}
	return c.Where
}

// countQuery returns the query that counts the rows: what the counters must equal.
func (t Triggers) countQuery() string {
	var all []string
	for _, c := range t.counters {
		all = append(all, fmt.Sprintf("SELECT '%s' AS counter, practice_id, key, count(*) AS n FROM (SELECT practice_id, %s AS key FROM %s WHERE %s) AS counted GROUP BY practice_id, key",
			c.Name, t.key(c), t.table, condition(c)))
	}
	return strings.Join(all, "\n  UNION ALL ")
}

// statements returns the statements that create the triggers, on PostgreSQL each preceded by its
// function.
func (t Triggers) statements() []string {
	changed := "(" + each(t.columns(), "OLD", "ROW.COLUMN") + ") IS DISTINCT FROM (" + each(t.columns(), "NEW", "ROW.COLUMN") + ")"
	if t.dialect == dialect.SQLite {
		changed = strings.Replace(changed, "IS DISTINCT FROM", "IS NOT", 1)
		return []string{
			t.sqliteTrigger("INSERT", "", t.count("NEW", 1)),
			t.sqliteTrigger("DELETE", "", t.count("OLD", -1)),
			t.sqliteTrigger("UPDATE", " WHEN "+changed, t.count("OLD", -1)+t.count("NEW", 1)),
		}
	}
	columns := strings.Join(t.columns(), ", ")
	old, fresh := each(t.columns(), "OLD", "ROW.COLUMN AS COLUMN"), each(t.columns(), "NEW", "ROW.COLUMN")
	return slices.Concat(
		t.postgresTrigger("INSERT", "REFERENCING NEW TABLE AS written FOR EACH STATEMENT", t.addChanges("SELECT "+columns+", 1 AS change FROM written")),
		t.postgresTrigger("DELETE", "REFERENCING OLD TABLE AS written FOR EACH STATEMENT", t.addChanges("SELECT "+columns+", -1 AS change FROM written")),
		// A row trigger, because only those can skip updates by a condition.
		t.postgresTrigger("UPDATE", "FOR EACH ROW WHEN ("+changed+")", t.addChanges("SELECT "+old+", -1 AS change\n    UNION ALL SELECT "+fresh+", 1")),
		t.postgresTrigger("TRUNCATE", "FOR EACH STATEMENT", fmt.Sprintf(`
  INSERT INTO counter_changes (counter, practice_id, key, n)
  SELECT counter, practice_id, key, -sum(n)
  FROM (SELECT counter, practice_id, key, n FROM counters UNION ALL SELECT counter, practice_id, key, n FROM counter_changes) AS kept
  WHERE counter LIKE '%s.%%' GROUP BY 1, 2, 3 HAVING sum(n) <> 0;`, t.table)),
	)
}

// name returns the name of the trigger for an event, which is also that of its function.
func (t Triggers) name(event string) string { return "keep_" + t.table + "_" + strings.ToLower(event) }

func (t Triggers) postgresTrigger(event, when, body string) []string {
	name := t.name(event)
	return []string{
		"CREATE OR REPLACE FUNCTION " + name + "() RETURNS trigger LANGUAGE plpgsql AS $$\nBEGIN" + body + "\n  RETURN NULL;\nEND\n$$",
		"CREATE TRIGGER " + name + " AFTER " + event + " ON " + t.table + " " + when + " EXECUTE FUNCTION " + name + "()",
	}
}

// addChanges returns the statement of a PostgreSQL function that inserts the changes of rows. In
// rows the column change is 1 for a new row and -1 for an old one.
func (t Triggers) addChanges(rows string) string {
	var lines []string
	for _, c := range t.counters {
		lines = append(lines, t.lineOf(c))
	}
	return fmt.Sprintf(`
  INSERT INTO counter_changes (counter, practice_id, key, n)
  SELECT kept.counter, changed.practice_id, kept.key, sum(changed.change)
  FROM (
    %s
  ) AS changed CROSS JOIN LATERAL (VALUES
    %s
  ) AS kept (counter, key, counts)
  WHERE kept.counts GROUP BY 1, 2, 3 HAVING sum(changed.change) <> 0;`, rows, strings.Join(lines, ",\n    "))
}

// lineOf returns the line of counter c in such a function: name, key and condition.
func (t Triggers) lineOf(c entx.Counter) string {
	return fmt.Sprintf("('%s', %s, %s)", c.Name, t.key(c), condition(c))
}

func (t Triggers) sqliteTrigger(event, when, body string) string {
	return "CREATE TRIGGER " + t.name(event) + " AFTER " + event + " ON " + t.table + when + " BEGIN" + body + "\nEND"
}

// count returns the statements of an SQLite trigger that add n to the counters of a row, OLD or
// NEW.
func (t Triggers) count(row string, n int) (body string) {
	for _, c := range t.counters {
		body += fmt.Sprintf(`
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT '%s', practice_id, %s, %d FROM (SELECT %s) WHERE %s
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;`,
			c.Name, t.key(c), n, each(append([]string{practiceColumn}, c.Columns...), row, "ROW.COLUMN AS COLUMN"), condition(c))
	}
	return body
}
