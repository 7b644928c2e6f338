package closure_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"chairside/internal/audit/chain"
	"chairside/internal/clock"
	"chairside/internal/closure"
	"chairside/internal/entx/table"
	"chairside/internal/principal"
	"chairside/internal/seed"
	"chairside/internal/store"
	"chairside/internal/store/rowsecurity"
	"chairside/internal/store/storetest"
	"chairside/internal/test/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// counts returns the number of rows of a practice by table.
func counts(t testing.TB, db *store.DB, pool *sql.DB, practice string, operator string) map[string]int {
	t.Helper()
	all := map[string]int{}
	for _, of := range store.Tables(db.Dialect) {
		column := rowsecurity.PracticeColumn(of)
		if column == "" {
			continue
		}
		var n int
		if err := pool.QueryRowContext(t.Context(), "SELECT count(*) FROM "+table.Quote(of.Name)+" WHERE "+column+" "+operator+" $1", practice).Scan(&n); err != nil {
			t.Fatal(err)
		}
		all[of.Name] = n
	}
	return all
}

// fillAll gives a practice a row in every table that has none: a copy of what the database would
// accept, past all rules, except foreign keys.
func fillAll(t testing.TB, db *store.DB, practice string) {
	t.Helper()
	at := time.Date(2026, 7, 1, 9, 0, 0, 0, time.UTC)
	id := "01890a5d-ac96-774b-bcce-b302099a8057"
	user, patient := "(SELECT min(id) FROM users WHERE practice_id = $1)", "(SELECT min(id) FROM patients WHERE practice_id = $1)"
	hash := []byte(strings.Repeat("x", 32))
	storetest.Exec(t, db, "INSERT INTO notes (practice_id, created_at, updated_at, body, pinned, kind, patient_id, user_id) VALUES ($1, $2, $2, 'sealed:00000000:AA', false, 'clinical', "+patient+", "+user+")", practice, at)
	storetest.Exec(t, db, "INSERT INTO note_versions (practice_id, note_id, patient_id, body, at) VALUES ($1, 1, "+patient+", 'sealed:00000000:AA', $2)", practice, at)
	storetest.Exec(t, db, "INSERT INTO audit_reads (practice_id, patient_id, event_id, at) VALUES ($1, "+patient+", 1, $2)", practice, at)
	storetest.Exec(t, db, "INSERT INTO audit_cuts (practice_id, at, number, hash, signature) VALUES ($1, $2, 0, $3, $3)", practice, at, hash)
	storetest.Exec(t, db, "INSERT INTO imported_records (practice_id, source, resource, legacy_id, record_id) VALUES ($1, 'old', 'patients', '7', '1')", practice)
	storetest.Exec(t, db, "INSERT INTO idempotency_keys (practice_id, token_id, key_hash, request_hash, status, response, created_at) VALUES ($1, $2, $3, $3, 200, $3, $4)", practice, id, hash, at)
	storetest.Exec(t, db, "INSERT INTO logged_requests (practice_id, at, token_id, user_id, request_id, method, route, status, duration_us, further) VALUES ($1, $3, $2, 1, 'x', 'GET', '/x', 200, 1, 0)", practice, id, at)
	storetest.Exec(t, db, "INSERT INTO applications (id, owner_id, user_id, created_at, updated_at, name, redirect_uris, scopes, public, refresh_tokens) VALUES ($2, $1, "+user+", $3, $3, 'x', '[]', 'patient', true, true)", practice, id, at)
	storetest.Exec(t, db, "INSERT INTO webhooks (id, practice_id, created_at, updated_at, url, active, events, secret) VALUES ($2, $1, $3, $3, 'https://a.test', true, '[]', 'sealed:00000000:AA')", practice, id, at)
	storetest.Exec(t, db, "INSERT INTO passkeys (id, practice_id, user_id, created_at, updated_at, name, host, credential_id, public_key, sign_count, backup_eligible, backed_up, aaguid) VALUES ($2, $1, "+user+", $3, $3, 'x', 'x.test', $4, $4, 0, false, false, $2)", practice, id, at, hash)
	storetest.Exec(t, db, "INSERT INTO webhook_deliveries (practice_id, webhook_id, event_id, event, resource, record_id, changed_at, due_at, leased_until) VALUES ($1, $2, 'x', 'x', 'x', 'x', $3, $3, $3)", practice, id, at)
	storetest.Exec(t, db, "INSERT INTO webhook_attempts (practice_id, delivery_id, at, headers, body, records, status, duration_ms) VALUES ($1, 1, $2, '{}', 'sealed:00000000:AA', $3, 0, 1)", practice, at, hash)
	storetest.Exec(t, db, "INSERT INTO analysts (practice_id, role, created_at) VALUES ($1, 'ann', $2)", practice, at)
	storetest.Exec(t, db, "INSERT INTO report_schedules (practice_id, user_id, report, weekday, minute, period, format, folder, created_at, due_at, attempt_at, leased_until) VALUES ($1, "+user+", 'income', 1, 420, 'default', 'csv', '/reports', $2, $2, $2, $2)", practice, at)
	// A user of each practice authorised the application.
	for i, who := range []string{practice, practiceID(t, db, "second")} {
		token := fmt.Sprintf("01890a5d-ac96-774b-bcce-b302099a900%d", i)
		own := []byte(strings.Repeat(fmt.Sprint(i), 32))
		storetest.Exec(t, db, "INSERT INTO access_tokens (id, practice_id, created_at, updated_at, hash, name, scopes, user_id, application_id) VALUES ($2, $1, $3, $3, $4, 'x', 'patient', "+user+", $5)", who, token, at, own, id)
		storetest.Exec(t, db, "INSERT INTO refresh_tokens (id, practice_id, hash, token_id, scopes, created_at, expires_at) VALUES ($2, $1, $3, $2, 'patient', $4, $4)", who, token, own, at)
		storetest.Exec(t, db, "INSERT INTO authorization_codes (id, practice_id, hash, application_id, user_id, redirect_uri, scopes, expires_at, token_id) VALUES ($2, $1, $3, $4, "+user+", 'x', 'patient', $5, $2)", who, token, own, id, at)
	}
	storetest.Exec(t, db, "INSERT INTO sessions (id, practice_id, user_id, token_hash, data, created_at, updated_at, last_seen_at, expires_at) SELECT $2, $1, min(id), 'x', $3, $4, $4, $4, $4 FROM users WHERE practice_id = $1", practice, id, hash, at)
}

func practiceID(t testing.TB, db *store.DB, slug string) string {
	t.Helper()
	var id string
	if err := db.SQL.QueryRowContext(t.Context(), "SELECT CAST(id AS text) FROM practices WHERE slug = $1", slug).Scan(&id); err != nil {
		t.Fatal(err)
	}
	return id
}

// unmentioned are the tables without a row of the practice in the test, with the reason.
var unmentioned = map[string]string{
	"appointment_holds": "deleted like any other",
	"counter_changes":   "they may be compacted already",
}

// A practice is closed on its day and then deleted, with every row and nothing of others, also by
// the system role of row-level security, and after interruptions.
func TestDeletePractice(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"sqlite", "postgres", "two roles"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			at := map[string]func(testing.TB) string{"sqlite": harness.SQLite, "postgres": harness.Postgres, "two roles": harness.SecondWall}[kind]
			e := harness.Start(t, at(t), harness.Patient)
			db, owner := e.DB, e.DB
			if kind == "two roles" {
				owner = &store.DB{SQL: e.Owner(), Dialect: db.Dialect}
			}
			demo, second := practiceID(t, db, "demo"), practiceID(t, db, "second")
			fillAll(t, owner, demo)
			value := e.Token(t, "")
			if _, err := db.Counters.Compact(t.Context()); err != nil {
				t.Fatal(err)
			}
			for n, tries := 0, 0; n == 0 && tries < 100; tries++ { // transactions of other tests may be open
				var err error
				if n, err = chain.Seal(t.Context(), db); err != nil {
					t.Fatal(err)
				}
				time.Sleep(20 * time.Millisecond)
			}
			for name, n := range counts(t, db, owner.SQL, demo, "=") {
				if n == 0 && unmentioned[name] == "" {
					t.Errorf("the practice has no row in %s", name)
				}
			}
			before := counts(t, db, owner.SQL, demo, "<>")

			due := e.Clock.Now().Add(48 * time.Hour)
			schedule(t, owner, e, demo, due)
			if e.Get(t, "/v1/user", value).Status(t, 200); closure.Run(clock.With(t.Context(), e.Clock.Now()), db) != nil {
				t.Error("before the day it fails")
			}
			if n := counts(t, db, owner.SQL, demo, "=")["patients"]; n == 0 {
				t.Fatal("the practice was deleted before the day")
			}
			b := e.Browser(t).SignIn(seed.DemoAdmin)
			if page := b.Get("/settings/practice"); !strings.Contains(page.Text(), "This practice closes on") {
				t.Error("the settings page does not say that the practice closes")
			}

			e.Clock.Set(due)
			e.Get(t, "/v1/user", value).Error(t, 403, "practice_closed")
			if page := b.Get("/settings/practice"); page.Code == 200 && strings.Contains(page.Text(), "This practice closes on") {
				t.Error("a session of a closed practice works")
			}
			page := e.Browser(t).Post("/sign-in", url.Values{"email": {seed.DemoAdmin}, "password": {seed.Password}})
			if !strings.Contains(page.Text(), "Your practice is closed on this server") {
				t.Errorf("signing in: %d %.300s", page.Code, page.Text())
			}
			e.Settle()
			if err := closure.Run(clock.With(t.Context(), e.Clock.Now()), db); err != nil {
				t.Error(err)
			}
			if n := counts(t, db, owner.SQL, demo, "=")["patients"]; n == 0 {
				t.Fatal("the practice was deleted while requests may still run")
			}
			e.Clock.Set(due.Add(2 * time.Minute))

			interrupted, cancel := context.WithTimeout(clock.With(t.Context(), e.Clock.Now()), 60*time.Millisecond)
			err := closure.Run(interrupted, db)
			cancel()
			if err == nil {
				t.Error("an interrupted run reports no error")
			}
			for pending, tries := 1, 0; pending > 0 && tries < 100; tries++ { // PostgreSQL may still be ending the interrupted run
				if err := closure.Run(clock.With(t.Context(), e.Clock.Now()), db); err != nil {
					t.Fatal(err)
				}
				pending = storetest.Int(t, owner, "SELECT count(*) FROM practice_deletions WHERE id = $1 AND deleted_at IS NULL", demo)
				time.Sleep(20 * time.Millisecond)
			}
			for name, n := range counts(t, db, owner.SQL, demo, "=") {
				if n > 0 {
					t.Errorf("%d rows are left in %s", n, name)
				}
			}
			gone := map[string]int{"access_tokens": 1, "refresh_tokens": 1, "authorization_codes": 1} // of the application
			for name, n := range counts(t, db, owner.SQL, demo, "<>") {
				want := before[name] - gone[name]
				if strings.HasPrefix(name, "audit_") && n >= want || name == "feed_changes" || strings.HasPrefix(name, "counter") {
					continue
				}
				if n != want {
					t.Errorf("%s has %d rows of others, want %d", name, n, want)
				}
			}
			var deleted time.Time
			var reason string
			if err := owner.SQL.QueryRowContext(t.Context(), "SELECT deleted_at, kept_elsewhere FROM practice_deletions WHERE id = $1", demo).Scan(&deleted, &reason); err != nil || reason != "in the archive" {
				t.Errorf("the tombstone: %v, %q, %v", deleted, reason, err)
			}
			if n := storetest.Int(t, db, "SELECT count(*) FROM audit_events WHERE action = 'delete' AND record_id = $1", demo); n != 1 {
				t.Errorf("%d entries about the deletion", n)
			}
			theirs := "01890a5d-ac96-774b-bcce-b302099a9001"
			if n := storetest.Int(t, db, "SELECT count(*) FROM audit_events WHERE practice_id = $1 AND action = 'delete' AND resource = 'AccessToken' AND record_id = $2", second, theirs); n != 1 {
				t.Errorf("%d entries in the other practice's log about its token", n)
			}
			if _, err := chain.Seal(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			report, err := chain.Verify(clock.With(t.Context(), e.Clock.Now()), db, chain.VerifyOptions{})
			if err != nil || len(report.Problems) > 0 {
				t.Errorf("the audit log: %+v, %v", report, err)
			}
			e.Get(t, "/v1/user", value).Error(t, 401, "invalid_token")
			e.Get(t, "/v1/patients", e.TokenOf(t, seed.SecondAdmin, "", nil)).Status(t, 200)
			if again := counts(t, db, owner.SQL, second, "="); again["patients"] != before["patients"] {
				t.Error("the other practice lost patients")
			}
			if kind != "two roles" {
				storetest.CheckCounters(t, db)
			}
			if err := closure.Run(clock.With(t.Context(), e.Clock.Now()), db); err != nil {
				t.Errorf("a run after the deletion: %v", err)
			}
		})
	}
}

// schedule schedules the deletion as the owner of the tables.
func schedule(t *testing.T, owner *store.DB, e *harness.Env, practice string, due time.Time) {
	t.Helper()
	if owner == e.DB {
		if err := closure.Schedule(clock.With(t.Context(), e.Clock.Now()), e.DB, uuid.MustParse(practice), due, "in the archive"); err != nil {
			t.Fatal(err)
		}
		return
	}
	// The roles of the server cannot.
	if err := closure.Schedule(clock.With(t.Context(), e.Clock.Now()), e.DB, uuid.MustParse(practice), due, "in the archive"); err == nil {
		t.Error("the serving role scheduled a deletion")
	}
	for _, statement := range []string{
		"INSERT INTO practice_deletions (id, requested_at, due_at, kept_elsewhere) VALUES ('" + practice + "', now(), now(), '')",
		"SELECT " + rowsecurity.DeleteFunction + "('" + practice + "', 'audit_events', 10)",
		"DELETE FROM audit_events",
	} {
		if _, err := e.DB.SQL.ExecContext(t.Context(), statement); err == nil {
			t.Errorf("the system role may %s", statement)
		}
	}
	for _, statement := range []string{
		"UPDATE practices SET closes_at = $2 WHERE id = $1",
		"INSERT INTO practice_deletions (id, requested_at, due_at, kept_elsewhere) VALUES ($1, $2, $2, 'in the archive')",
	} {
		storetest.Exec(t, owner, statement, practice, due)
	}
}

// The deletion can be cancelled until it begins.
func TestKeepPractice(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		ctx, id := clock.With(t.Context(), e.Clock.Now()), uuid.MustParse(practiceID(t, e.DB, "demo"))
		if err := closure.Cancel(ctx, e.DB, id); !errors.Is(err, closure.ErrNotScheduled) {
			t.Errorf("without a deletion: %v", err)
		}
		due := e.Clock.Now().Add(48 * time.Hour)
		if err := closure.Schedule(ctx, e.DB, id, due, ""); err != nil {
			t.Fatal(err)
		}
		if err := closure.Schedule(ctx, e.DB, id, due, ""); !errors.Is(err, closure.ErrScheduled) {
			t.Errorf("twice: %v", err)
		}
		if err := closure.Cancel(ctx, e.DB, id); err != nil {
			t.Fatal(err)
		}
		row := e.DB.Ent.Practice.GetX(principal.AsSystem(ctx), id)
		if n := storetest.Int(t, e.DB, "SELECT count(*) FROM practice_deletions"); n != 0 || row.ClosesAt != nil {
			t.Errorf("%d rows are left, and the practice closes at %v", n, row.ClosesAt)
		}
		if err := closure.Schedule(ctx, e.DB, id, due, ""); err != nil {
			t.Fatal(err)
		}
		if err := closure.Cancel(clock.With(ctx, due), e.DB, id); err != nil {
			t.Errorf("on the day, before a run: %v", err)
		}
		if err := closure.Schedule(ctx, e.DB, id, due, "in the archive"); err != nil {
			t.Fatal(err)
		}
		if err := closure.Run(clock.With(t.Context(), due.Add(2*time.Minute)), e.DB); err != nil {
			t.Fatal(err)
		}
		if err := closure.Cancel(clock.With(ctx, due), e.DB, id); !errors.Is(err, closure.ErrBegan) {
			t.Errorf("after a run: %v", err)
		}
	})
}

// TestRecordsOfTheGracePeriodAreKept: a deletion does not begin while there are records to be kept whose location was not
// given, or that changed after the request, and begins once it is confirmed.
func TestRecordsOfTheGracePeriodAreKept(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		practice := practiceID(t, e.DB, "demo")
		id, now := uuid.MustParse(practice), e.Clock.Now()
		due := now.Add(48 * time.Hour)
		later := clock.With(t.Context(), due.Add(3*time.Minute))
		before := counts(t, e.DB, e.DB.SQL, practice, "=")
		waits := func(what, says string) {
			t.Helper()
			for range 2 {
				if err := closure.Run(later, e.DB); err == nil || !strings.Contains(err.Error(), says) {
					t.Errorf("%s: %v, want %q", what, err, says)
				}
			}
			if after := counts(t, e.DB, e.DB.SQL, practice, "="); after["patients"] != before["patients"] || after["appointments"] != before["appointments"] {
				t.Fatalf("%s: rows were deleted: %v, before %v", what, after, before)
			}
		}
		if err := closure.Schedule(clock.With(t.Context(), now), e.DB, id, due, ""); err != nil {
			t.Fatal(err)
		}
		waits("without the place of the records", "must be kept")
		if err := closure.Schedule(later, e.DB, id, due, "in the archive"); err != nil {
			t.Fatalf("confirm: %v", err)
		}
		if err := closure.Cancel(later, e.DB, id); err != nil {
			t.Fatal(err)
		}

		if err := closure.Schedule(clock.With(t.Context(), now), e.DB, id, due, "in the archive"); err != nil {
			t.Fatal(err)
		}
		for _, of := range []string{"appointments", "payments", "patients", "custom_field_answers", "notes"} {
			storetest.Exec(t, e.DB, "UPDATE "+of+" SET updated_at = $1 WHERE id = (SELECT id FROM "+of+" WHERE practice_id = $2 ORDER BY id DESC LIMIT 1)", now.Add(time.Hour), practice)
			waits(of+" changed", "(patients: 1)")
			storetest.Exec(t, e.DB, "UPDATE "+of+" SET updated_at = $1 WHERE practice_id = $2", now.Add(-time.Hour), practice)
		}
		storetest.Exec(t, e.DB, "UPDATE appointments SET updated_at = $1 WHERE id = (SELECT min(id) FROM appointments WHERE practice_id = $2 AND patient_id IS NOT NULL)", now.Add(time.Hour), practice)
		waits("an appointment changed", "(patients: 1)")
		if n := storetest.Int(t, e.DB, "SELECT count(*) FROM practice_deletions WHERE began_at IS NOT NULL"); n != 0 {
			t.Errorf("%d deletions began", n)
		}
		if err := closure.Schedule(later, e.DB, id, due, "in the archive, with the last days"); err != nil {
			t.Fatalf("confirm: %v", err)
		}
		if err := closure.Run(later, e.DB); err != nil {
			t.Fatal(err)
		}
		if after := counts(t, e.DB, e.DB.SQL, practice, "="); after["patients"] != 0 {
			t.Errorf("%d patients are left", after["patients"])
		}
		if err := closure.Schedule(later, e.DB, id, due, ""); err == nil {
			t.Error("a deleted practice can be scheduled")
		}
	})
}

// TestLegalHoldKeepsAPracticeThatIsDue: nothing is deleted while a legal hold is younger than the request.
func TestLegalHoldKeepsAPracticeThatIsDue(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		practice := practiceID(t, e.DB, "demo")
		id, due := uuid.MustParse(practice), e.Clock.Now().Add(48*time.Hour)
		if err := closure.Schedule(clock.With(t.Context(), e.Clock.Now()), e.DB, id, due, "in the archive"); err != nil {
			t.Fatal(err)
		}
		before := counts(t, e.DB, e.DB.SQL, practice, "=")
		storetest.Exec(t, e.DB, "UPDATE patients SET legal_hold_at = $1, legal_hold_reason = 'Claim 4711' WHERE id = (SELECT min(id) FROM patients WHERE practice_id = $2)", e.Clock.Now().Add(time.Hour), practice)
		if err := closure.Run(clock.With(t.Context(), due.Add(2*time.Minute)), e.DB); err == nil || !strings.Contains(err.Error(), "put under a legal hold") {
			t.Errorf("the run: %v", err)
		}
		if after := counts(t, e.DB, e.DB.SQL, practice, "="); !maps.Equal(before, after) {
			t.Errorf("rows were deleted: %v, before %v", after, before)
		}

		// It was deleted, and has been imported again since.
		storetest.Exec(t, e.DB, "UPDATE practice_deletions SET deleted_at = $1", due)
		storetest.Exec(t, e.DB, "UPDATE practices SET closes_at = NULL WHERE id = $1", practice)
		if err := closure.Run(clock.With(t.Context(), due.Add(2*time.Minute)), e.DB); err != nil {
			t.Error(err)
		}
		if after := counts(t, e.DB, e.DB.SQL, practice, "="); !maps.Equal(before, after) {
			t.Errorf("an imported practice was deleted: %v, before %v", after, before)
		}
	})
}
