package migrate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"entgo.io/ent/dialect"

	"chairside/ent"
	entmigrate "chairside/ent/migrate"
	"chairside/internal/apispec/limit"
	"chairside/internal/store"
	"chairside/internal/store/storetest"
)

// Each declared limit has a CHECK in the live database, which refuses a value
// beyond it, and so does the check in Go.
func TestEveryLimitIsChecked(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		db, conn := filled(t, url)
		checks := liveChecks(t, db, conn)
		for _, l := range ent.Limits {
			name := shorten(l.Constraint())
			if l.Unchecked {
				continue
			}
			if !slices.Contains(checks, name) {
				t.Errorf("%s.%s has no CHECK %s", l.Table, l.Name, name)
			}
			outside := l.Outside()
			if len(outside) == 0 {
				t.Errorf("%s.%s: no value is outside the limit", l.Table, l.Name)
			}
			for _, v := range outside {
				if l.Check(v) == "" {
					t.Errorf("%s.%s: Check accepts %.40v", l.Table, l.Name, v)
				}
				refuses(t, conn, l.Table, l.Name+" = $1", name, v)
			}
			if message := l.Check(l.Inside()); message != "" {
				t.Errorf("%s.%s: %v %s", l.Table, l.Name, l.Inside(), message)
			}
		}
	})
}

// What the schema declares of columns is among the limits: a new enum cannot be
// forgotten.
func TestEveryDeclarationIsALimit(t *testing.T) {
	for _, table := range entmigrate.Tables {
		for _, c := range table.Columns {
			i := slices.IndexFunc(ent.Limits, func(l limit.Column) bool { return l.Table == table.Name && l.Name == c.Name })
			switch {
			case len(c.Enums) > 0 && (i < 0 || !slices.Equal(ent.Limits[i].Values, c.Enums)):
				t.Errorf("the words of %s.%s are not its limit", table.Name, c.Name)
			case c.Size > 0 && (i < 0 || int64(ent.Limits[i].MaxBytes) != c.Size):
				t.Errorf("the size of %s.%s is not its limit", table.Name, c.Name)
			}
		}
	}
	for _, dialectName := range []string{dialect.Postgres, dialect.SQLite} {
		tables, err := Desired(dialectName)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, table := range tables {
			if table.Annotation == nil {
				continue
			}
			for name := range table.Annotation.Checks {
				if len(name) > maxNameLength || seen[name] {
					t.Errorf("%s: the name %s is too long or used twice", dialectName, name)
				}
				seen[name] = true
			}
		}
		checked := slices.DeleteFunc(slices.Clone(ent.Limits), func(l limit.Column) bool { return l.Unchecked })
		if want := len(checked) + len(ent.Rules); len(seen) != want {
			t.Errorf("%s: %d checks, want %d", dialectName, len(seen), want)
		}
	}
}

// ruleBreakers are changes of the row that filled writes, each of which one rule
// refuses. A new rule needs one.
var ruleBreakers = map[string][]string{
	"appointment_holds_finishes_after_start":   {"finish_time = start_time"},
	"appointment_holds_lasts_a_day_at_most":    {"finish_time = LATER"},
	"appointments_finishes_after_start":        {"finish_time = start_time, duration = 0"},
	"appointments_lasts_a_day_at_most":         {"finish_time = LATER, duration = 1440"},
	"appointments_duration":                    {"duration = 59", "duration = 61"},
	"appointments_state_is_stamped":            {"state = 'Pending', cancelled_at = NULL, pending_at = NULL", "state = 'In surgery', cancelled_at = NULL, in_surgery_at = NULL"},
	"appointments_cancelled":                   {"state = 'Arrived'", "cancelled_at = NULL, state = 'Cancelled'"},
	"appointments_only_cancelled_has_a_reason": {"state = 'Did not attend', cancelled_at = NULL"},
	"contracts_ends_after_start":               {"end_date = '2026-06-30'"},
	"invoice_items_total_price":                {"total_price = 2", "quantity = 3"},
	"invoices_status_agrees":                   {"amount_outstanding = 1", "status = 'new'", "status = 'sent', sent_at = NULL, amount_outstanding = amount", "status = 'part_paid'", "status = 'paid', amount_outstanding = 1, paid = true"},
	"invoices_paid_agrees":                     {"paid = true", "paid_on = '2026-07-01'"},
	"recalls_contacted_has_time":               {"status = 'contacted', contacted_at = NULL"},
	"report_schedules_one_destination":         {"folder = ''", "address = 'ann@example.com'"},
	"treatment_plans_completion":               {"completed = false", "completed_at = NULL"},
	"treatment_plan_items_completion":          {"completed = false", "completed_at = NULL"},
	"treatment_plan_items_charged":             {"charged = false", "invoice_id = NULL"},
	"waiting_lists_ends_after_start":           {"from_date = '2026-07-02', to_date = '2026-07-01'"},
	"working_sessions_finishes_after_start":    {"finish_minute = start_minute", "start_minute = finish_minute + 1"},
}

func TestEveryRuleIsChecked(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		db, conn := filled(t, url)
		later := "1782982830000000" // 24 hours and 30 seconds after the start
		if db.Dialect == dialect.Postgres {
			later = "'2026-07-02T09:00:30Z'"
		}
		checks := liveChecks(t, db, conn)
		for _, r := range ent.Rules {
			name := shorten(r.Constraint())
			if !slices.Contains(checks, name) {
				t.Errorf("%s has no CHECK", name)
			}
			if len(ruleBreakers[name]) == 0 {
				t.Errorf("ruleBreakers has no change that %s refuses", name)
			}
			for _, change := range ruleBreakers[name] {
				refuses(t, conn, r.Table, strings.ReplaceAll(change, "LATER", later), name)
			}
		}
	})
}

// PostgreSQL prints a constraint otherwise after a dump where it has to guess
// types; then a restored database would differ from its schema.
func TestChecksSurviveADump(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		db, conn := filled(t, url)
		if db.Dialect != dialect.Postgres {
			return // SQLite keeps the text
		}
		definitions := "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'c' AND coninhcount = 0 AND connamespace = 'public'::regnamespace ORDER BY 1, 2"
		type check struct{ table, name, text string }
		read := func() (all []check) {
			rows, err := conn.QueryContext(t.Context(), definitions)
			if err != nil {
				t.Fatal(err)
			}
			defer rows.Close()
			for rows.Next() {
				var c check
				if err := rows.Scan(&c.table, &c.name, &c.text); err != nil {
					t.Fatal(err)
				}
				all = append(all, c)
			}
			return all
		}
		before := read()
		for _, c := range before {
			if _, err := conn.ExecContext(t.Context(), fmt.Sprintf("ALTER TABLE %s DROP CONSTRAINT %s, ADD CONSTRAINT %[2]s %s", c.table, c.name, c.text)); err != nil {
				t.Fatal(err)
			}
		}
		if after := read(); len(after) == 0 || !slices.Equal(before, after) {
			for i := range after {
				if after[i] != before[i] {
					t.Errorf("%s is printed as\n%s and then\n%s", after[i].name, before[i].text, after[i].text)
				}
			}
		}
	})
}

// What a CHECK refuses is reported by its name: PostgreSQL's error holds the row.
func TestACheckErrorHoldsNoValues(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		_, conn := filled(t, url)
		_, err := conn.ExecContext(t.Context(), "UPDATE patients SET first_name = 'canary-4711', recall_method = 'canary-4712'")
		if err == nil {
			t.Fatal("a recall method that there is not")
		}
		for _, err := range []error{store.APIError(t.Context(), err), store.APIError(t.Context(), fmt.Errorf("ent: %w", err))} {
			var broken *store.CheckError
			if !errors.As(err, &broken) || broken.Constraint != "patients_recall_method_check" {
				t.Errorf("%T %v", err, err)
			}
			if text := fmt.Sprintf("%v %+v %#v", err, err, err); strings.Contains(text, "canary") || !strings.Contains(text, "patients_recall_method_check") {
				t.Error(text)
			}
		}
	})
}

// filled is a database with a row in every table, and a connection that heeds
// no foreign keys.
func filled(t *testing.T, url string) (*testDB, *sql.Conn) {
	t.Helper()
	db := openTest(t, url)
	if _, err := db.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	putARowIntoEveryTable(t, db)
	conn, err := db.SQL.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	freely := "SET session_replication_role = replica"
	if db.Dialect == dialect.SQLite {
		freely = "PRAGMA foreign_keys = off"
	}
	if _, err := conn.ExecContext(t.Context(), freely); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, stop := context.WithTimeout(context.Background(), time.Minute)
		defer stop()
		if db.Dialect == dialect.SQLite {
			_, _ = conn.ExecContext(ctx, "PRAGMA foreign_keys = on")
		}
		_ = conn.Close()
	})
	return db, conn
}

// refuses makes sure that a change of the one row is refused by a constraint, or
// by a rule of the same table.
func refuses(t *testing.T, conn *sql.Conn, table, change, constraint string, args ...any) {
	t.Helper()
	tx, err := conn.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback() // whatever was changed
	_, err = tx.ExecContext(t.Context(), "UPDATE "+table+" SET "+change, args...)
	var broken *store.CheckError
	_ = errors.As(store.APIError(t.Context(), err), &broken)
	// The first constraint of the alphabet refuses a row that breaks several.
	rule := broken != nil && slices.ContainsFunc(ent.Rules, func(r limit.Row) bool { return r.Table == table && r.Constraint() == broken.Constraint })
	if broken == nil || broken.Constraint != constraint && !rule {
		t.Errorf("UPDATE %s SET %s, %.40v: %v; %s should refuse it", table, change, args, err, constraint)
	}
}

// liveChecks are the names of the CHECKs that the database has.
func liveChecks(t *testing.T, db *testDB, conn *sql.Conn) (names []string) {
	t.Helper()
	query := "SELECT conname FROM pg_constraint WHERE contype = 'c' AND convalidated AND coninhcount = 0 AND connamespace = 'public'::regnamespace"
	if db.Dialect == dialect.SQLite {
		query = "SELECT sql FROM sqlite_schema WHERE type = 'table'"
	}
	rows, err := conn.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		if db.Dialect == dialect.Postgres {
			names = append(names, text)
			continue
		}
		for _, part := range strings.Split(text, "CONSTRAINT `")[1:] {
			if name, rest, ok := strings.Cut(part, "` CHECK "); ok && rest != "" {
				names = append(names, name)
			}
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return names
}

// sample is the SQL of a value within the limits of a column, for a table with
// one row; "" where any value does.
func sample(table, column string) string {
	if v, ok := samples[table+"."+column]; ok {
		return v
	}
	for _, l := range ent.Limits {
		if l.Table != table || l.Name != column {
			continue
		}
		switch v := l.Inside().(type) {
		case int64:
			return fmt.Sprint(max(v, 1))
		case string:
			return "'" + v + "'"
		}
	}
	return ""
}

// samples are values that rules between columns ask for.
var samples = map[string]string{
	"appointments.state":             "'Cancelled'",
	"appointments.did_not_attend_at": "NULL",
	"appointments.duration":          "60",
	"invoices.status":                "'void'",
	"invoices.paid":                  "false",
	"invoices.paid_on":               "NULL",
	"invoices.amount_outstanding":    "0",
	"report_schedules.address":       "''",
	"report_schedules.folder":        "'/reports'",
	"working_sessions.finish_minute": "2",
	"working_sessions.start_minute":  "1",
}
