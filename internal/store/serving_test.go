package store_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/internal/principal"
	"chairside/internal/store"
	"chairside/internal/store/feedlog"
	"chairside/internal/store/migrate"
	"chairside/internal/store/rowsecurity"
	"chairside/internal/store/storetest"
	"chairside/internal/test/localpg"
	"chairside/internal/test/testdb"
)

// roleURLs returns the URLs of the serving and the system role in a new copy of the seeded
// database, and that of its owner. parameters are added to both.
func roleURLs(t *testing.T, parameters string) (serving, system, owner string) {
	t.Helper()
	owner = testdb.Practice.Postgres(t)
	db := storetest.Open(t, owner)
	if _, err := db.CreateRoles(t.Context(), rowsecurity.DefaultRoles); err != nil {
		t.Fatal(err)
	}
	as := func(role string) string { return storetest.With(owner, "role="+role+parameters) }
	return as(rowsecurity.DefaultRoles.Serving), as(rowsecurity.DefaultRoles.System), owner
}

// throughPooler returns the URLs of both roles through a PgBouncer, whose server connections are
// shared by the clients of a role.
func throughPooler(t *testing.T, owner string) (serving, system string) {
	t.Helper()
	u, err := url.Parse(owner)
	if err != nil {
		t.Fatal(err)
	}
	settings := []string{"[databases]"}
	for _, role := range []string{rowsecurity.DefaultRoles.Serving, rowsecurity.DefaultRoles.System} {
		settings = append(settings, fmt.Sprintf("%s = host=%s port=%s dbname=%s connect_query='SET ROLE %s' pool_size=2", role, u.Hostname(), u.Port(), strings.TrimPrefix(u.Path, "/"), role))
	}
	pooler, err := localpg.StartPooler(t.Context(), owner, settings...)
	if errors.Is(err, localpg.ErrNoPooler) && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pooler.Stop() })
	as := func(role string) string {
		u.Path = "/" + role
		through, err := pooler.URL(u.String())
		if err != nil {
			t.Fatal(err)
		}
		return through
	}
	return as(rowsecurity.DefaultRoles.Serving), as(rowsecurity.DefaultRoles.System)
}

func openServing(t *testing.T, url, system string) *store.DB {
	t.Helper()
	db, err := store.OpenServing(t.Context(), url, system)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// practiceContexts returns a context for each practice.
func practiceContexts(t *testing.T, db *store.DB) (all []context.Context) {
	t.Helper()
	practices, err := db.Ent.Practice.Query().All(principal.AsSystem(t.Context()))
	if err != nil || len(practices) != 2 {
		t.Fatal(len(practices), err)
	}
	for _, p := range practices {
		all = append(all, principal.With(t.Context(), &principal.Principal{PracticeID: p.ID}))
	}
	return all
}

// checkVisible reports unless statements without a filter see the patients of the principal's
// practice alone, with arguments and without.
func checkVisible(t *testing.T, ctx context.Context, db *store.DB) {
	t.Helper()
	for _, statement := range []string{"SELECT coalesce(string_agg(DISTINCT practice_id::text, ','), '') FROM patients", "SELECT coalesce(string_agg(DISTINCT practice_id::text, ','), '') FROM patients WHERE id > $1"} {
		args := []any{0}[:strings.Count(statement, "$")]
		var got string
		if err := db.Pool(ctx).QueryRowContext(ctx, statement, args...).Scan(&got); err != nil {
			t.Error(err)
		}
		if want := principal.Must(ctx).PracticeID.String(); got != want {
			t.Errorf("%s shows the practices %q, want %s", statement, got, want)
		}
	}
}

// TestServingIsConfined covers connections that keep their server connection, and those behind a
// pooler, whose settings end with each transaction.
func TestServingIsConfined(t *testing.T) {
	t.Parallel()
	for name, parameters := range map[string]string{"direct": "&pool_size=2", "pooled": "&pool_size=2&statement_cache=off", "pgbouncer": "&pool_size=2"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			serving, system, owner := roleURLs(t, parameters)
			if name == "pgbouncer" {
				serving, system = throughPooler(t, owner)
			}
			db := openServing(t, serving, system)
			if !db.Confined() || db.Unconfined() != "" {
				t.Fatal("row-level security is off")
			}
			contexts := practiceContexts(t, db)
			var group sync.WaitGroup
			for i := range 40 {
				group.Go(func() { checkVisible(t, contexts[i%2], db) })
			}
			group.Wait()

			// A new practice, and an unknown one.
			checkNone := func(ctx context.Context) {
				t.Helper()
				var n int
				if err := db.Pool(contexts[0]).QueryRowContext(ctx, "SELECT count(*) FROM patients WHERE id > $1", 0).Scan(&n); n != 0 || err != nil {
					t.Errorf("%d patients, %v", n, err)
				}
			}
			checkNone(t.Context())
			checkNone(principal.With(t.Context(), &principal.Principal{PracticeID: uuid.New()}))
			checkVisible(t, contexts[1], db)

			// Errors, rollbacks and switches undo or change the setting.
			for _, ctx := range slices.Concat(contexts, contexts) {
				if _, err := db.Pool(ctx).ExecContext(ctx, "SELECT 1 / $1::int", 0); err == nil {
					t.Error("a division by zero succeeded")
				}
				checkVisible(t, ctx, db)
				tx, err := db.Pool(ctx).BeginTx(ctx, nil)
				if err != nil {
					t.Fatal(err)
				}
				for _, within := range contexts {
					var got string
					if err := tx.QueryRowContext(within, "SELECT string_agg(DISTINCT practice_id::text, ',') FROM patients WHERE id > $1", 0).Scan(&got); err != nil || got != principal.Must(within).PracticeID.String() {
						t.Errorf("in a transaction: practices %q, %v", got, err)
					}
				}
				if err := tx.Rollback(); err != nil {
					t.Error(err)
				}
				checkVisible(t, contexts[0], db)
				checkVisible(t, contexts[1], db)
			}

			// A row of another practice can be neither written nor inserted.
			for i, ctx := range contexts {
				other := principal.Must(contexts[1-i]).PracticeID
				result, err := db.Pool(ctx).ExecContext(ctx, "UPDATE patients SET preferred_name = 'x' WHERE practice_id = $1", other)
				if err != nil {
					t.Fatal(err)
				}
				if n, err := result.RowsAffected(); n != 0 || err != nil {
					t.Errorf("%d rows written, %v", n, err)
				}
				_, err = db.Pool(ctx).ExecContext(ctx, "UPDATE patients SET practice_id = $1", other)
				if err == nil || !strings.Contains(err.Error(), "row-level security") {
					t.Errorf("patients move to another practice: %v", err)
				}
			}
		})
	}
}

// TestServingPreparesNothing: nothing may be prepared for later.
func TestServingPreparesNothing(t *testing.T) {
	t.Parallel()
	serving, system, _ := roleURLs(t, "")
	db := openServing(t, serving, system)
	ctx := practiceContexts(t, db)[0]
	if s, err := db.Pool(ctx).PrepareContext(ctx, "SELECT count(*) FROM patients"); err == nil {
		s.Close()
		t.Error("a statement is prepared")
	}
}

// TestViewsAndTransactionsAreConfined covers the other ways to the pool.
func TestViewsAndTransactionsAreConfined(t *testing.T) {
	t.Parallel()
	serving, system, _ := roleURLs(t, "&pool_size=2")
	db := openServing(t, serving, system)
	for _, ctx := range practiceContexts(t, db) {
		count := func(about string, client *ent.Client) {
			t.Helper()
			n, err := client.Patient.Query().Count(ctx)
			if n == 0 || err != nil {
				t.Errorf("%s: %d patients, %v", about, n, err)
			}
		}
		if err := db.View(ctx, func(client *ent.Client) error { count("view", client); return nil }); err != nil {
			t.Error(err)
		}
		if err := db.Tx(ctx, func(tx *ent.Client) error { count("transaction", tx); return nil }); err != nil {
			t.Error(err)
		}
	}
}

// TestOpenServing: which wall a server has, by the roles of its URLs.
func TestOpenServing(t *testing.T) {
	t.Parallel()
	serving, system, owner := roleURLs(t, "")
	if db := openServing(t, owner, ""); !db.Confined() {
		t.Error("the owner does not take the roles by itself")
	}
	if db := openServing(t, storetest.With(owner, "statement_cache=off"), ""); db.Confined() || !strings.Contains(db.Unconfined(), "pooler") {
		t.Errorf("behind a pooler: %q", db.Unconfined())
	}
	if db := openServing(t, testdb.Migrated.Postgres(t), ""); db.Confined() || !strings.Contains(db.Unconfined(), "database roles") {
		t.Errorf("without roles: %q", db.Unconfined())
	}
	if db := openServing(t, storetest.SQLite(t), ""); db.Confined() || db.Unconfined() != "" {
		t.Error("an embedded database has no roles to miss")
	}
	for about, urls := range map[string][2]string{
		"--system-database-url":         {serving, ""},
		"must be chairside_serving":     {owner, system},
		"must be chairside_serving, ":   {system, system},
		"must be chairside_system":      {serving, serving},
		"needs PostgreSQL":              {storetest.SQLite(t), system},
		"the database has no row-level": {testdb.Migrated.Postgres(t), testdb.Migrated.Postgres(t)},
	} {
		db, err := store.OpenServing(t.Context(), urls[0], urls[1])
		if err == nil {
			db.Close()
		}
		if err == nil || !strings.Contains(err.Error(), about) {
			t.Errorf("%s: %v", about, err)
		}
	}
	db := storetest.Open(t, owner)
	storetest.Exec(t, db, "ALTER TABLE patients DISABLE ROW LEVEL SECURITY")
	for _, urls := range [][2]string{{serving, system}, {owner, ""}} {
		if _, err := store.OpenServing(t.Context(), urls[0], urls[1]); err == nil || !strings.Contains(err.Error(), "table patients has no policy") {
			t.Errorf("an open table: %v", err)
		}
	}
}

// TestMembershipIsAProblem: a serving role that can take the system role is not confined.
func TestMembershipIsAProblem(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, testdb.Migrated.Postgres(t))
	roles := rowsecurity.Roles{Serving: "chairside_member_serving", System: "chairside_member_system"}
	if _, err := db.CreateRoles(t.Context(), roles); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, role := range []string{roles.Serving, roles.System} {
			if _, err := db.SQL.ExecContext(context.WithoutCancel(t.Context()), "DROP OWNED BY "+role+" CASCADE; DROP ROLE "+role); err != nil {
				t.Error(err)
			}
		}
	})
	for _, c := range []struct{ statement, want string }{
		{"SELECT 1", ""},
		{"GRANT " + roles.System + " TO " + roles.Serving, "is a member of a role that bypasses row-level security"},
	} {
		storetest.Exec(t, db, c.statement)
		state, err := db.RowSecurity(t.Context())
		if found := strings.Join(state.Problems, "; "); err != nil || !strings.Contains(found, c.want) || c.want == "" && found != "" {
			t.Errorf("%s: problems %q, %v", c.statement, found, err)
		}
	}
}

// TestTwoLogins signs in as the roles themselves, which may do all that a server does, and cannot
// take the owner's role.
func TestTwoLogins(t *testing.T) {
	t.Parallel()
	_, _, address := roleURLs(t, "")
	owner := storetest.Open(t, address)
	login := func(role string) string {
		t.Helper()
		storetest.Exec(t, owner, "ALTER ROLE "+role+" PASSWORD 'of a test'")
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		u.User = url.UserPassword(role, "of a test")
		return u.String()
	}
	db := openServing(t, login(rowsecurity.DefaultRoles.Serving), login(rowsecurity.DefaultRoles.System))
	ready := db.Ready(t.Context())
	for range 20 { // Ready has little time on a busy machine
		if ready == nil {
			break
		}
		ready = db.Ready(t.Context())
	}
	if ready != nil {
		t.Error(ready)
	}
	if err := migrate.Check(t.Context(), db); err != nil {
		t.Error(err)
	}
	if _, err := db.Counters.Compact(t.Context()); err != nil {
		t.Error(err)
	}
	if err := feedlog.Sequence(t.Context(), db.SQL, db.Dialect); err != nil {
		t.Error(err)
	}
	state, err := db.RowSecurity(t.Context())
	if err != nil || state.Superuser || len(state.Problems) > 0 {
		t.Errorf("%+v, %v", state, err)
	}
	for _, ctx := range practiceContexts(t, db) {
		checkVisible(t, ctx, db)
		err := db.Tx(ctx, func(tx *ent.Client) error {
			id, err := tx.Patient.Query().FirstID(ctx)
			if err != nil {
				return err
			}
			return tx.Patient.UpdateOneID(id).SetPreferredName("Written").Exec(ctx)
		})
		if err != nil {
			t.Error(err)
		}
		for _, statement := range []string{"RESET ROLE", "SET SESSION AUTHORIZATION DEFAULT", "SET row_security = off"} {
			conn, err := db.Pool(ctx).Conn(ctx)
			if err != nil {
				t.Fatal(err)
			}
			var n int
			_, set := conn.ExecContext(ctx, statement)
			reading := conn.QueryRowContext(ctx, "SELECT count(DISTINCT practice_id) FROM patients WHERE id > $1", 0).Scan(&n)
			if set == nil && reading == nil && n != 1 {
				t.Errorf("after %s %d practices are visible", statement, n)
			}
			if _, err := conn.ExecContext(ctx, "SET row_security = on"); err != nil {
				t.Error(err)
			}
			conn.Close()
		}
		if _, err := db.Pool(ctx).ExecContext(ctx, "SET ROLE "+rowsecurity.DefaultRoles.System); err == nil {
			t.Error("the serving role becomes the system role")
		}
	}
}
