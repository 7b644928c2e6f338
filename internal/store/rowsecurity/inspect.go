package rowsecurity

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"chairside/ent/patient"
	"chairside/internal/store/dbconn"
)

// State is what a database has of roles, policies and grants, as one connection sees it.
type State struct {
	// Roles are those that the policies and the view name; empty without policies.
	Roles Roles
	// Problems are what is missing or wrong, each a sentence without a full stop; empty if
	// the database is complete, or has no policies at all.
	Problems []string

	// Of the connection's role:
	User      string
	Login     string // the role that signed in, which can become User's other roles again
	Superuser bool   // the role or the login
	Bypasses  bool   // the role is not confined: it bypasses row-level security or owns tables
	MayServe  bool   // it is, or can become, the serving role
	MaySystem bool   // the same for the system role

	unprotected map[string]bool
	view        bool
}

// Exists reports whether the database has any policy of ours.
func (s *State) Exists() bool { return s.Roles.Serving != "" }

func (s *State) protects(name string) bool { return !s.unprotected[name] }

const inspectSession = `SELECT current_user, session_user,
	EXISTS (SELECT FROM pg_roles WHERE rolname IN (current_user, session_user) AND rolsuper),
	EXISTS (SELECT FROM pg_roles WHERE rolname = current_user AND (rolsuper OR rolbypassrls))
		OR EXISTS (SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND relrowsecurity AND pg_has_role(relowner, 'USAGE')),
	coalesce((SELECT pg_has_role(oid, 'MEMBER') FROM pg_roles WHERE rolname = $1), false),
	coalesce((SELECT pg_has_role(oid, 'MEMBER') FROM pg_roles WHERE rolname = $2), false)`

// inspectPolicies lists each table, whether it enforces policies, and each of its policies: its
// name, command, roles and conditions.
const inspectPolicies = `SELECT c.relname, c.relrowsecurity, coalesce(p.polname, ''), coalesce(p.polpermissive AND p.polcmd = '*', false),
	coalesce((SELECT string_agg(pg_get_userbyid(role), ',') FROM unnest(p.polroles) AS role), ''),
	coalesce(pg_get_expr(p.polqual, p.polrelid), ''), coalesce(pg_get_expr(p.polwithcheck, p.polrelid), '')
	FROM pg_class AS c LEFT JOIN pg_policy AS p ON p.polrelid = c.oid
	WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition ORDER BY c.relname, p.polname`

// Inspect compares a database with what the tables need.
func Inspect(ctx context.Context, pool *sql.DB, tables []Table) (*State, error) {
	s := &State{unprotected: map[string]bool{}}
	for _, step := range []func(context.Context, *sql.DB, []Table) error{s.readPolicies, s.readView, s.readFunction, s.readRoles, s.readOthers, s.readGrants} {
		if err := step(ctx, pool, tables); err != nil {
			return nil, fmt.Errorf("store: inspect row-level security: %w", err)
		}
	}
	err := pool.QueryRowContext(ctx, inspectSession, s.Roles.Serving, s.Roles.System).Scan(&s.User, &s.Login, &s.Superuser, &s.Bypasses, &s.MayServe, &s.MaySystem)
	if err != nil {
		return nil, fmt.Errorf("store: inspect row-level security: %w", err)
	}
	if !s.Exists() {
		s.Problems = nil
	}
	return s, nil
}

func (s *State) problem(format string, args ...any) {
	s.Problems = append(s.Problems, fmt.Sprintf(format, args...))
}

// readPolicies finds the tables without exactly our policy.
func (s *State) readPolicies(ctx context.Context, pool *sql.DB, tables []Table) error {
	rows, err := pool.QueryContext(ctx, inspectPolicies)
	if err != nil {
		return err
	}
	defer rows.Close()
	column := map[string]string{}
	for _, t := range tables {
		if t.Practice != "" {
			column[t.Name] = t.Practice
			s.unprotected[t.Name] = true
		}
	}
	for rows.Next() {
		var name, policyName, role, using, check string
		var enabled, whole bool
		if err := rows.Scan(&name, &enabled, &policyName, &whole, &role, &using, &check); err != nil {
			return err
		}
		if policyName == policy && s.Roles.Serving == "" {
			s.Roles.Serving = role
		}
		own, ours := column[name]
		switch {
		case policyName == policy && ours && enabled && whole && role == s.Roles.Serving && compares(using, own) && compares(check, own):
			s.unprotected[name] = false
		case policyName == "" || policyName == policy:
		default:
			s.problem("table %s has the policy %s, which is not ours and may open it", name, policyName)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(column)) {
		if s.unprotected[name] {
			s.problem("table %s has no policy for its practice", name)
		}
	}
	return rows.Err()
}

// compares reports whether a condition, as the server prints it, is ours.
func compares(condition, column string) bool {
	return strings.HasPrefix(condition, "("+column+" = "+printedPractice) && !strings.Contains(condition, " OR ")
}

// printedPractice is the beginning of ownPractice as the server prints it.
const printedPractice = "( SELECT (NULLIF(current_setting('" + dbconn.PracticeSetting + "'"

// readView finds the view of a search, and with it the system role.
func (s *State) readView(ctx context.Context, pool *sql.DB, _ []Table) error {
	var columns, definition string
	err := pool.QueryRowContext(ctx, `SELECT pg_get_userbyid(relowner), pg_get_viewdef(oid),
		(SELECT string_agg(attname, ',' ORDER BY attnum) FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0)
		FROM pg_class AS c WHERE relnamespace = 'public'::regnamespace AND relkind = 'v' AND relname = $1 AND reloptions IS NULL`, SearchView).Scan(&s.Roles.System, &definition, &columns)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	_, where, _ := strings.Cut(definition, "WHERE ")
	where = strings.Replace(where, patient.Table+".", "", 1) // PostgreSQL 15 and older print the column's table
	s.view = columns == strings.Join(searchColumns, ",") &&
		strings.HasPrefix(where, "(NOT ("+patient.FieldPracticeID+" IS DISTINCT FROM "+printedPractice) && !strings.Contains(where, " OR ")
	if !s.view {
		s.problem("the view %s is missing or not ours", SearchView)
	}
	return nil
}

// readRoles checks the attributes of the roles.
func (s *State) readRoles(ctx context.Context, pool *sql.DB, _ []Table) error {
	for _, r := range []struct {
		name     string
		bypasses bool
	}{{s.Roles.Serving, false}, {s.Roles.System, true}} {
		if r.name == "" {
			continue
		}
		var super, bypass, owner, escapes bool
		err := pool.QueryRowContext(ctx, `SELECT rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication, rolbypassrls,
			EXISTS (SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND pg_has_role(r.oid, relowner, 'MEMBER')),
			EXISTS (SELECT FROM pg_roles AS o WHERE o.oid <> r.oid AND (o.rolsuper OR o.rolbypassrls) AND pg_has_role(r.oid, o.oid, 'MEMBER'))
			FROM pg_roles AS r WHERE rolname = $1`, r.name).Scan(&super, &bypass, &owner, &escapes)
		switch {
		case err != nil:
			return err
		case super:
			s.problem("role %s may do more than Chairside needs: it is a superuser, or may create roles or databases, or replicate", r.name)
		case owner:
			s.problem("role %s owns tables, or is a member of their owner", r.name)
		case escapes && !r.bypasses:
			s.problem("role %s is a member of a role that bypasses row-level security", r.name)
		case bypass && !r.bypasses:
			s.problem("role %s bypasses row-level security", r.name)
		case !bypass && r.bypasses:
			s.problem("role %s must bypass row-level security (BYPASSRLS)", r.name)
		}
	}
	return nil
}

// inspectOthers lists what the roles may use beside whole tables of ours: columns, partitions, which have no
// policy, and relations that are not ours, but for those of extensions, and the views of analysts, which show each
// role only its own practice.
const inspectOthers = `SELECT c.oid::regclass::text, r.rolname, p.name
	FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace CROSS JOIN pg_roles AS r
	CROSS JOIN LATERAL (VALUES
		('SELECT', has_any_column_privilege(r.oid, c.oid, 'SELECT'), has_table_privilege(r.oid, c.oid, 'SELECT')),
		('INSERT', has_any_column_privilege(r.oid, c.oid, 'INSERT'), has_table_privilege(r.oid, c.oid, 'INSERT')),
		('UPDATE', has_any_column_privilege(r.oid, c.oid, 'UPDATE'), has_table_privilege(r.oid, c.oid, 'UPDATE')),
		('DELETE', false, has_table_privilege(r.oid, c.oid, 'DELETE')),
		('TRUNCATE', false, has_table_privilege(r.oid, c.oid, 'TRUNCATE'))) AS p(name, part, whole)
	WHERE r.rolname IN ($1, $2) AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT IN ('information_schema', 'report') AND n.nspname NOT LIKE 'pg\_%'
	AND NOT (c.relnamespace = 'public'::regnamespace AND (c.relname = $3 OR c.relname = $5 AND r.rolname = $2 AND p.name = 'SELECT'))
	AND NOT EXISTS (SELECT FROM pg_depend AS d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
	AND CASE WHEN c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relname = ANY(string_to_array($4, ','))
		THEN p.part AND NOT p.whole ELSE p.part OR p.whole END
	ORDER BY 1, 2, 3`

// readOthers finds privileges on anything but whole tables of ours.
func (s *State) readOthers(ctx context.Context, pool *sql.DB, tables []Table) error {
	ours := make([]string, len(tables))
	for i, t := range tables {
		ours[i] = t.Name
	}
	rows, err := pool.QueryContext(ctx, inspectOthers, s.Roles.Serving, s.Roles.System, SearchView, strings.Join(ours, ","), MigrationsTable)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var relation, role, privilege string
		if err := rows.Scan(&relation, &role, &privilege); err != nil {
			return err
		}
		if slices.Contains(ours, relation) {
			s.problem("role %s may %s columns of %s, but should use only whole tables", role, privilege, relation)
		} else {
			s.problem("role %s may %s %s, which is not one of Chairside's tables", role, privilege, relation)
		}
	}
	return rows.Err()
}

// readGrants finds privileges on tables that are missing or excess.
func (s *State) readGrants(ctx context.Context, pool *sql.DB, tables []Table) error {
	rows, err := pool.QueryContext(ctx, `SELECT c.relname, r.rolname, (SELECT string_agg(p, ', ' ORDER BY n)
		FROM unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE']) WITH ORDINALITY AS u(p, n) WHERE has_table_privilege(r.oid, c.oid, p))
		FROM pg_class AS c CROSS JOIN pg_roles AS r
		WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND r.rolname IN ($1, $2)`, s.Roles.Serving, s.Roles.System)
	if err != nil {
		return err
	}
	defer rows.Close()
	type of struct{ table, role string }
	have := map[of]string{}
	for rows.Next() {
		var key of
		var privileges sql.NullString
		if err := rows.Scan(&key.table, &key.role, &privileges); err != nil {
			return err
		}
		have[key] = privileges.String
	}
	for _, t := range tables {
		for role, want := range map[string]string{s.Roles.Serving: t.serving, s.Roles.System: t.system} {
			if got := have[of{t.Name, role}]; role != "" && got != want {
				s.problem("role %s may %s %s, but should %s", role, orNothing(got), t.Name, orNothing(want))
			}
		}
	}
	slices.Sort(s.Problems)
	return rows.Err()
}

func orNothing(privileges string) string {
	if privileges == "" {
		return "do nothing with"
	}
	return privileges
}
