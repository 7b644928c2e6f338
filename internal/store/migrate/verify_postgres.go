package migrate

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	engine "ariga.io/atlas/sql/migrate"
	atlas "ariga.io/atlas/sql/schema"
	entsql "entgo.io/ent/dialect/sql"
	"entgo.io/ent/dialect/sql/schema"

	"chairside/internal/store"
	"chairside/internal/store/triggers"
)

func (m *migrator) verifyPostgres(ctx context.Context, tables []*schema.Table) ([]string, error) {
	switch replica, err := m.db.IsReplica(ctx); {
	case err != nil:
		return nil, err
	case replica:
		return nil, store.ErrReplica
	}
	pool := m.maintenance()
	defer pool.Close()
	if err := m.checkVersion(ctx, pool); err != nil {
		return nil, err
	}
	transaction, err := pool.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer transaction.Rollback()

	var live, path string
	if err := transaction.QueryRowContext(ctx, "SELECT current_schema(), current_setting('search_path')").Scan(&live, &path); err != nil {
		return nil, err
	}
	scratch := "chairside_verify_" + strings.ToLower(rand.Text())
	for _, statement := range []string{
		"CREATE SCHEMA " + scratch,
		"SET LOCAL search_path = " + scratch + ", " + path, // with path, for extensions
	} {
		if _, err := transaction.ExecContext(ctx, statement); err != nil {
			return nil, err
		}
	}
	driver, err := DriverOn(transaction, m.db.Dialect)
	if err != nil {
		return nil, err
	}
	if err := create(ctx, driver, transaction, m.db.Dialect, tables); err != nil {
		return nil, err
	}
	for _, statement := range triggerStatements(m.db.Dialect, tables) {
		if _, err := transaction.ExecContext(ctx, statement); err != nil {
			return nil, err
		}
	}
	first, err := postgresDifferences(ctx, driver, transaction, live, scratch)
	if err != nil {
		return nil, err
	}
	var restored []string
	if len(first) > 0 {
		if err := restate(ctx, transaction, scratch); err != nil {
			return nil, err
		}
		if restored, err = postgresDifferences(ctx, driver, transaction, live, scratch); err != nil {
			return nil, err
		}
	}
	first = slices.DeleteFunc(first, func(difference string) bool { return !slices.Contains(restored, difference) })
	slices.Sort(first)
	first = slices.Compact(first) // two comparisons may report the same check
	functions, err := functionDifferences(ctx, transaction, live)
	if err != nil {
		return nil, err
	}
	views, err := viewDifferences(ctx, m, live, tables)
	return slices.Concat(first, functions, views), err
}

// postgresDifferences compares the schema live with the schema scratch.
func postgresDifferences(ctx context.Context, driver engine.Driver, transaction *sql.Tx, live, scratch string) ([]string, error) {
	want, err := driver.InspectSchema(ctx, scratch, &atlas.InspectOptions{Mode: atlas.InspectTables})
	if err != nil {
		return nil, err
	}
	have, err := driver.InspectSchema(ctx, live, &atlas.InspectOptions{Mode: atlas.InspectTables})
	if err != nil {
		return nil, err
	}
	want.Name = live
	list, err := differences(driver, have, want)
	if err != nil {
		return nil, err
	}
	drift, err := triggers.DriftPostgres(ctx, transaction, live, scratch)
	if err != nil {
		return nil, err
	}
	list = append(list, drift...)
	more, err := definitionDifferences(ctx, transaction, live, scratch)
	return append(list, more...), err
}

// definitionDifferences compares what Atlas does not: the expressions of checks, and whether
// indexes and foreign keys are valid. What exists in only one of the schemas, Atlas reports.
func definitionDifferences(ctx context.Context, transaction *sql.Tx, live, scratch string) (list []string, err error) {
	const query = `
		WITH definitions AS (
			SELECT connamespace AS space, conrelid, conname, pg_get_constraintdef(oid) AS definition
			FROM pg_constraint WHERE contype = 'c' AND conrelid <> 0
		)
		SELECT format('check %s of %s differs', h.conname, c.relname)
		FROM definitions h JOIN pg_class c ON c.oid = h.conrelid
		JOIN definitions w ON w.conname = h.conname AND w.space = $2::regnamespace
		JOIN pg_class d ON d.oid = w.conrelid AND d.relname = c.relname
		WHERE h.space = $1::regnamespace AND h.definition <> w.definition
		UNION ALL SELECT format('index %s of %s is invalid', i.relname, t.relname)
		FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class t ON t.oid = x.indrelid
		WHERE i.relnamespace = $1::regnamespace AND NOT x.indisvalid
		UNION ALL SELECT format('foreign key %s of %s is not validated', k.conname, t.relname)
		FROM pg_constraint k JOIN pg_class t ON t.oid = k.conrelid
		WHERE k.connamespace = $1::regnamespace AND k.contype = 'f' AND NOT k.convalidated
		ORDER BY 1`
	rows, err := transaction.QueryContext(ctx, query, live, scratch) //nolint:rowserrcheck // ScanSlice returns it
	if err != nil {
		return nil, fmt.Errorf("compare the definitions: %w", err)
	}
	defer rows.Close()
	if err := entsql.ScanSlice(rows, &list); err != nil {
		return nil, fmt.Errorf("compare the definitions: %w", err)
	}
	return list, nil
}

// restate recreates the checks, defaults, indexes and triggers of a schema from the server's own
// text of them, as restoring a dump does. PostgreSQL may print the result differently from the
// original, so a definition of the live database is right if it equals either of the two.
func restate(ctx context.Context, transaction *sql.Tx, schemaName string) error {
	const query = `
		SELECT format('ALTER TABLE %1$s DROP CONSTRAINT %2$I, ADD CONSTRAINT %2$I %3$s', conrelid::regclass, conname, pg_get_constraintdef(oid))
		FROM pg_constraint WHERE contype = 'c' AND conrelid <> 0 AND connamespace = $1::regnamespace
		UNION ALL SELECT format('ALTER TABLE %s ALTER COLUMN %I SET DEFAULT %s', c.oid::regclass, a.attname, pg_get_expr(d.adbin, d.adrelid))
		FROM pg_attrdef d JOIN pg_class c ON c.oid = d.adrelid JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
		WHERE c.relnamespace = $1::regnamespace AND a.attidentity = '' AND a.attgenerated = ''
		UNION ALL SELECT format('DROP INDEX %s; %s', i.indexrelid::regclass, pg_get_indexdef(i.indexrelid))
		FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
		WHERE c.relnamespace = $1::regnamespace AND (i.indpred IS NOT NULL OR i.indexprs IS NOT NULL)
			AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = i.indexrelid)
		UNION ALL SELECT format('DROP TRIGGER %I ON %s; %s', t.tgname, t.tgrelid::regclass, pg_get_triggerdef(t.oid))
		FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
		WHERE c.relnamespace = $1::regnamespace AND NOT t.tgisinternal`
	var statements string
	all := "SELECT coalesce(string_agg(statement, '; '), 'SELECT 1') FROM (" + query + ") AS definitions (statement)"
	if err := transaction.QueryRowContext(ctx, all, schemaName).Scan(&statements); err != nil {
		return fmt.Errorf("read the definitions: %w", err)
	}
	if _, err := transaction.ExecContext(ctx, statements); err != nil {
		return fmt.Errorf("restate the definitions: %w", err)
	}
	return nil
}
