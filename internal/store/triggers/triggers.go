// Package triggers reads the triggers of a database and compares them with those that it
// should have. Packages counters and feedlog write their SQL.
package triggers

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"

	entsql "entgo.io/ent/dialect/sql"
)

// Trigger is a trigger as the database describes it: its table, its definition and, on
// PostgreSQL, the body of its function. Equal triggers have equal texts.
type Trigger struct{ Table, Definition, Body string }

// FeedPrefix begins the names of the triggers of package feedlog.
const FeedPrefix = "feed_"

// Enabled ends the definition of a PostgreSQL trigger that runs (pg_trigger.tgenabled).
const Enabled = "[O]"

// Postgres reads the triggers of a PostgreSQL schema by their names.
func Postgres(ctx context.Context, conn entsql.ExecQuerier, schemaName string) (map[string]Trigger, error) {
	// pg_get_triggerdef qualifies names or not, depending on the search path.
	const query = `
		SELECT t.tgname, c.relname, replace(pg_get_triggerdef(t.oid), quote_ident(n.nspname) || '.', '') || ' [' || t.tgenabled::text || ']', f.prosrc
		FROM pg_trigger t
		JOIN pg_class c ON c.oid = t.tgrelid
		JOIN pg_namespace n ON n.oid = c.relnamespace
		JOIN pg_proc f ON f.oid = t.tgfoid
		WHERE NOT t.tgisinternal AND n.nspname = $1`
	return read(ctx, conn, query, schemaName)
}

// SQLite reads the triggers of an embedded database by their names.
func SQLite(ctx context.Context, conn entsql.ExecQuerier) (map[string]Trigger, error) {
	return read(ctx, conn, "SELECT name, tbl_name, sql, '' FROM sqlite_schema WHERE type = 'trigger'")
}

func read(ctx context.Context, conn entsql.ExecQuerier, query string, args ...any) (map[string]Trigger, error) {
	rows, err := conn.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("store: read the triggers: %w", err)
	}
	defer rows.Close()
	found := map[string]Trigger{}
	for rows.Next() {
		var name string
		var t Trigger
		if err := rows.Scan(&name, &t.Table, &t.Definition, &t.Body); err != nil {
			return nil, fmt.Errorf("store: read the triggers: %w", err)
		}
		found[name] = t
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("store: read the triggers: %w", err)
	}
	return found, nil
}

// creates matches the statement that creates a trigger.
var creates = regexp.MustCompile(`^CREATE TRIGGER (\w+) AFTER \w+ ON (\w+)`)

// Name returns the name and the table of the trigger that a statement creates; "" if it
// creates none.
func Name(statement string) (name, table string) {
	if found := creates.FindStringSubmatch(statement); found != nil {
		return found[1], found[2]
	}
	return "", ""
}

// Wanted returns the triggers that statements create in an embedded database. SQLite keeps the
// text of a trigger as written.
func Wanted(statements []string) map[string]Trigger {
	wanted := map[string]Trigger{}
	for _, text := range statements {
		if name, table := Name(text); name != "" {
			wanted[name] = Trigger{Table: table, Definition: text}
		}
	}
	return wanted
}

// DriftPostgres describes how the triggers of the schema live differ from those of the schema
// scratch, in which the statements of all triggers have run.
func DriftPostgres(ctx context.Context, conn entsql.ExecQuerier, live, scratch string) ([]string, error) {
	have, err := Postgres(ctx, conn, live)
	if err != nil {
		return nil, err
	}
	want, err := Postgres(ctx, conn, scratch)
	return differences(have, want), err
}

// DriftSQLite describes how the triggers of an embedded database differ from those that
// statements create.
func DriftSQLite(ctx context.Context, conn entsql.ExecQuerier, statements []string) ([]string, error) {
	have, err := SQLite(ctx, conn)
	return differences(have, Wanted(statements)), err
}

// differences describes how have differs from want, sorted by the triggers' names.
func differences(have, want map[string]Trigger) (list []string) {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		of := "trigger " + name + " of " + want[name].Table
		if t, ok := have[name]; !ok {
			list = append(list, of+" is missing")
		} else if t != want[name] {
			list = append(list, of+" differs")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(have)) {
		if _, ok := want[name]; !ok {
			list = append(list, "trigger "+name+" of "+have[name].Table+" is not in the schema")
		}
	}
	return list
}
