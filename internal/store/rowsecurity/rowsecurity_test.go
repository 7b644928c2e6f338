package rowsecurity_test

import (
	"context"
	"crypto/rand"
	"net/url"
	"slices"
	"strings"
	"testing"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"
	"entgo.io/ent/dialect/sql/schema"

	"chairside/ent/patient"
	"chairside/ent/predicate"
	"chairside/internal/store"
	"chairside/internal/store/migrate"
	"chairside/internal/store/rowsecurity"
	"chairside/internal/store/storetest"
	"chairside/internal/test/testdb"
)

// protected returns the URL of a new copy of the seeded database with both roles, and the
// database opened by the tables' owner.
func protected(t *testing.T) (url string, owner *store.DB) {
	t.Helper()
	url = testdb.Practice.Postgres(t)
	owner = storetest.Open(t, url)
	if _, err := owner.CreateRoles(t.Context(), rowsecurity.DefaultRoles); err != nil {
		t.Fatal(err)
	}
	return url, owner
}

// TestEveryTableHasAPolicy lists every table of the database: it has a policy, or is named as a
// table of the installation.
func TestEveryTableHasAPolicy(t *testing.T) {
	t.Parallel()
	_, owner := protected(t)
	state, err := owner.RowSecurity(t.Context())
	if err != nil || len(state.Problems) > 0 {
		t.Errorf("%v, %v", state.Problems, err)
	}
	rows, err := owner.SQL.QueryContext(t.Context(), "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition AND NOT relrowsecurity ORDER BY relname")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var open []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		open = append(open, name)
	}
	want := []string{"atlas_schema_revisions", "feed_state", "import_runs", "passkey_challenges", "practice_deletions", "rate_buckets", "sign_in_attempts"}
	if err := rows.Err(); err != nil || !slices.Equal(open, want) {
		t.Errorf("tables without a policy: %v, want %v; %v", open, want, err)
	}
	if _, err := rowsecurity.Tables([]*schema.Table{{Name: "letters"}}); err == nil {
		t.Error("a table without a practice is accepted")
	}
}

// TestForeignKeysCarryThePractice: checks of foreign keys bypass policies, so each key between
// tables of a practice includes the practice.
func TestForeignKeysCarryThePractice(t *testing.T) {
	t.Parallel()
	tables, err := migrate.Desired(dialect.Postgres)
	if err != nil {
		t.Fatal(err)
	}
	// Applications belong to the practice that registered them, but every practice may use them.
	exempt := []string{"access_tokens.application_id", "authorization_codes.application_id"}
	var simple []string
	for _, table := range tables {
		for _, key := range table.ForeignKeys {
			from, to := rowsecurity.PracticeColumn(table), rowsecurity.PracticeColumn(key.RefTable)
			if from == "" || to == "" || key.RefTable.Name == "practices" {
				continue
			}
			if len(key.Columns) == 1 || key.Columns[0].Name != from || key.RefColumns[0].Name != to {
				simple = append(simple, table.Name+"."+key.Columns[0].Name)
			}
		}
	}
	slices.Sort(simple)
	if !slices.Equal(simple, exempt) {
		t.Errorf("keys without the practice: %v, want %v", simple, exempt)
	}
}

// TestIndexesAreLeakProof lists the indexes whose operators a policy keeps the planner from
// using. Each needs a way around it, and a test of its plan.
func TestIndexesAreLeakProof(t *testing.T) {
	t.Parallel()
	_, owner := protected(t)
	rows, err := owner.SQL.QueryContext(t.Context(), `SELECT DISTINCT i.relname FROM pg_index AS x JOIN pg_class AS i ON i.oid = x.indexrelid JOIN pg_class AS t ON t.oid = x.indrelid
		CROSS JOIN unnest(x.indclass) AS class JOIN pg_opclass AS o ON o.oid = class
		JOIN pg_amop AS a ON a.amopfamily = o.opcfamily AND a.amoplefttype = o.opcintype AND a.amoprighttype = o.opcintype
		JOIN pg_operator AS p ON p.oid = a.amopopr JOIN pg_proc AS f ON f.oid = p.oprcode
		WHERE t.relrowsecurity AND NOT f.proleakproof ORDER BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var leaky []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		leaky = append(leaky, name)
	}
	if err := rows.Err(); err != nil || !slices.Equal(leaky, []string{"patient_search_keys"}) {
		t.Errorf("indexes that policies hide: %v, %v", leaky, err)
	}
}

// TestSearchKeepsItsIndex: as the serving role, a search through the view uses the index of keys,
// and shows one practice. The same search in the table cannot.
func TestSearchKeepsItsIndex(t *testing.T) {
	t.Parallel()
	_, owner := protected(t)
	conn, err := owner.SQL.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	run := func(statement string) {
		t.Helper()
		if _, err := conn.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	practice := storetest.Value(t, owner.SQL, "SELECT id FROM practices WHERE slug = 'demo'")
	// The table is small; the planner is told that it is not.
	run("ANALYZE patients")
	run("UPDATE pg_class SET reltuples = 1000000 WHERE oid = 'patients'::regclass")
	run("SET ROLE " + rowsecurity.DefaultRoles.Serving)
	run("SET chairside.practice = '" + practice + "'")
	smith := func(s *sql.Selector) {
		s.Where(sql.ExprP("practice_search_keys(practice_id, search_text) && (SELECT ARRAY['x']) AND practice_search_keys(practice_id, search_text) @> (SELECT ARRAY[]::text[]) AND strpos(search_text, ' smith') > 0"))
	}
	var query string
	plan := func(found func(*sql.Selector)) string {
		t.Helper()
		patients := sql.Dialect(dialect.Postgres).Select().From(sql.Table(patient.Table)).Where(sql.ExprP("practice_id = '" + practice + "'"))
		found(patients)
		var arguments []any
		query, arguments = patients.Query()
		return storetest.Value(t, conn, "EXPLAIN (FORMAT JSON) "+query, arguments...)
	}
	if got := plan(store.InSearchView([]predicate.Patient{smith})); !strings.Contains(got, "patient_search_keys") {
		t.Errorf("the search does not use its index:\n%s", got)
	}
	if !strings.Contains(query, "OFFSET 0") { // only PostgreSQL 18 and newer need it
		t.Errorf("the planner may join the table with itself into one: %s", query)
	}
	if got := plan(smith); strings.Contains(got, "patient_search_keys") {
		t.Errorf("the view is no longer needed:\n%s", got)
	}
	if n := storetest.Value(t, conn, "SELECT count(*) FROM "+rowsecurity.SearchView+" WHERE practice_id <> $1", practice); n != "0" {
		t.Errorf("the view shows %s patients of other practices", n)
	}
	run("SET chairside.practice = ''")
	if n := storetest.Value(t, conn, "SELECT count(*) FROM "+rowsecurity.SearchView); n != "0" {
		t.Errorf("without a practice the view shows %s patients", n)
	}
}

// TestRolesMayDoNoMore: the serving role changes no history, no other tables and no structure.
func TestRolesMayDoNoMore(t *testing.T) {
	t.Parallel()
	_, owner := protected(t)
	conn, err := owner.SQL.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for role, statements := range map[string][]string{
		rowsecurity.DefaultRoles.Serving: {
			"UPDATE audit_events SET action = 'create'", "DELETE FROM note_versions", "TRUNCATE patients", "INSERT INTO practices DEFAULT VALUES",
			"DELETE FROM practices", "SELECT * FROM sign_in_attempts", "SELECT * FROM rate_buckets", "UPDATE counters SET n = 0",
			"UPDATE feed_state SET last_seq = 0", "DROP POLICY chairside_practice ON patients", "ALTER TABLE patients DISABLE ROW LEVEL SECURITY",
			"CREATE TABLE own (id int)", "CREATE ROLE other", "SELECT * FROM atlas_schema_revisions", "DROP VIEW patient_search",
		},
		rowsecurity.DefaultRoles.System: {
			"UPDATE audit_events SET action = 'create'", "DELETE FROM audit_events", "DELETE FROM note_versions", "TRUNCATE patients",
			"ALTER TABLE patients DISABLE ROW LEVEL SECURITY", "CREATE TABLE own (id int)", "CREATE ROLE other",
		},
	} {
		if _, err := conn.ExecContext(t.Context(), "SET ROLE "+role); err != nil {
			t.Fatal(err)
		}
		for _, s := range statements {
			if _, err := conn.ExecContext(t.Context(), s); err == nil || !strings.Contains(err.Error(), "42501") {
				t.Errorf("%s, %s: %v", role, s, err)
			}
		}
	}
}

// earlierFunction replaces the function's text, as an earlier version of the program would have it.
const earlierFunction = `CREATE OR REPLACE FUNCTION chairside_delete_rows(practice uuid, rows_of text, batch integer) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$ BEGIN RETURN 0; END $$`

// TestInspectFindsWhatIsWrong changes the database by hand in ways that open it.
func TestInspectFindsWhatIsWrong(t *testing.T) {
	t.Parallel()
	_, owner := protected(t)
	for change, want := range map[string]string{
		"ALTER TABLE patients DISABLE ROW LEVEL SECURITY":                "table patients has no policy",
		"DROP POLICY chairside_practice ON notes":                        "table notes has no policy",
		"ALTER POLICY chairside_practice ON rooms USING (true)":          "table rooms has no policy",
		"ALTER POLICY chairside_practice ON rooms WITH CHECK (true)":     "table rooms has no policy",
		"CREATE POLICY wide ON users USING (true)":                       "table users has the policy wide",
		"GRANT UPDATE ON audit_events TO chairside_serving":              "role chairside_serving may SELECT, INSERT, UPDATE audit_events",
		"GRANT DELETE ON note_versions TO chairside_system":              "role chairside_system may SELECT, INSERT, DELETE note_versions",
		"REVOKE SELECT ON patients FROM chairside_serving":               "role chairside_serving may INSERT, UPDATE, DELETE patients",
		"ALTER FUNCTION chairside_delete_rows OWNER TO chairside_system": "the function chairside_delete_rows",
		"ALTER FUNCTION chairside_delete_rows SECURITY INVOKER":          "the function chairside_delete_rows",
		"ALTER FUNCTION chairside_delete_rows RESET search_path":         "the function chairside_delete_rows",
		"GRANT EXECUTE ON FUNCTION chairside_delete_rows TO PUBLIC":      "the function chairside_delete_rows",
		earlierFunction: "the function chairside_delete_rows",
		"GRANT UPDATE (details) ON audit_events TO chairside_serving":                                                                                         "role chairside_serving may UPDATE columns of audit_events",
		"GRANT SELECT, DELETE ON audit_events_default TO chairside_serving":                                                                                   "role chairside_serving may DELETE audit_events_default",
		"CREATE OR REPLACE VIEW wide AS SELECT * FROM patients; GRANT SELECT ON wide TO chairside_serving":                                                    "role chairside_serving may SELECT wide",
		"CREATE SCHEMA aside; CREATE TABLE aside.copy AS SELECT * FROM patients; GRANT USAGE ON SCHEMA aside TO PUBLIC; GRANT SELECT ON aside.copy TO PUBLIC": "role chairside_serving may SELECT aside.copy",
		"ALTER VIEW patient_search SET (security_invoker = on)":                                                                                               "the view patient_search",
		"CREATE OR REPLACE VIEW patient_search AS SELECT id, practice_id, search_text FROM patients":                                                          "the view patient_search",
	} {
		storetest.Exec(t, owner, change)
		state, err := owner.RowSecurity(t.Context())
		if err != nil || !slices.ContainsFunc(state.Problems, func(p string) bool { return strings.Contains(p, want) }) {
			t.Errorf("%s: %v, %v", change, state.Problems, err)
		}
		storetest.Exec(t, owner, "DROP POLICY IF EXISTS wide ON users; DROP VIEW IF EXISTS wide; DROP SCHEMA IF EXISTS aside CASCADE")
		if _, err := owner.CreateRoles(t.Context(), rowsecurity.DefaultRoles); err != nil {
			t.Fatal(err)
		}
		if state, err = owner.RowSecurity(t.Context()); err != nil || len(state.Problems) > 0 {
			t.Errorf("after %s and a repair: %v, %v", change, state.Problems, err)
		}
	}
}

// TestTheFunctionBelongsToTheOwnerOfTheTables although a superuser created the roles: it has the
// rights of its owner.
func TestTheFunctionBelongsToTheOwnerOfTheTables(t *testing.T) {
	t.Parallel()
	_, superuser := protected(t)
	storetest.Exec(t, superuser, "ALTER TABLE practice_deletions OWNER TO chairside_system")
	if _, err := superuser.CreateRoles(t.Context(), rowsecurity.DefaultRoles); err != nil {
		t.Fatal(err)
	}
	if owner := storetest.Value(t, superuser.SQL, "SELECT proowner::regrole FROM pg_proc WHERE proname = 'chairside_delete_rows'"); owner != "chairside_system" {
		t.Errorf("the function belongs to %s", owner)
	}
}

// TestOwnerOfTheTablesProtectsNewOnes: after a migration the tables' owner, who is no superuser, runs
// the command again.
func TestOwnerOfTheTablesProtectsNewOnes(t *testing.T) {
	t.Parallel()
	raw, superuser := protected(t)
	role := "owner_" + strings.ToLower(rand.Text())
	storetest.Exec(t, superuser, "CREATE ROLE "+role+" LOGIN PASSWORD '"+role+"'")
	t.Cleanup(func() { // the role outlives the database
		if _, err := superuser.SQL.ExecContext(context.Background(), "REASSIGN OWNED BY "+role+" TO CURRENT_USER; DROP OWNED BY "+role+"; DROP ROLE "+role); err != nil {
			t.Error(err)
		}
	})
	storetest.Exec(t, superuser, `DO $$
DECLARE relation regclass;
BEGIN
	FOR relation IN SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') LOOP
		EXECUTE format('ALTER TABLE %s OWNER TO `+role+`', relation);
	END LOOP;
	EXECUTE format('ALTER DATABASE %I OWNER TO `+role+`', current_database());
	ALTER FUNCTION chairside_delete_rows OWNER TO `+role+`;
	ALTER SCHEMA public OWNER TO `+role+`;
END $$`)
	storetest.Exec(t, superuser, "DROP POLICY chairside_practice ON recalls; ALTER TABLE recalls DISABLE ROW LEVEL SECURITY; REVOKE ALL ON recalls FROM chairside_serving, chairside_system")
	address, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	address.User = url.UserPassword(role, role)
	owner := storetest.Open(t, address.String())
	names, err := owner.CreateRoles(t.Context(), rowsecurity.DefaultRoles)
	if err != nil || !slices.Equal(names, []string{"recalls"}) {
		t.Fatalf("protected %v: %v", names, err)
	}
	state, err := superuser.RowSecurity(t.Context())
	if err != nil || len(state.Problems) > 0 {
		t.Errorf("%v, %v", state.Problems, err)
	}
}
