package main

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	engine "ariga.io/atlas/sql/migrate"

	"chairside/ent"
	"chairside/internal/store"
	"chairside/internal/store/migrate"
	"chairside/internal/test/localpg/pgtest"
	"chairside/internal/test/testkeys"
)

// migrated applies the files in dir to databases of both kinds that have a row in
// every table, and 40 more patients, since the baseline.
func migrated(t *testing.T, dir string, test func(t *testing.T, query func(string) string)) {
	t.Helper()
	for name, url := range map[string]string{"postgres": pgtest.New(t), "sqlite": "sqlite:" + t.TempDir() + "/test.db"} {
		db, err := store.Open(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		db.Keys = testkeys.Keys()
		defer db.Close()
		conn, err := db.SQL.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if name == "sqlite" { // as migrations are applied
			if _, err := conn.ExecContext(t.Context(), "PRAGMA foreign_keys = off"); err != nil {
				t.Fatal(err)
			}
		}
		local, err := engine.NewLocalDir(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		files, err := local.Files()
		if err != nil {
			t.Fatal(err)
		}
		driver, err := migrate.Driver(db)
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range files {
			statements, err := engine.FileStmtDecls(driver, f)
			if err != nil {
				t.Fatal(err)
			}
			var texts []string
			for _, s := range statements {
				texts = append(texts, s.Text)
			}
			if !migrate.Repeatable(f) { // a transaction, as Up applies it
				texts = slices.Concat([]string{"BEGIN"}, texts, []string{"COMMIT"})
			}
			for _, text := range texts {
				if _, err := conn.ExecContext(t.Context(), text); err != nil {
					t.Fatalf("%s: %v\n%s", f.Name(), err, text)
				}
			}
			if i == 0 {
				fill(t, conn, name)
			}
		}
		t.Run(name, func(t *testing.T) {
			test(t, func(query string) (value string) {
				if err := conn.QueryRowContext(t.Context(), query).Scan(&value); err != nil {
					t.Error(err)
				}
				return value
			})
			for _, query := range map[string][]string{
				"sqlite":   {"SELECT count(*) FROM pragma_foreign_key_check WHERE \"table\" = 'patients'"},
				"postgres": {"SELECT count(*) FROM pg_constraint WHERE NOT convalidated", "SELECT count(*) FROM pg_index WHERE NOT indisvalid"},
			}[name] {
				var n int
				if err := conn.QueryRowContext(t.Context(), query).Scan(&n); err != nil || n != 0 && name == "postgres" {
					t.Errorf("%s: %d %v", query, n, err)
				}
			}
			if found, err := db.Counters.Check(t.Context()); err != nil || len(found) > 0 {
				t.Errorf("totals: %v %v", found, err)
			}
		})
	}
}

// sample is a value within the limits of a column, in SQL, "" where it has none.
func sample(table, column string) string {
	// Rules between columns ask for these.
	switch table + "." + column {
	case "appointments.state":
		return "'Cancelled'"
	case "appointments.duration":
		return "60"
	case "invoices.status":
		return "'void'"
	case "invoices.paid":
		return "false"
	case "appointments.did_not_attend_at", "invoices.paid_on":
		return "NULL"
	case "invoices.amount_outstanding":
		return "0"
	case "report_schedules.address":
		return "''"
	case "working_sessions.start_minute":
		return "1"
	case "working_sessions.finish_minute":
		return "2"
	}
	for _, l := range ent.Limits {
		if l.Table == table && l.Name == column {
			switch v := l.Inside().(type) {
			case int64:
				return fmt.Sprint(max(v, 1))
			case string:
				return "'" + v + "'"
			}
		}
	}
	return ""
}

// triggersAre sets when PostgreSQL's triggers of the counters run: ENABLE ALWAYS
// includes a session that heeds no foreign keys.
func triggersAre(enabled string) string {
	return `DO $$
DECLARE statement text;
BEGIN
  FOR statement IN SELECT format('ALTER TABLE %s ` + enabled + ` TRIGGER %I', tgrelid::regclass, tgname) FROM pg_trigger WHERE NOT tgisinternal LOOP
    EXECUTE statement;
  END LOOP;
END
$$`
}

// fill puts a row into every table, and 41 into patients.
func fill(t *testing.T, conn *sql.Conn, kind string) {
	t.Helper()
	columns := `SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = 'public' AND to_regclass(quote_ident(table_name)) NOT IN (SELECT inhrelid FROM pg_inherits) ORDER BY 1, ordinal_position`
	if kind == "sqlite" {
		columns = `SELECT t.name, c.name, c.type FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite%' ORDER BY 1, c.cid`
	} else if _, err := conn.ExecContext(t.Context(), triggersAre("ENABLE ALWAYS")+"; SET session_replication_role = replica"); err != nil {
		t.Fatal(err)
	}
	rows, err := conn.QueryContext(t.Context(), columns)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	names, values := map[string][]string{}, map[string][]string{}
	for rows.Next() {
		var table, name, kind string
		if err := rows.Scan(&table, &name, &kind); err != nil {
			t.Fatal(err)
		}
		value := map[string]string{
			"uuid": "'01934c04-c000-7000-a2f6-00114deeb300'", "bigint": "1", "integer": "1", "boolean": "true", "bool": "true",
			"jsonb": "'[]'", "json": "'[]'", "timestamp with time zone": "'2026-07-01T09:00:00Z'", "datetime": "1782896400000000", "date": "'2026-07-01'",
		}[strings.ToLower(kind)]
		switch {
		case name == "town":
			value = "'Leeds'"
		case value == "":
			value = "'x'"
		case name == "finish_time":
			value = strings.NewReplacer("T09", "T10", "1782896400", "1782900000").Replace(value)
		}
		if within := sample(table, name); within != "" && name != "town" {
			value = within
		}
		names[table], values[table] = append(names[table], `"`+name+`"`), append(values[table], value)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		t.Fatal(err)
	}
	for table := range names {
		if slices.Contains([]string{"counters", "counter_changes", "feed_changes", "feed_state"}, table) {
			continue // triggers and migrations write them
		}
		n := 1
		if table == "patients" {
			n = 41
		}
		for i := range n {
			row := slices.Clone(values[table])
			for j, name := range names[table] {
				if name == `"id"` && n > 1 {
					row[j] = strings.Replace(row[j], "b300'", fmt.Sprintf("b3%02d'", i), 1)
					if row[j] == "1" {
						row[j] = fmt.Sprint(i + 1)
					}
				}
			}
			insert := fmt.Sprintf(`INSERT INTO "%s" (%s) VALUES (%s)`, table, strings.Join(names[table], ", "), strings.Join(row, ", "))
			if _, err := conn.ExecContext(t.Context(), insert); err != nil {
				t.Fatalf("%s: %v: %s", table, err, insert)
			}
		}
	}
	if kind == "sqlite" {
		return
	}
	if _, err := conn.ExecContext(t.Context(), "RESET session_replication_role; "+triggersAre("ENABLE")); err != nil {
		t.Fatal(err)
	}
}
