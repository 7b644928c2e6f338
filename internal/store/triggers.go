package store

import (
	"fmt"
	"slices"
	"strings"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql/schema"

	"chairside/ent"
)

// keeper writes the SQL that keeps the totals of one table. A trigger counts
// whatever changes the table: this program, another one, SQL by hand, COPY; and
// a transaction that is rolled back takes its counting back.
//
// On PostgreSQL a transaction that counted in the row of a total would hold up
// every other one until it ends; so the triggers only note changes, one row for
// each total and key that a statement changes, and FoldTotals adds them up
// later. SQLite has one writer, whose triggers count in the totals themselves.
type keeper struct {
	dialect string
	table   string
	totals  []ent.Kept // of the table
}

// keepers gives the keeper of each of the tables whose totals are kept.
func keepers(dialectName string, tables []*schema.Table) (all []keeper) {
	for _, t := range tables {
		k := keeper{dialect: dialectName, table: t.Name}
		for _, total := range ent.KeptTotals {
			if total.Table == t.Name {
				k.totals = append(k.totals, total)
			}
		}
		if len(k.totals) > 0 {
			all = append(all, k)
		}
	}
	return all
}

// columns are those that all the totals depend on.
func (k keeper) columns() []string {
	columns := []string{tenantColumn}
	for _, t := range k.totals {
		for _, c := range t.Columns {
			if !slices.Contains(columns, c) {
				columns = append(columns, c)
			}
		}
	}
	return columns
}

// each names columns in a format, of which ROW is the row, OLD or NEW, and
// COLUMN the name.
func each(columns []string, row, format string) string {
	var all []string
	for _, c := range columns {
		all = append(all, strings.NewReplacer("ROW", row, "COLUMN", c).Replace(format))
	}
	return strings.Join(all, ", ")
}

// key is the expression for the key of a row of total t. A day is the number of
// days since 1970, rounded down, in UTC.
func (k keeper) key(t ent.Kept) string {
	const day = "86400000000" // in microseconds, as SQLite stores moments
	switch {
	case t.By != "":
		return t.By
	case t.Day == "":
		return "0"
	case k.dialect == dialect.Postgres:
		return fmt.Sprintf("CAST((%s AT TIME ZONE 'UTC')::date - DATE '1970-01-01' AS bigint)", t.Day)
	default:
		return fmt.Sprintf("(%[1]s - (%[1]s %% %[2]s + %[2]s) %% %[2]s) / %[2]s", t.Day, day)
	}
}

// condition is what holds of the rows that total t counts.
func condition(t ent.Kept) string {
	if t.Where == "" {
		return "true"
	}
	return t.Where
}

// counts is the query of the totals as they have to be.
func (k keeper) counts() string {
	var all []string
	for _, t := range k.totals {
		all = append(all, fmt.Sprintf("SELECT '%s' AS total, practice_id, key, count(*) AS n FROM (SELECT practice_id, %s AS key FROM %s WHERE %s) AS counted GROUP BY practice_id, key",
			t.Total, k.key(t), k.table, condition(t)))
	}
	return strings.Join(all, "\n  UNION ALL ")
}

// triggers are the statements that create the triggers: on PostgreSQL a
// function before each. They have to be complete in themselves, since verify
// compares what the database has made of them.
func (k keeper) triggers() []string {
	changed := "(" + each(k.columns(), "OLD", "ROW.COLUMN") + ") IS DISTINCT FROM (" + each(k.columns(), "NEW", "ROW.COLUMN") + ")"
	if k.dialect == dialect.SQLite {
		changed = strings.Replace(changed, "IS DISTINCT FROM", "IS NOT", 1)
		return []string{
			k.sqliteTrigger("INSERT", "", k.count("NEW", 1)),
			k.sqliteTrigger("DELETE", "", k.count("OLD", -1)),
			k.sqliteTrigger("UPDATE", " WHEN "+changed, k.count("OLD", -1)+k.count("NEW", 1)),
		}
	}
	columns := strings.Join(k.columns(), ", ")
	old, fresh := each(k.columns(), "OLD", "ROW.COLUMN AS COLUMN"), each(k.columns(), "NEW", "ROW.COLUMN")
	return slices.Concat(
		k.postgresTrigger("INSERT", "REFERENCING NEW TABLE AS written FOR EACH STATEMENT", k.note("SELECT "+columns+", 1 AS change FROM written")),
		k.postgresTrigger("DELETE", "REFERENCING OLD TABLE AS written FOR EACH STATEMENT", k.note("SELECT "+columns+", -1 AS change FROM written")),
		// For each row, because only that can be made to run for few updates.
		k.postgresTrigger("UPDATE", "FOR EACH ROW WHEN ("+changed+")", k.note("SELECT "+old+", -1 AS change\n    UNION ALL SELECT "+fresh+", 1")),
		k.postgresTrigger("TRUNCATE", "FOR EACH STATEMENT", fmt.Sprintf(`
  INSERT INTO total_changes (total, practice_id, key, n)
  SELECT total, practice_id, key, -sum(n)
  FROM (SELECT total, practice_id, key, n FROM kept_totals UNION ALL SELECT total, practice_id, key, n FROM total_changes) AS kept
  WHERE total LIKE '%s.%%' GROUP BY 1, 2, 3 HAVING sum(n) <> 0;`, k.table)),
	)
}

// name is that of the trigger for an event, and of its function.
func (k keeper) name(event string) string { return "keep_" + k.table + "_" + strings.ToLower(event) }

func (k keeper) postgresTrigger(event, when, body string) []string {
	name := k.name(event)
	return []string{
		"CREATE OR REPLACE FUNCTION " + name + "() RETURNS trigger LANGUAGE plpgsql AS $$\nBEGIN" + body + "\n  RETURN NULL;\nEND\n$$",
		"CREATE TRIGGER " + name + " AFTER " + event + " ON " + k.table + " " + when + " EXECUTE FUNCTION " + name + "()",
	}
}

// note writes the changes that rows make, each with its column change: 1 for a
// row that is there now, -1 for one that was.
func (k keeper) note(rows string) string {
	var totals []string
	for _, t := range k.totals {
		totals = append(totals, k.noteOf(t))
	}
	return fmt.Sprintf(`
  INSERT INTO total_changes (total, practice_id, key, n)
  SELECT kept.total, changed.practice_id, kept.key, sum(changed.change)
  FROM (
    %s
  ) AS changed CROSS JOIN LATERAL (VALUES
    %s
  ) AS kept (total, key, counts)
  WHERE kept.counts GROUP BY 1, 2, 3 HAVING sum(changed.change) <> 0;`, rows, strings.Join(totals, ",\n    "))
}

// noteOf is the line of a function that notes total t: name, key and condition.
func (k keeper) noteOf(t ent.Kept) string {
	return fmt.Sprintf("('%s', %s, %s)", t.Total, k.key(t), condition(t))
}

func (k keeper) sqliteTrigger(event, when, body string) string {
	return "CREATE TRIGGER " + k.name(event) + " AFTER " + event + " ON " + k.table + when + " BEGIN" + body + "\nEND"
}

// count adds n to the totals that count a row, OLD or NEW.
func (k keeper) count(row string, n int) (body string) {
	for _, t := range k.totals {
		body += fmt.Sprintf(`
  INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT '%s', practice_id, %s, %d FROM (SELECT %s) WHERE %s
  ON CONFLICT (total, practice_id, key) DO UPDATE SET n = n + excluded.n;`,
			t.Total, k.key(t), n, each(append([]string{tenantColumn}, t.Columns...), row, "ROW.COLUMN AS COLUMN"), condition(t))
	}
	return body
}
