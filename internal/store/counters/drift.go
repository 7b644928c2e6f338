package counters

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	"entgo.io/ent/dialect/sql/schema"
)

// trigger is a trigger as the database describes it: its table, its definition and, on
// PostgreSQL, the body of its function. Equal triggers have equal texts.
type trigger struct{ table, definition, body string }

// enabled ends the definition of a PostgreSQL trigger that runs (pg_trigger.tgenabled).
const enabled = "[O]"

// postgresTriggers reads the triggers of a PostgreSQL schema by their names.
func postgresTriggers(ctx context.Context, conn entsql.ExecQuerier, schemaName string) (map[string]trigger, error) {
	// pg_get_triggerdef qualifies names or not, depending on the search path.
	const query = `
		SELECT t.tgname, c.relname, replace(pg_get_triggerdef(t.oid), quote_ident(n.nspname) || '.', '') || ' [' || t.tgenabled::text || ']', f.prosrc
		FROM pg_trigger t
		JOIN pg_class c ON c.oid = t.tgrelid
		JOIN pg_namespace n ON n.oid = c.relnamespace
		JOIN pg_proc f ON f.oid = t.tgfoid
		WHERE NOT t.tgisinternal AND n.nspname = $1`
	return readTriggers(ctx, conn, query, schemaName)
}

// sqliteTriggers reads the triggers of an embedded database by their names.
func sqliteTriggers(ctx context.Context, conn entsql.ExecQuerier) (map[string]trigger, error) {
	return readTriggers(ctx, conn, "SELECT name, tbl_name, sql, '' FROM sqlite_schema WHERE type = 'trigger'")
}

func readTriggers(ctx context.Context, conn entsql.ExecQuerier, query string, args ...any) (map[string]trigger, error) {
	rows, err := conn.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("store: read the triggers: %w", err)
	}
	defer rows.Close()
	found := map[string]trigger{}
	for rows.Next() {
		var name string
		var t trigger
		if err := rows.Scan(&name, &t.table, &t.definition, &t.body); err != nil {
			return nil, fmt.Errorf("store: read the triggers: %w", err)
		}
		found[name] = t
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("store: read the triggers: %w", err)
	}
	return found, nil
}

// wantedSQLiteTriggers returns the triggers that an embedded database should have. SQLite
// keeps the text of a trigger as written.
func wantedSQLiteTriggers(tables []*schema.Table) map[string]trigger {
	wanted := map[string]trigger{}
	for _, t := range triggersOf(dialect.SQLite, tables) {
		for _, text := range t.statements() {
			name, _, _ := strings.Cut(strings.TrimPrefix(text, "CREATE TRIGGER "), " ")
			wanted[name] = trigger{table: t.table, definition: text}
		}
	}
	return wanted
}

// DriftPostgres describes how the triggers of the schema live differ from those of the
// schema scratch, in which Statements have run.
func DriftPostgres(ctx context.Context, conn entsql.ExecQuerier, live, scratch string) ([]string, error) {
	have, err := postgresTriggers(ctx, conn, live)
	if err != nil {
		return nil, err
	}
	want, err := postgresTriggers(ctx, conn, scratch)
	return differences(have, want), err
}

// DriftSQLite describes how the triggers of an embedded database differ from those of
// tables.
func DriftSQLite(ctx context.Context, conn entsql.ExecQuerier, tables []*schema.Table) ([]string, error) {
	have, err := sqliteTriggers(ctx, conn)
	return differences(have, wantedSQLiteTriggers(tables)), err
}

// differences describes how have differs from want, sorted by the triggers' names.
func differences(have, want map[string]trigger) (list []string) {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		of := "trigger " + name + " of " + want[name].table
		if t, ok := have[name]; !ok {
			list = append(list, of+" is missing")
		} else if t != want[name] {
			list = append(list, of+" differs")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(have)) {
		if _, ok := want[name]; !ok {
			list = append(list, "trigger "+name+" of "+have[name].table+" is not in the schema")
		}
	}
	return list
}
