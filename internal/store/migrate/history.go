package migrate

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	engine "ariga.io/atlas/sql/migrate"
	atlas "ariga.io/atlas/sql/schema"
	entsql "entgo.io/ent/dialect/sql"

	"chairside/internal/store"
)

// historyTable is the table of applied migrations. Its name, columns and types are those of the
// Atlas command line, which can therefore be used on the same database.
const historyTable = store.MigrationsTable

// commandLineMark is the first character of the version in rows that are not migrations, which
// the Atlas command line adds for its own use.
const commandLineMark = "."

// history reads and writes the applied migrations. It implements engine.RevisionReadWriter.
type history struct {
	conn     atlas.ExecQuerier
	postgres bool
}

// historyColumns are the columns and their types on PostgreSQL and SQLite.
var historyColumns = []struct{ name, postgres, sqlite string }{
	{"version", "varchar NOT NULL PRIMARY KEY", "text NOT NULL PRIMARY KEY"},
	{"description", "varchar NOT NULL", "text NOT NULL"},
	{"type", "bigint NOT NULL DEFAULT 2", "integer NOT NULL DEFAULT 2"},
	{"applied", "bigint NOT NULL DEFAULT 0", "integer NOT NULL DEFAULT 0"},
	{"total", "bigint NOT NULL DEFAULT 0", "integer NOT NULL DEFAULT 0"},
	{"executed_at", "timestamptz NOT NULL", "datetime NOT NULL"},
	{"execution_time", "bigint NOT NULL", "integer NOT NULL"},
	{"error", "text NULL", "text NULL"},
	{"error_stmt", "text NULL", "text NULL"},
	{"hash", "varchar NOT NULL", "text NOT NULL"},
	{"partial_hashes", "jsonb NULL", "json NULL"},
	{"operator_version", "varchar NOT NULL", "text NOT NULL"},
}

// create creates the table if it does not exist.
func (h history) create(ctx context.Context) error {
	columns := make([]string, len(historyColumns))
	for i, c := range historyColumns {
		kind := c.sqlite
		if h.postgres {
			kind = c.postgres
		}
		columns[i] = c.name + " " + kind
	}
	_, err := h.conn.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS "+historyTable+" ("+strings.Join(columns, ", ")+")")
	if err != nil {
		return fmt.Errorf("create the history of migrations: %w", err)
	}
	return nil
}

// litestreamTables are in every embedded database that Litestream copies.
var litestreamTables = []string{"_litestream_lock", "_litestream_seq"}

// tables reports whether the table exists, and the number of other tables, without Litestream's.
func (h history) tables(ctx context.Context) (exists bool, others int, err error) {
	text := "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
	if h.postgres {
		text = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
	}
	rows, err := h.conn.QueryContext(ctx, text) //nolint:rowserrcheck // ScanSlice returns it
	if err != nil {
		return false, 0, fmt.Errorf("list the tables: %w", err)
	}
	defer rows.Close()
	var names []string
	if err := entsql.ScanSlice(rows, &names); err != nil {
		return false, 0, fmt.Errorf("list the tables: %w", err)
	}
	if !h.postgres {
		names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(litestreamTables, name) })
	}
	if slices.Contains(names, historyTable) {
		return true, len(names) - 1, nil
	}
	return false, len(names), nil
}

// Ident names the table for the Atlas engine.
func (h history) Ident() *engine.TableIdent {
	if h.postgres {
		return &engine.TableIdent{Name: historyTable, Schema: "public"}
	}
	return &engine.TableIdent{Name: historyTable, Schema: "main"}
}

// ReadRevisions returns all applied migrations in the order of their versions.
func (h history) ReadRevisions(ctx context.Context) ([]*engine.Revision, error) {
	return h.read(ctx, "1 = 1")
}

// ReadRevision returns one applied migration, or engine.ErrRevisionNotExist.
func (h history) ReadRevision(ctx context.Context, version string) (*engine.Revision, error) {
	found, err := h.read(ctx, "version = "+h.placeholder(1), version)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, engine.ErrRevisionNotExist
	}
	return found[0], nil
}

func (h history) read(ctx context.Context, where string, args ...any) ([]*engine.Revision, error) {
	rows, err := h.conn.QueryContext(ctx, "SELECT "+strings.Join(columnNames(), ", ")+" FROM "+historyTable+" WHERE "+where+" ORDER BY version", args...)
	if err != nil {
		return nil, fmt.Errorf("read the history of migrations: %w", err)
	}
	defer rows.Close()
	var list []*engine.Revision
	for rows.Next() {
		var (
			r             engine.Revision
			failure, stmt sql.NullString
			hashes        []byte
		)
		if err := rows.Scan(&r.Version, &r.Description, &r.Type, &r.Applied, &r.Total, &r.ExecutedAt, &r.ExecutionTime, &failure, &stmt, &r.Hash, &hashes, &r.OperatorVersion); err != nil {
			return nil, fmt.Errorf("read the history of migrations: %w", err)
		}
		if strings.HasPrefix(r.Version, commandLineMark) {
			continue
		}
		r.Error, r.ErrorStmt = failure.String, stmt.String
		if len(hashes) > 0 {
			if err := json.Unmarshal(hashes, &r.PartialHashes); err != nil {
				return nil, fmt.Errorf("read the history of migration %s: %w", r.Version, err)
			}
		}
		list = append(list, &r)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read the history of migrations: %w", err)
	}
	return list, nil
}

// WriteRevision inserts or replaces the row of a version.
func (h history) WriteRevision(ctx context.Context, r *engine.Revision) error {
	hashes, err := json.Marshal(r.PartialHashes)
	if err != nil {
		return fmt.Errorf("write the history of migration %s: %w", r.Version, err)
	}
	var placeholders, updates []string
	for i, name := range columnNames() {
		placeholders = append(placeholders, h.placeholder(i+1))
		updates = append(updates, name+" = excluded."+name)
	}
	_, err = h.conn.ExecContext(ctx, "INSERT INTO "+historyTable+" ("+strings.Join(columnNames(), ", ")+") VALUES ("+strings.Join(placeholders, ", ")+
		") ON CONFLICT (version) DO UPDATE SET "+strings.Join(updates, ", "),
		r.Version, r.Description, int64(r.Type), r.Applied, r.Total, h.time(r.ExecutedAt), int64(r.ExecutionTime),
		r.Error, r.ErrorStmt, r.Hash, string(hashes), r.OperatorVersion)
	if err != nil {
		return fmt.Errorf("write the history of migration %s: %w", r.Version, err)
	}
	return nil
}

// DeleteRevision is part of the interface. It always fails: the history is never deleted.
func (h history) DeleteRevision(context.Context, string) error {
	return errors.New("the history of migrations cannot be deleted")
}

// time returns t in the form in which the Atlas command line stores it.
func (h history) time(t time.Time) any {
	if h.postgres {
		return t.UTC()
	}
	return t.UTC().Format("2006-01-02 15:04:05.999999-07:00")
}

func (h history) placeholder(i int) string {
	if h.postgres {
		return "$" + strconv.Itoa(i)
	}
	return "?"
}

func columnNames() []string {
	names := make([]string, len(historyColumns))
	for i, c := range historyColumns {
		names[i] = c.name
	}
	return names
}
