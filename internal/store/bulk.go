package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/lib/pq"
)

// Bulk writes many rows in one transaction, past Ent: through COPY on
// PostgreSQL, through prepared multi-row inserts on SQLite. No hook runs, so
// whoever loads fills derived columns with the functions of the schema.
type Bulk struct {
	tx       *sql.Tx
	postgres bool
}

// BulkLoad runs load in a transaction of its own and commits when it returns
// nil. Whatever goes wrong, the database is as before.
func (db *DB) BulkLoad(ctx context.Context, load func(*Bulk) error) error {
	tx, err := db.SQL.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("store: bulk load: %w", err)
	}
	defer tx.Rollback() // after a commit it does nothing
	b, err := db.Bulk(ctx, tx)
	if err != nil {
		return err
	}
	if err := load(b); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("store: bulk load: %w", err)
	}
	return nil
}

// Bulk writes in a transaction of the caller's, and lifts the time limits of a
// request from it. Its queries are for some thousands of rows at a time: to
// compile them takes PostgreSQL longer than to run them.
func (db *DB) Bulk(ctx context.Context, tx *sql.Tx) (*Bulk, error) {
	b := &Bulk{tx: tx, postgres: db.postgres()}
	if !b.postgres {
		return b, nil
	}
	return b, b.exec(ctx, "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL jit = off")
}

// Lock keeps others from writing to the tables until the transaction ends, so
// that ids can be given out from LastID on. SQLite has one writer anyway.
func (b *Bulk) Lock(ctx context.Context, tables ...string) error {
	if !b.postgres || len(tables) == 0 {
		return nil
	}
	return b.exec(ctx, "LOCK TABLE "+b.names(tables)+" IN SHARE ROW EXCLUSIVE MODE")
}

// LastID is the highest integer id a table has or ever gave out, 0 for none.
func (b *Bulk) LastID(ctx context.Context, table string) (int64, error) {
	query := "SELECT max(coalesce((SELECT max(id) FROM " + b.name(table) + "), 0), coalesce((SELECT seq FROM sqlite_sequence WHERE name = " + pq.QuoteLiteral(table) + "), 0))"
	if b.postgres {
		query = "SELECT greatest(coalesce(max(id), 0), coalesce(pg_sequence_last_value(" + b.sequence(table) + "), 0)) FROM " + b.name(table)
	}
	var last int64
	if err := b.tx.QueryRowContext(ctx, query).Scan(&last); err != nil {
		return 0, fmt.Errorf("store: last id of %s: %w", table, err)
	}
	return last, nil
}

// ResetSequences makes the next ids of the tables follow the rows that were
// loaded with ids of their own. SQLite does so by itself.
func (b *Bulk) ResetSequences(ctx context.Context, tables ...string) error {
	if !b.postgres {
		return nil
	}
	for _, table := range tables {
		last, err := b.LastID(ctx, table)
		if err != nil {
			return err
		}
		if last == 0 {
			continue
		}
		if err := b.exec(ctx, fmt.Sprintf("SELECT setval(%s, %d)", b.sequence(table), last)); err != nil {
			return err
		}
	}
	return nil
}

// Analyze measures the tables, so that queries are planned for the rows they
// now have.
func (b *Bulk) Analyze(ctx context.Context, tables ...string) error {
	for _, table := range tables {
		if err := b.exec(ctx, "ANALYZE "+b.name(table)); err != nil {
			return err
		}
	}
	if b.postgres {
		return nil
	}
	return b.exec(ctx, sqlitePlanOnce...)
}

// Table writes rows into some columns of a table: those that write gives to the
// RowWriter, which is of no use after it. Until then the transaction has no other
// use. An error is that of write or of a row, and the transaction can only be
// rolled back after it.
//
// The writer is closed here and nowhere else, however write ends: lib/pq reads
// the server's answers to a COPY in a goroutine of its own, and a rollback that
// does not wait for it reads from the same connection.
func (b *Bulk) Table(ctx context.Context, table string, columns []string, write func(*RowWriter) error) error {
	w := &RowWriter{ctx: ctx, tx: b.tx, table: table, width: len(columns)}
	text := "COPY " + b.name(table) + " (" + b.names(columns) + ") FROM STDIN"
	if !b.postgres {
		w.insert = "INSERT INTO " + b.name(table) + " (" + b.names(columns) + ") VALUES "
		w.batch = max(1, min(sqliteBatch, sqliteVariables/len(columns)))
		text = w.insertOf(w.batch)
	}
	if err := w.prepare(text); err != nil {
		return err
	}
	defer func() { _ = w.stmt.Close() }() // what it would report, flush has
	if err := write(w); err != nil {
		return err
	}
	return w.flush()
}

const (
	sqliteVariables = 32766 // most arguments of one statement
	sqliteBatch     = 100   // rows of one insert; more gain nothing
)

// RowWriter writes rows into one table. Its memory does not grow with them.
type RowWriter struct {
	ctx   context.Context
	tx    *sql.Tx
	stmt  *sql.Stmt
	table string
	width int // columns

	insert string // SQLite: the statement up to its VALUES
	batch  int    // SQLite: rows of one insert; 0 on PostgreSQL
	values []any  // SQLite: of the rows that wait for the batch to fill

	copied copyText // PostgreSQL: the rows that wait for the chunk to fill
}

// Row writes one row: a value for each column, as for any other statement. The
// error may be that of an earlier row.
func (w *RowWriter) Row(values ...any) error {
	if len(values) != w.width {
		return fmt.Errorf("store: bulk load of %s: %d values for %d columns", w.table, len(values), w.width)
	}
	if w.batch == 0 {
		switch err := w.copied.row(values); {
		case err != nil:
			return w.wrap(err)
		case len(w.copied.text) < copyChunk:
			return nil
		}
		return w.exec(w.copied.take())
	}
	w.values = append(w.values, values...)
	if len(w.values) < w.batch*w.width {
		return nil
	}
	err := w.exec(w.values...)
	w.values = w.values[:0]
	return err
}

// flush writes what still waits, and reports the errors of rows that Row has
// not reported.
func (w *RowWriter) flush() error {
	if w.batch == 0 {
		if len(w.copied.text) > 0 {
			if err := w.exec(w.copied.take()); err != nil {
				return err
			}
		}
		return w.exec() // ends the COPY
	}
	if len(w.values) == 0 {
		return nil
	}
	_, err := w.tx.ExecContext(w.ctx, w.insertOf(len(w.values)/w.width), w.values...)
	return w.wrap(err)
}

func (w *RowWriter) prepare(text string) (err error) {
	w.stmt, err = w.tx.PrepareContext(w.ctx, text)
	return w.wrap(err)
}

func (w *RowWriter) exec(values ...any) error {
	_, err := w.stmt.ExecContext(w.ctx, values...)
	return w.wrap(err)
}

func (w *RowWriter) wrap(err error) error {
	if err != nil {
		return fmt.Errorf("store: bulk load of %s: %w", w.table, err)
	}
	return nil
}

// insertOf is the statement that inserts n rows.
func (w *RowWriter) insertOf(n int) string {
	row := "(" + strings.Repeat("?, ", w.width-1) + "?)"
	return w.insert + strings.Repeat(row+", ", n-1) + row
}

func (b *Bulk) exec(ctx context.Context, statements ...string) error {
	for _, s := range statements {
		if _, err := b.tx.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("store: bulk load: %s: %w", s, err)
		}
	}
	return nil
}

// name quotes a name; both databases take double quotes.
func (b *Bulk) name(s string) string { return pq.QuoteIdentifier(s) }

func (b *Bulk) names(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = b.name(s)
	}
	return strings.Join(quoted, ", ")
}

// sequence is the expression for what PostgreSQL takes a table's ids from.
func (b *Bulk) sequence(table string) string {
	return "pg_get_serial_sequence(" + pq.QuoteLiteral(b.name(table)) + ", 'id')::regclass"
}
