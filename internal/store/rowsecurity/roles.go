package rowsecurity

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"chairside/ent/patient"
	"chairside/internal/entx/table"
	"chairside/internal/store/counters"
	"chairside/internal/store/dbconn"
)

// Roles are the names of the two roles.
type Roles struct{ Serving, System string }

// DefaultRoles are the names unless an operator chooses others.
var DefaultRoles = Roles{Serving: "chairside_serving", System: "chairside_system"}

// policy is the name of the policy of each table.
const policy = "chairside_practice"

// MigrationsTable is the table of applied migrations.
const MigrationsTable = "atlas_schema_revisions"

var roleName = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,62}$`)

// Check refuses names that are not plain identifiers, or equal.
func (r Roles) Check() error {
	for _, name := range []string{r.Serving, r.System} {
		if !roleName.MatchString(name) || strings.HasPrefix(name, "pg_") {
			return fmt.Errorf("%q is not a role name: use lower-case letters, digits and underscores", name)
		}
	}
	if r.Serving == r.System {
		return errors.New("the two roles need different names")
	}
	return nil
}

// condition returns the SQL condition that a row belongs to the practice of the connection. The
// sub-query is evaluated once for each statement. A setting that was local to a transaction is
// ” afterwards, hence nullif.
func condition(column string) string { return table.Quote(column) + " = " + ownPractice }

const ownPractice = "(SELECT nullif(current_setting('" + dbconn.PracticeSetting + "', true), '')::uuid)"

// create returns the statement that creates a role, or gives it the right attributes. It changes
// nothing, and needs no privilege, if the role is right already.
func create(name, bypass string, bypasses bool) string {
	return fmt.Sprintf(`DO $$ BEGIN
	IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '%[1]s') THEN
		CREATE ROLE %[1]s LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOINHERIT %[2]s;
	ELSIF EXISTS (SELECT FROM pg_roles WHERE rolname = '%[1]s' AND (rolsuper OR rolcreatedb OR rolcreaterole OR rolreplication OR rolbypassrls <> %[3]t)) THEN
		ALTER ROLE %[1]s NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION %[2]s;
	END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; -- created meanwhile
END $$`, name, bypass, bypasses)
}

// createRoles returns the statements that create both roles.
func (r Roles) createRoles() []string {
	return []string{create(r.Serving, "NOBYPASSRLS", false), create(r.System, "BYPASSRLS", true)}
}

// protect returns the statement that gives a table its policy. It is one transaction.
func (r Roles) protect(t Table) string {
	name := table.Quote(t.Name)
	return fmt.Sprintf(`ALTER TABLE %[1]s ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS %[2]s ON %[1]s;
CREATE POLICY %[2]s ON %[1]s TO %[3]s USING (%[4]s) WITH CHECK (%[4]s)`, name, policy, r.Serving, condition(t.Practice))
}

// grant returns the statements of both roles' privileges, in one transaction.
func (r Roles) grant(tables []Table) string {
	both := r.Serving + ", " + r.System
	all := []string{
		r.revokeAll(),
		"REVOKE CREATE ON SCHEMA public FROM PUBLIC, " + both, // all have it in a database that PostgreSQL 14 or older created
		"GRANT USAGE ON SCHEMA public TO " + both,
		"GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO " + both, // a new row's id is known before its sealed values
		"GRANT SELECT ON " + MigrationsTable + " TO " + r.System,
	}
	for _, t := range tables {
		if t.serving != "" {
			all = append(all, "GRANT "+t.serving+" ON "+table.Quote(t.Name)+" TO "+r.Serving)
		}
		all = append(all, "GRANT "+t.system+" ON "+table.Quote(t.Name)+" TO "+r.System)
	}
	return strings.Join(all, ";\n")
}

// revokeAll returns the statement that takes away all privileges but that of the view. It leaves
// relations of other owners alone: the tables' owner may not touch the view, which belongs to the
// system role and has had its privilege since a superuser made it.
func (r Roles) revokeAll() string {
	return fmt.Sprintf(`DO $$
DECLARE relation regclass;
BEGIN
	FOR relation IN SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f') AND pg_has_role(relowner, 'USAGE') LOOP
		EXECUTE format('REVOKE ALL ON %%s FROM %[1]s, %[2]s', relation);
	END LOOP;
	IF pg_has_role((SELECT relowner FROM pg_class WHERE oid = '%[3]s'::regclass), 'USAGE') THEN
		GRANT SELECT ON %[3]s TO %[1]s;
	END IF;
END $$`, r.Serving, r.System, SearchView)
}

// search returns the statements that create the view of a search, in one transaction.
func (r Roles) search() string {
	return fmt.Sprintf(`DROP VIEW IF EXISTS %[1]s;
CREATE VIEW %[1]s AS SELECT %[2]s FROM %[3]s WHERE %[4]s;
GRANT CREATE ON SCHEMA public TO %[5]s;
ALTER VIEW %[1]s OWNER TO %[5]s;
REVOKE CREATE ON SCHEMA public FROM %[5]s`, SearchView, table.Quote(searchColumns...), patient.Table, searchCondition, r.System)
}

// vacuum sets autovacuum to take over the vacuuming of counters, which only the tables' owner may
// run (counters.KeepCompacting).
const vacuum = "ALTER TABLE " + counters.ChangesTable + " SET (autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_scale_factor = 0);\n" +
	"ALTER TABLE " + counters.Table + " SET (autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_scale_factor = 0)"

// Statements returns everything that Apply does on a database without roles, each a transaction
// of its own.
func (r Roles) Statements(tables []Table) []string {
	all := r.createRoles()
	for _, t := range tables {
		if t.Practice != "" {
			all = append(all, r.protect(t))
		}
	}
	return append(all, r.search(), r.deletion(), r.grant(tables), vacuum)
}

// Apply creates the roles, policies and grants that are missing, and returns the tables that got
// a policy. pool must be that of a superuser for roles that do not exist, and of the tables'
// owner. A server can keep running: each table is locked for an instant.
func (r Roles) Apply(ctx context.Context, pool *sql.DB, tables []Table) (protected []string, err error) {
	run := func(statements ...string) error {
		for _, s := range statements {
			if _, err := pool.ExecContext(ctx, s); err != nil {
				return fmt.Errorf("store: row-level security: %w", err)
			}
		}
		return nil
	}
	if err := run(r.createRoles()...); err != nil {
		return nil, err
	}
	have, err := Inspect(ctx, pool, tables)
	if err != nil {
		return nil, err
	}
	for _, t := range tables {
		if t.Practice == "" || have.Roles == r && have.protects(t.Name) {
			continue
		}
		if err := run(r.protect(t)); err != nil {
			return protected, err
		}
		protected = append(protected, t.Name)
	}
	if have.Roles != r || !have.view {
		if err := run(r.search()); err != nil {
			return protected, err
		}
	}
	return protected, run(r.deletion(), r.grant(tables), vacuum)
}
