package analyst_test

import (
	"context"
	"crypto/rand"
	"database/sql"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	_ "github.com/lib/pq"

	"chairside/ent"
	"chairside/internal/entx/table"
	"chairside/internal/store"
	"chairside/internal/store/analyst"
	"chairside/internal/store/rowsecurity"
	"chairside/internal/store/storetest"
	"chairside/internal/test/testdb"
)

const password = "correct horse battery"

// hired returns a new copy of the seeded practices with both roles of row-level security, opened by
// the owner, and the pool of an analyst of the demo practice.
func hired(t *testing.T) (owner *store.DB, pool *sql.DB, name string) {
	t.Helper()
	raw := testdb.Practice.Postgres(t)
	owner = storetest.Open(t, raw)
	if _, err := owner.CreateRoles(t.Context(), rowsecurity.DefaultRoles); err != nil {
		t.Fatal(err)
	}
	name = "analyst_" + strings.ToLower(rand.Text()[:10])
	hire(t, owner, name, "demo")
	return owner, signIn(t, raw, name), name
}

// hire creates an analyst and drops it when the test ends, because roles outlive the database.
func hire(t *testing.T, owner *store.DB, name, slug string) {
	t.Helper()
	practice := uuid.MustParse(storetest.Value(t, owner.SQL, "SELECT id FROM practices WHERE slug = $1", slug))
	inTx(t, owner, func(tx *sql.Tx) error {
		return analyst.Create(t.Context(), tx, analyst.Draft{Name: name, Practice: practice, Zone: "Europe/London", Password: password, Timeout: time.Minute}, time.Now())
	})
	t.Cleanup(func() {
		tx, err := owner.SQL.BeginTx(context.Background(), nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer tx.Rollback()
		if _, err := analyst.Drop(context.Background(), tx, name); err != nil && err != analyst.ErrUnknown {
			t.Error(err)
		}
		if err := tx.Commit(); err != nil {
			t.Error(err)
		}
	})
}

func inTx(t *testing.T, db *store.DB, work func(tx *sql.Tx) error) {
	t.Helper()
	tx, err := db.SQL.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if err := work(tx); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
}

// signIn opens a pool of a role, as any client does.
func signIn(t *testing.T, raw, name string) *sql.DB {
	t.Helper()
	address, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	address.User = url.UserPassword(name, password)
	pool, err := sql.Open("postgres", address.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pool.Close() })
	return pool
}

// TestAnalystSeesOnlyItsPractice compares the number of rows of each view with those of the table.
func TestAnalystSeesOnlyItsPractice(t *testing.T) {
	t.Parallel()
	owner, pool, _ := hired(t)
	practice := storetest.Value(t, owner.SQL, "SELECT id FROM practices WHERE slug = 'demo'")
	for _, v := range ent.Views {
		where := "t.practice_id = '" + practice + "'"
		if v.Where != "" {
			where += " AND " + v.Where
		}
		want := storetest.Value(t, owner.SQL, "SELECT count(*) FROM "+v.Name+" AS t WHERE "+where)
		if got := storetest.Value(t, pool, "SELECT count(*) FROM "+v.Name); got != want {
			t.Errorf("%s: %s rows, want %s", v.Name, got, want)
		}
		if all := storetest.Value(t, owner.SQL, "SELECT count(*) FROM "+v.Name); all == want && v.Where == "" {
			t.Errorf("%s: the other practice has no rows, so the test shows nothing", v.Name)
		}
	}
	// A session of another role, even a superuser's, is bound to no practice.
	if n := storetest.Value(t, owner.SQL, "SELECT count(*) FROM report.patients"); n != "0" {
		t.Errorf("without an entry in analysts a role sees %s patients", n)
	}
}

// TestAnalystCannotEscape tries to leave the practice, to read what the views withhold, to write and
// to reach the server's machine. Each attempt runs in a session that has lifted its own limits.
func TestAnalystCannotEscape(t *testing.T) {
	t.Parallel()
	owner, pool, name := hired(t)
	other := "analyst_" + strings.ToLower(rand.Text()[:10])
	hire(t, owner, other, "second")
	second := storetest.Value(t, owner.SQL, "SELECT id FROM practices WHERE slug = 'second'")
	conn, err := pool.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, lift := range []string{"SET default_transaction_read_only = off", "SET statement_timeout = 0", "SET search_path = public, report", "SET row_security = off"} {
		if _, err := conn.ExecContext(t.Context(), lift); err != nil {
			t.Fatal(err)
		}
	}
	refused := []string{
		// another identity
		"SET ROLE " + other, "SET ROLE " + rowsecurity.DefaultRoles.System, "SET ROLE " + rowsecurity.DefaultRoles.Serving, "SET ROLE postgres",
		"SET SESSION AUTHORIZATION " + other, "SET SESSION AUTHORIZATION postgres", "SELECT set_config('session_authorization', '" + other + "', false)", "SELECT set_config('role', '" + other + "', false)",
		"ALTER ROLE " + name + " SUPERUSER", "ALTER ROLE " + name + " BYPASSRLS", "GRANT " + other + " TO " + name, "CREATE ROLE another", "ALTER ROLE " + other + " PASSWORD 'x'",
		// the binding
		"SELECT * FROM public.analysts", "UPDATE public.analysts SET practice_id = '" + second + "'", "INSERT INTO public.analysts (practice_id, role, created_at) VALUES ('" + second + "', '" + name + "', now())", "DELETE FROM public.analysts",
		// the tables
		"SELECT * FROM public.patients", "SELECT nhs_number FROM public.patients", "SELECT * FROM public.users", "SELECT * FROM public.access_tokens", "SELECT * FROM public.patient_search", "SELECT * FROM public.atlas_schema_revisions",
		"SELECT count(*) FROM ONLY public.patients", "TABLE public.practices", "LOCK TABLE public.patients", "SELECT query_to_xml('SELECT * FROM public.patients', true, true, '')",
		"SELECT public.chairside_delete_rows('" + second + "', 'note_versions', 1)", "SELECT nextval('public.patients_id_seq')",
		// the views
		"UPDATE report.payments SET amount = 0", "DELETE FROM report.payments", "INSERT INTO report.payments (id) VALUES (1)", "CREATE OR REPLACE VIEW report.payments AS SELECT 1 AS id",
		"DROP VIEW report.payments", "ALTER VIEW report.payments SET (security_barrier = off)", "ALTER VIEW report.payments OWNER TO " + name,
		"SELECT first_name FROM report.patients", "SELECT practice_id FROM report.patients",
		// what it may create
		"CREATE TABLE report.own (id int)", "CREATE TABLE public.own (id int)", "CREATE TEMPORARY TABLE own (id int)", "CREATE SCHEMA own", "CREATE FUNCTION public.own() RETURNS int LANGUAGE sql AS 'SELECT 1'",
		"CREATE FUNCTION pg_temp.own() RETURNS int LANGUAGE sql AS 'SELECT 1'", "CREATE EXTENSION dblink", "CREATE EXTENSION postgres_fdw", "CREATE EXTENSION file_fdw", "CREATE LANGUAGE plpython3u", "SELECT lo_create(0)", "SELECT lo_creat(-1)", "SELECT lo_from_bytea(0, 'x')", "CREATE EVENT TRIGGER own ON ddl_command_start EXECUTE FUNCTION own()",
		// the server
		"COPY (SELECT 1) TO PROGRAM 'cat'", "COPY (SELECT 1) TO '/tmp/own'", "SELECT pg_read_file('pg_hba.conf')", "SELECT pg_ls_dir('.')", "SELECT lo_import('/etc/passwd')", "SELECT * FROM pg_authid", "SELECT * FROM pg_shadow",
		"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename <> current_user AND datname = current_database() LIMIT 1", "SELECT pg_reload_conf()", "ALTER SYSTEM SET log_statement = 'all'", "SET log_statement = 'none'", "SET temp_file_limit = -1",
		"DO $$ BEGIN PERFORM count(*) FROM public.patients; END $$", "SELECT dblink('dbname=postgres', 'SELECT 1')",
	}
	for _, attempt := range refused {
		tx, err := conn.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.ExecContext(t.Context(), attempt); err == nil {
			t.Errorf("allowed: %s", attempt)
		}
		tx.Rollback()
	}
	// What it may set has no effect on the practice.
	for _, set := range []string{"SET chairside.practice = '" + second + "'", "SET search_path = report", "SET enable_seqscan = off", "SET from_collapse_limit = 1", "SET debug_parallel_query = off", "SET application_name = 'postgres'"} {
		conn.ExecContext(t.Context(), set) // some versions lack a setting
	}
	want := storetest.Value(t, owner.SQL, "SELECT count(*) FROM patients WHERE practice_id = (SELECT id FROM practices WHERE slug = 'demo')")
	if got := storetest.Value(t, conn, "SELECT count(*) FROM report.patients"); got != want {
		t.Errorf("%s patients, want %s", got, want)
	}
}

// TestAnalystLearnsNothingOfHiddenRows: a condition that fails on a row of another practice, or counts
// the rows that it sees, never runs on one. The catalogues show no values of columns.
func TestAnalystLearnsNothingOfHiddenRows(t *testing.T) {
	t.Parallel()
	owner, pool, _ := hired(t)
	hidden := storetest.Value(t, owner.SQL, "SELECT max(id) FROM payments WHERE practice_id <> (SELECT id FROM practices WHERE slug = 'demo')")
	for _, probe := range []string{
		"SELECT count(*) FROM payments WHERE 1 / (id - " + hidden + ") = 0 OR true",
		"SELECT count(*) FROM payments WHERE CASE WHEN id = " + hidden + " THEN 1 / (id - id) = 1 ELSE true END",
		"SELECT count(*) FROM payments WHERE CAST(CASE WHEN id = " + hidden + " THEN method ELSE '1' END AS int) = 1",
		"SELECT count(*) FROM payments AS p JOIN payments AS q ON q.id / (p.id - " + hidden + ") = 0 OR q.id = p.id",
	} {
		if _, err := pool.ExecContext(t.Context(), probe); err != nil {
			t.Errorf("%s: %v", probe, err)
		}
	}
	storetest.Exec(t, owner, "ANALYZE payments; ANALYZE patients")
	for _, leak := range []string{
		"SELECT count(*) FROM pg_stats WHERE schemaname = 'public'",
		"SELECT count(*) FROM pg_stats_ext",
		"SELECT count(*) FROM pg_stat_activity WHERE usename <> current_user AND query <> '<insufficient privilege>' AND query <> ''",
		"SELECT count(*) FROM information_schema.tables WHERE table_schema = 'public'",
		"SELECT count(*) FROM information_schema.columns WHERE table_schema = 'public'",
		"SELECT count(*) FROM pg_user_mappings",
		"SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%patients%'",
	} {
		if n := storetest.Value(t, pool, leak); n != "0" {
			t.Errorf("%s: %s rows", leak, n)
		}
	}
	// The index of the practice serves the view, in spite of the barrier.
	if err := planUses(t, owner, pool); err != "" {
		t.Error(err)
	}
}

// planUses explains a query of one day's appointments.
func planUses(t *testing.T, owner *store.DB, pool *sql.DB) string {
	storetest.Exec(t, owner, "ANALYZE appointments; UPDATE pg_class SET reltuples = 1000000, relpages = 30000 WHERE oid = 'appointments'::regclass")
	plan := storetest.Value(t, pool, "EXPLAIN (FORMAT JSON) SELECT * FROM appointments WHERE start_time >= '2026-06-01' AND start_time < '2026-06-02'")
	if strings.Contains(plan, "Seq Scan on appointments") || !strings.Contains(plan, "Index Cond") {
		return "no index:\n" + plan
	}
	return ""
}

// TestAnalystSessionsHaveLimits reads the defaults of a new session.
func TestAnalystSessionsHaveLimits(t *testing.T) {
	t.Parallel()
	_, pool, _ := hired(t)
	for setting, want := range map[string]string{
		"default_transaction_read_only": "on", "statement_timeout": "1min", "search_path": "report", "TimeZone": "Europe/London",
		"idle_in_transaction_session_timeout": "1min", "lock_timeout": "2s",
	} {
		if got := storetest.Value(t, pool, "SHOW "+setting); got != want {
			t.Errorf("%s is %s, want %s", setting, got, want)
		}
	}
	var all []*sql.Conn
	defer func() {
		for _, c := range all {
			c.Close()
		}
	}()
	for range 6 {
		c, err := pool.Conn(t.Context())
		if err != nil {
			if !strings.Contains(err.Error(), "too many connections for role") {
				t.Error(err)
			}
			return
		}
		all = append(all, c)
	}
	t.Error("an analyst opened six connections")
}

// TestDroppedAnalystIsSignedOut: the session ends, the role is gone and the name can be used again.
func TestDroppedAnalystIsSignedOut(t *testing.T) {
	t.Parallel()
	owner, pool, name := hired(t)
	conn, err := pool.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	storetest.Value(t, conn, "SELECT count(*) FROM patients")
	// What belongs to the role does not keep it.
	for _, statement := range []string{"SET default_transaction_read_only = off", "ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO PUBLIC"} {
		if _, err := conn.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	inTx(t, owner, func(tx *sql.Tx) error { _, err := analyst.Drop(t.Context(), tx, name); return err })
	if err := conn.QueryRowContext(t.Context(), "SELECT count(*) FROM report.patients").Scan(new(int)); err == nil {
		t.Error("the session goes on")
	}
	if n := storetest.Value(t, owner.SQL, "SELECT count(*) FROM pg_roles WHERE rolname = $1", name); n != "0" {
		t.Error("the role is still there")
	}
	hire(t, owner, name, "second")
	tx, err := owner.SQL.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if err := analyst.Create(t.Context(), tx, analyst.Draft{Name: name, Password: password, Zone: "UTC", Timeout: time.Minute}, time.Now()); err != analyst.ErrExists {
		t.Errorf("a second role of the name: %v", err)
	}
}

// TestNamesAndPasswordsAreChecked refuses what PostgreSQL or a client would read differently.
func TestNamesAndPasswordsAreChecked(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "Alice", "1st", "pg_read_all_data", "public", "none", "a-b", `a"b`, strings.Repeat("a", 64)} {
		if analyst.CheckName(name) == nil {
			t.Errorf("the name %q is accepted", name)
		}
	}
	for _, word := range []string{"", "short", strings.Repeat("a", 201), "pässword with umlaut", "control\x01 character here"} {
		if analyst.CheckPassword(word) == nil {
			t.Errorf("the password %q is accepted", word)
		}
	}
	if analyst.CheckName("alice_2") != nil || analyst.CheckPassword(password) != nil {
		t.Error("a good name or password is refused")
	}
}

// TestViewsWithholdSecrets names columns that must never be shown, whatever the schema declares.
func TestViewsWithholdSecrets(t *testing.T) {
	t.Parallel()
	never := []string{"first_name", "last_name", "email", "email_address", "mobile_phone", "nhs_number", "medical_alert_text", "notes", "password_hash", "totp_secret", "metadata", "practice_id"}
	for _, v := range ent.Views {
		for _, c := range v.Columns {
			staff := v.Name == "users" && strings.HasSuffix(c.Name, "_name")
			if slices.Contains(never, c.Name) && !staff {
				t.Errorf("%s shows %s", v.Name, c.Name)
			}
		}
	}
}

// withoutView are the tables that analysts do not see, with the reason.
var withoutView = map[string]string{
	"access_tokens": "secrets", "analysts": "the wall itself", "applications": "secrets", "authorization_codes": "secrets", "passkey_challenges": "secrets", "passkeys": "secrets",
	"refresh_tokens": "secrets", "sessions": "secrets", "sign_in_attempts": "secrets", "webhook_attempts": "secrets", "webhook_deliveries": "secrets", "webhooks": "secrets",
	"audit_blocks": "the audit log", "audit_cuts": "the audit log", "audit_events": "the audit log", "audit_reads": "the audit log", "logged_requests": "a log of requests",
	"custom_field_answers": "free text", "custom_fields": "their answers are free text", "note_versions": "health data", "notes": "health data", "patient_referrals": "health data", "waiting_lists": "free text",
	"appointment_holds": "they last ten minutes", "appointment_reasons": "names for the diary; appointments have theirs", "fees": "a price list; items have their price", "treatment_appointments": "plans of visits",
	"feed_changes": "bookkeeping", "feed_state": "bookkeeping", "idempotency_keys": "bookkeeping", "import_runs": "bookkeeping", "imported_records": "bookkeeping", "rate_buckets": "bookkeeping", "report_schedules": "bookkeeping",
	"practice_deletions": "the operator's", "practices": "the analyst's is the only one",
}

// TestEveryTableIsDecided: each table has a view or a reason why not.
func TestEveryTableIsDecided(t *testing.T) {
	t.Parallel()
	for _, of := range ent.Tables {
		shown := slices.ContainsFunc(ent.Views, func(v table.View) bool { return v.Name == of.Name })
		if _, ok := withoutView[of.Name]; ok == shown {
			t.Errorf("%s: shown %t, but a reason against it: %t", of.Name, shown, ok)
		}
	}
}
