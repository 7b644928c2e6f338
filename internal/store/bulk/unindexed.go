package bulk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"chairside/internal/store/counters"
	"chairside/internal/store/feedlog"
	"chairside/internal/store/triggers"

	"entgo.io/ent/dialect"
	"github.com/lib/pq"
)

// ErrNotEmpty is returned by Unindexed if a table has rows.
var ErrNotEmpty = errors.New("store: only empty tables are loaded without their indexes")

// unindexedMemory is how much of the server's memory building one index may use.
const unindexedMemory = "256MB"

// Unindexed runs load without the foreign keys, exclusion constraints, secondary indexes and
// counters of the tables, which must be empty, and without recording them in the change feed,
// whose cursors expire. Afterwards it restores their exact definitions, which checks every loaded
// row, and counts the rows. For millions of rows this is several
// times faster than maintaining indexes row by row. Other transactions cannot use the tables
// until this one ends.
//
// All of this is transactional: even after a crash the database never has a table without its
// definitions. On SQLite, where indexes and counters cost little, load runs without the change feed
// alone.
func (t *Tx) Unindexed(ctx context.Context, tables []string, load func() error) error {
	if err := t.claim(ctx, tables); err != nil {
		return err
	}
	if !t.postgres {
		return t.unrecorded(ctx, tables, load)
	}
	constraints, err := t.definitions(ctx, tables, constraintDefinitions)
	if err != nil {
		return err
	}
	indexes, err := t.definitions(ctx, tables, indexDefinitions)
	if err != nil {
		return err
	}
	counting := triggerDefinitions(tables)
	// Constraints before indexes: a foreign key needs the unique index of its target.
	for _, d := range slices.Concat(counting, constraints, indexes) {
		if err := t.exec(ctx, d.drop); err != nil {
			return err
		}
	}
	if err := load(); err != nil {
		return err
	}
	if err := t.exec(ctx, "SET LOCAL maintenance_work_mem = '"+unindexedMemory+"'"); err != nil {
		return err
	}
	for _, d := range slices.Concat(indexes, constraints, counting) {
		if err := t.exec(ctx, d.create); err != nil {
			return err
		}
	}
	return nil
}

// unrecorded runs load on SQLite without the triggers that record the tables' changes.
func (t *Tx) unrecorded(ctx context.Context, tables []string, load func() error) error {
	recording, err := t.definitions(ctx, tables, feedDefinitions)
	if err != nil {
		return err
	}
	for _, d := range recording {
		if err := t.exec(ctx, d.drop); err != nil {
			return err
		}
	}
	if err := load(); err != nil || len(recording) == 0 {
		return err
	}
	for _, d := range recording {
		if err := t.exec(ctx, d.create); err != nil {
			return err
		}
	}
	return t.exec(ctx, feedlog.RenewEpoch(dialect.SQLite))
}

// claim locks the tables exclusively and checks that they are empty. SQLite has only one writer
// anyway.
func (t *Tx) claim(ctx context.Context, tables []string) error {
	if t.postgres {
		if err := t.exec(ctx, "LOCK TABLE "+t.names(tables)+" IN ACCESS EXCLUSIVE MODE"); err != nil {
			return err
		}
	}
	for _, table := range tables {
		var occupied bool
		if err := t.tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM "+t.name(table)+")").Scan(&occupied); err != nil {
			return fmt.Errorf("store: bulk load of %s: %w", table, err)
		}
		if occupied {
			return fmt.Errorf("%w: %s has rows", ErrNotEmpty, table)
		}
	}
	return nil
}

// triggerDefinitions returns the statements that stop the triggers of counters and of the change
// feed, and those that later start them again and count all rows.
func triggerDefinitions(tables []string) (all []definition) {
	for _, s := range counters.Suspend(tables) {
		all = append(all, definition{drop: s.Stop, create: s.Resume})
	}
	for _, s := range feedlog.Suspend(tables) {
		all = append(all, definition{drop: s.Stop, create: s.Resume})
	}
	return all
}

// definition has the statements that drop an index, constraint or counting, and restore it.
type definition struct{ drop, create string }

const (
	// constraintDefinitions selects the exclusion constraints of the tables, then the foreign
	// keys from and to them.
	constraintDefinitions = `
		SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname),
		       format('ALTER TABLE %s ADD CONSTRAINT %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid))
		FROM pg_constraint
		WHERE contype = 'x' AND conrelid = ANY ($1::text[]::regclass[])
		   OR contype = 'f' AND (conrelid = ANY ($1::text[]::regclass[]) OR confrelid = ANY ($1::text[]::regclass[]))
		ORDER BY contype DESC, conrelid::regclass::text, conname`

	// indexDefinitions selects the indexes of the tables that belong to no constraint, with
	// the statistics targets of their expressions. The server prints the index of a partitioned
	// table as one of the table without its partitions.
	indexDefinitions = `
		SELECT format('DROP INDEX %s', indexrelid::regclass),
		       CASE relkind WHEN 'I' THEN replace(pg_get_indexdef(indexrelid), ' ON ONLY ', ' ON ') ELSE pg_get_indexdef(indexrelid) END || coalesce((
		           SELECT string_agg(format('; ALTER INDEX %s ALTER COLUMN %s SET STATISTICS %s', indexrelid::regclass, attnum, attstattarget), '' ORDER BY attnum)
		           FROM pg_attribute WHERE attrelid = indexrelid AND attstattarget >= 0), '')
		FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
		WHERE indrelid = ANY ($1::text[]::regclass[]) AND indisvalid
		  AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid AND contype IN ('p', 'u', 'x'))
		ORDER BY indexrelid::regclass::text`

	// feedDefinitions selects the triggers on SQLite that record the tables' changes.
	feedDefinitions = `
		SELECT format('DROP TRIGGER "%w"', name), sql FROM sqlite_schema
		WHERE type = 'trigger' AND substr(name, 1, length('` + triggers.FeedPrefix + `')) = '` + triggers.FeedPrefix + `'
		  AND tbl_name IN (SELECT value FROM json_each($1))
		ORDER BY name`
)

// definitions runs a query for definitions of some tables: on PostgreSQL with an array of their
// quoted names, on SQLite with a JSON array of their names.
func (t *Tx) definitions(ctx context.Context, tables []string, query string) ([]definition, error) {
	list, _ := json.Marshal(tables) // texts always marshal
	var argument any = string(list)
	if t.postgres {
		quoted := make([]string, len(tables))
		for i, table := range tables {
			quoted[i] = t.name(table)
		}
		argument = pq.Array(quoted)
	}
	rows, err := t.tx.QueryContext(ctx, query, argument)
	if err != nil {
		return nil, fmt.Errorf("store: read the definitions of indexes and triggers: %w", err)
	}
	defer rows.Close()
	var all []definition
	for rows.Next() {
		var d definition
		if err := rows.Scan(&d.drop, &d.create); err != nil {
			return nil, fmt.Errorf("store: read the definitions of indexes and triggers: %w", err)
		}
		all = append(all, d)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("store: read the definitions of indexes and triggers: %w", err)
	}
	return all, nil
}
