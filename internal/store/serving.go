package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"chairside/internal/principal"
	"chairside/internal/store/admission"
	"chairside/internal/store/rowsecurity"
)

// systemPool is the number of connections for background work, unless the URL has a
// pool_size.
const systemPool = 8

// OpenServing opens a database for a server. Where row-level security is set up, statements with
// a principal run as the serving role, confined to the principal's practice, and all others over
// a second, smaller pool as the system role (package rowsecurity).
//
// With a system URL, url signs in as the serving role and system as the system role; OpenServing
// fails unless both are what they should be and the database is complete. Without one, the role
// of url becomes both by SET ROLE, if it may. If it may not, or the database has no policies, it
// opens url alone: Unconfined then returns the reason, for a warning.
func OpenServing(ctx context.Context, url, system string) (*DB, error) {
	if system != "" {
		return openBoth(ctx, url, system, rowsecurity.Roles{})
	}
	db, err := Open(ctx, url)
	if err != nil || !db.postgres() {
		return db, err
	}
	state, err := db.RowSecurity(ctx)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	switch {
	case !state.Exists():
		db.unconfined = `row-level security is off: run "chairside database roles"`
	case !state.Bypasses:
		return nil, errors.Join(fmt.Errorf("row-level security confines the role %s: set --system-database-url to a URL of the role %s", state.User, state.Roles.System), db.Close())
	case len(state.Problems) > 0:
		return nil, errors.Join(incomplete(state), db.Close())
	case !state.MayServe || !state.MaySystem:
		db.unconfined = fmt.Sprintf("row-level security is off: the role %s bypasses it; use %s, and %s for --system-database-url", state.User, state.Roles.Serving, state.Roles.System)
	case db.pooled:
		db.unconfined = "row-level security is off: behind a pooler it needs --system-database-url"
	default:
		if err := db.Close(); err != nil {
			return nil, err
		}
		return openBoth(ctx, url, url, state.Roles)
	}
	return db, nil
}

// incomplete is the error of a database whose policies or grants are not those of this version.
func incomplete(s *rowsecurity.State) error {
	return fmt.Errorf("row-level security is incomplete: run \"chairside database roles\" (%s)", strings.Join(s.Problems, "; "))
}

// openBoth opens both pools. roles are those that they become after signing in; empty to stay
// what they are.
func openBoth(ctx context.Context, url, system string, roles rowsecurity.Roles) (_ *DB, err error) {
	for _, u := range []string{url, system} {
		if scheme, _, _ := strings.Cut(u, ":"); scheme != "postgres" && scheme != "postgresql" {
			return nil, errors.New("store: row-level security needs PostgreSQL: both database URLs must be postgres://USER:PASSWORD@HOST/DATABASE")
		}
	}
	db, err := openPostgres(ctx, system, access{role: roles.System, poolSize: systemPool})
	if err != nil {
		return nil, err
	}
	if db.front, err = openPostgres(ctx, url, access{role: roles.Serving, confined: true}); err != nil {
		return nil, errors.Join(err, db.SQL.Close(), db.health.Close())
	}
	db.serving, db.servingAccess = db.front.SQL, access{role: roles.Serving, confined: true}
	if err := db.assemble(ctx); err != nil {
		return nil, err
	}
	if err := db.checkRoles(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// checkRoles fails unless the serving pool is confined and the system pool is not.
func (db *DB) checkRoles(ctx context.Context) error {
	tables, err := rowsecurity.Tables(db.tables)
	if err != nil {
		return err
	}
	system, err := rowsecurity.Inspect(ctx, db.SQL, tables)
	if err != nil {
		return err
	}
	serving, err := rowsecurity.Inspect(ctx, db.serving, tables)
	switch {
	case err != nil:
		return err
	case !system.Exists():
		return errors.New(`the database has no row-level security: run "chairside database roles", or leave out --system-database-url`)
	case len(system.Problems) > 0:
		return incomplete(system)
	case serving.Bypasses || serving.User != system.Roles.Serving:
		return fmt.Errorf("--database-url signs in as %s: it must be %s, which row-level security confines", serving.User, system.Roles.Serving)
	case system.User != system.Roles.System:
		return fmt.Errorf("--system-database-url signs in as %s: it must be %s", system.User, system.Roles.System)
	}
	return nil
}

// RowSecurity returns what the database has of row-level security.
func (db *DB) RowSecurity(ctx context.Context) (*rowsecurity.State, error) {
	tables, err := rowsecurity.Tables(db.tables)
	if err != nil {
		return nil, err
	}
	return rowsecurity.Inspect(ctx, db.SQL, tables)
}

// CreateRoles creates the roles, policies and grants that are missing, and returns the tables
// that got a policy.
func (db *DB) CreateRoles(ctx context.Context, roles rowsecurity.Roles) (protected []string, err error) {
	tables, err := rowsecurity.Tables(db.tables)
	if err != nil {
		return nil, err
	}
	pool := db.Maintenance()
	defer pool.Close()
	return roles.Apply(ctx, pool, tables)
}

// RoleStatements returns what CreateRoles does on a database without roles, each a transaction of
// its own.
func (db *DB) RoleStatements(roles rowsecurity.Roles) ([]string, error) {
	tables, err := rowsecurity.Tables(db.tables)
	if err != nil {
		return nil, err
	}
	return roles.Statements(tables), nil
}

// Confined reports whether row-level security confines statements with a principal.
func (db *DB) Confined() bool { return db.front != nil }

// Unconfined returns why row-level security is off, or "" if it is on. An embedded database has
// none.
func (db *DB) Unconfined() string { return db.unconfined }

// Pool returns the pool for statements of ctx that Ent cannot express. Like SQL it bypasses the
// gate; unlike SQL it is confined to the principal's practice where row-level security is on.
func (db *DB) Pool(ctx context.Context) *sql.DB {
	pool, _ := db.poolOf(ctx)
	return pool
}

func (db *DB) poolOf(ctx context.Context) (*sql.DB, *admission.Gate) {
	if _, err := principal.From(ctx); err == nil {
		return db.serving, db.gate
	}
	return db.SQL, db.systemGate
}
