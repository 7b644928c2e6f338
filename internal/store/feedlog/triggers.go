package feedlog

import (
	"fmt"
	"slices"
	"strings"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql/schema"

	"chairside/ent"
	"chairside/ent/feedchange"
	"chairside/ent/feedstate"
	"chairside/internal/entx/table"
	"chairside/internal/seal"
	"chairside/internal/store/triggers"
)

// prefix begins the names of all triggers of the feed.
const prefix = triggers.FeedPrefix

const (
	changesTable = feedchange.Table
	stateTable   = feedstate.Table
)

// recorder writes the SQL of the triggers that record the changes of one table.
//
// On PostgreSQL they run once for each statement, so that a bulk load is recorded by one insert.
// Updates of a table with columns of bookkeeping are the exception: only a row trigger can skip
// rows by a condition.
type recorder struct {
	dialect string
	table   string
	sources []table.FeedSource // of the table
}

// recorders returns the recorder of each of the tables that the feed records.
func recorders(dialectName string, tables []*schema.Table) (all []recorder) {
	for _, t := range tables {
		r := recorder{dialect: dialectName, table: t.Name}
		for _, s := range ent.FeedSources {
			if s.Table == t.Name {
				r.sources = append(r.sources, s)
			}
		}
		if len(r.sources) > 0 {
			all = append(all, r)
		}
	}
	return all
}

// Statements returns the statements that create the triggers of tables.
func Statements(dialectName string, tables []*schema.Table) (statements []string) {
	for _, r := range recorders(dialectName, tables) {
		statements = append(statements, r.statements()...)
	}
	return statements
}

func (r recorder) postgres() bool { return r.dialect == dialect.Postgres }

// events are the events for which a PostgreSQL table has triggers.
var events = []string{"INSERT", "UPDATE", "DELETE", "TRUNCATE"}

// name returns the name of the trigger for an event, which is also that of its function.
func (r recorder) name(event string) string {
	return prefix + r.table + "_" + strings.ToLower(event)
}

// statements returns the statements that create the triggers, on PostgreSQL each preceded by its
// function.
func (r recorder) statements() []string {
	compared := r.compared()
	if !r.postgres() {
		when := ""
		if compared != "" {
			when = " WHEN " + compared
		}
		return []string{
			r.sqliteTrigger("INSERT", "", "NEW"),
			r.sqliteTrigger("UPDATE", when, "NEW"),
			r.sqliteTrigger("DELETE", "", "OLD"),
		}
	}
	const newRow = "(SELECT NEW.*) AS written"
	// Without a table of the new rows, a booking costs 4 % less. Rows that are part of a record
	// need it: a record that gets several parts changes once.
	insert, inserted := "FOR EACH ROW", newRow
	if slices.ContainsFunc(r.sources, func(s table.FeedSource) bool { return s.Part }) {
		insert, inserted = "REFERENCING NEW TABLE AS written FOR EACH STATEMENT", "written"
	}
	update, rows := "REFERENCING NEW TABLE AS written FOR EACH STATEMENT", "written"
	switch {
	case compared != "":
		update, rows = "FOR EACH ROW WHEN ("+compared+")", newRow+", (SELECT OLD.*) AS before"
	case slices.ContainsFunc(r.sources, func(s table.FeedSource) bool { return s.Part || canMove(s) }):
		update, rows = "REFERENCING OLD TABLE AS before NEW TABLE AS written FOR EACH STATEMENT", "written JOIN before ON before.id = written.id"
	}
	return slices.Concat(
		r.postgresTrigger("INSERT", insert, r.record("INSERT", inserted)),
		r.postgresTrigger("UPDATE", update, r.record("UPDATE", rows)),
		r.postgresTrigger("DELETE", "REFERENCING OLD TABLE AS written FOR EACH STATEMENT", r.record("DELETE", "written")),
		// The rows are not known, so readers must start again from a snapshot.
		r.postgresTrigger("TRUNCATE", "FOR EACH STATEMENT", "\n  "+RenewEpoch(r.dialect)+";"),
	)
}

// compared returns the condition under which an update of a row is a change; "" if every one is.
func (r recorder) compared() string {
	columns := r.sources[0].Compared
	if len(columns) == 0 {
		return ""
	}
	row := func(name string) string { return "(" + name + "." + strings.Join(columns, ", "+name+".") + ")" }
	differs := "IS NOT"
	if r.postgres() {
		differs = "IS DISTINCT FROM"
	}
	condition := row("OLD") + " " + differs + " " + row("NEW")
	for _, c := range r.sources[0].Sealed {
		before, after := "OLD."+c, "NEW."+c
		condition += fmt.Sprintf(" OR %s %s %s AND coalesce(%s = %s, true)", before, differs, after, seal.KeyIDExpression(before), seal.KeyIDExpression(after))
	}
	return condition
}

func (r recorder) postgresTrigger(event, when, body string) []string {
	name := r.name(event)
	return []string{
		"CREATE OR REPLACE FUNCTION " + name + "() RETURNS trigger LANGUAGE plpgsql AS $$\nBEGIN" + body + "\n  RETURN NULL;\nEND\n$$",
		"CREATE TRIGGER " + name + " AFTER " + event + " ON " + r.table + " " + when + " EXECUTE FUNCTION " + name + "()",
	}
}

// eventOf are the events of the feed.
var eventOf = map[string]string{"INSERT": "created", "UPDATE": "updated", "DELETE": "deleted"}

// record returns the statements of a PostgreSQL function that insert the changes of rows.
func (r recorder) record(event, rows string) (body string) {
	for _, s := range r.sources {
		what, from := eventOf[event], rows
		columns := fmt.Sprintf("written.practice_id, '%s', CAST(written.%s AS text)", s.Resource, s.Record)
		if s.Part {
			what = "updated"
			if event == "UPDATE" { // a part can move from one record to another
				from = fmt.Sprintf("(SELECT practice_id, %[1]s FROM written UNION SELECT practice_id, %[1]s FROM before) AS written", s.Record)
			} else {
				from = fmt.Sprintf("(SELECT DISTINCT practice_id, %s FROM written) AS written", s.Record)
			}
			from += fmt.Sprintf(" WHERE written.%s IS NOT NULL", s.Record)
		}
		body += fmt.Sprintf("\n  INSERT INTO %s (practice_id, resource, record_id, event, at, site_key, origin)\n  SELECT %s, '%s', now(), %s, txid_current() FROM %s;",
			changesTable, columns, what, siteOf(s, event, "before", "written"), from)
	}
	return body
}

func (r recorder) sqliteTrigger(event, when, row string) string {
	body := ""
	for _, s := range r.sources {
		what, condition := eventOf[event], ""
		if s.Part {
			what, condition = "updated", fmt.Sprintf(" WHERE %s.%s IS NOT NULL", row, s.Record)
		}
		body += r.sqliteRecord(s, what, row, siteOf(s, event, "OLD", row), condition)
		if s.Part && event == "UPDATE" {
			body += r.sqliteRecord(s, what, "OLD", "NULL", fmt.Sprintf(" WHERE OLD.%[1]s IS NOT NULL AND OLD.%[1]s IS NOT NEW.%[1]s", s.Record))
		}
	}
	return "CREATE TRIGGER " + r.name(event) + " AFTER " + event + " ON " + r.table + when + " BEGIN" + body + "\nEND"
}

// sqliteRecord returns the statements of an SQLite trigger that insert one change. There is one
// writer, so the change gets its seq at once.
func (r recorder) sqliteRecord(s table.FeedSource, event, row, site, condition string) string {
	return strings.NewReplacer(
		"CHANGES", changesTable, "STATE", stateTable, "ROW", row, "RESOURCE", s.Resource, "RECORD", s.Record,
		"EVENT", event, "SITE", site, "ENTRY", lastAuditEntry, "CONDITION", condition,
	).Replace(`
  UPDATE STATE SET last_seq = last_seq + 1CONDITION;
  INSERT INTO CHANGES (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, ROW.practice_id, 'RESOURCE', CAST(ROW.RECORD AS text), 'EVENT', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, SITE, ENTRY FROM STATECONDITION;`)
}

// lastAuditEntry is the id of the last entry of the audit log on SQLite.
const lastAuditEntry = "coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0)"

// canMove reports whether updates can lead a record to another site.
func canMove(s table.FeedSource) bool { return !s.Part && s.Site != "" && s.Site != s.Record }

// siteOf returns the SQL expression for site_key: the site, or the row that has the site, of a
// record that an event takes from there; NULL for other events. It reads no other table, because
// SQLite cannot rebuild a table that a trigger names.
func siteOf(s table.FeedSource, event, old, row string) string {
	switch {
	case event == "DELETE" && !s.Part && s.Site != "":
		return "CAST(" + row + "." + s.Site + " AS text)"
	case event == "UPDATE" && canMove(s):
		return fmt.Sprintf("nullif(CAST(%[1]s.%[3]s AS text), CAST(%[2]s.%[3]s AS text))", old, row, s.Site)
	}
	return "NULL"
}

// RenewEpoch returns the statement that makes all cursors expire.
func RenewEpoch(dialectName string) string {
	return "UPDATE " + stateTable + " SET epoch = " + randomEpoch(dialectName)
}

func randomEpoch(dialectName string) string {
	if dialectName == dialect.Postgres {
		return "CAST(gen_random_uuid() AS text)"
	}
	return "lower(hex(randomblob(16)))"
}
