package bulk

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"entgo.io/ent/dialect"
	"github.com/lib/pq"

	"chairside/internal/store"
)

// Tx is a transaction that writes many rows, past Ent.
type Tx struct {
	tx       *sql.Tx
	postgres bool
}

// Load runs load in a transaction of its own and commits if it returns nil. Otherwise the
// database stays as it was.
func Load(ctx context.Context, db *store.DB, load func(*Tx) error) (err error) {
	whole := context.WithoutCancel(ctx) // see Begin
	conn, err := db.SQL.Conn(ctx)
	if err != nil {
		return fmt.Errorf("store: bulk load: %w", err)
	}
	defer func() { _ = conn.Close() }() // it goes back to the pool
	if db.Dialect == dialect.SQLite {
		if _, err := conn.ExecContext(whole, journalInMemory); err != nil {
			return fmt.Errorf("store: bulk load: %w", err)
		}
		defer func() {
			if _, failed := conn.ExecContext(whole, journalInFile); err == nil && failed != nil {
				err = fmt.Errorf("store: bulk load: %w", failed)
			}
		}()
	}
	tx, err := conn.BeginTx(whole, nil)
	if err != nil {
		return fmt.Errorf("store: bulk load: %w", err)
	}
	defer tx.Rollback() // after a commit it does nothing
	t, err := Join(ctx, db, tx)
	if err != nil {
		return err
	}
	if err := load(t); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("store: bulk load: %w", err)
	}
	return nil
}

// SQLite notes the pages that an insert of many rows changes, in case one of the rows is refused.
// In a temporary file these notes take a tenth of a load's time.
const (
	journalInMemory = "PRAGMA temp_store = MEMORY"
	journalInFile   = "PRAGMA temp_store = DEFAULT"
)

// Begin begins a transaction for Join. The end of ctx fails its statements but does not roll it
// back, which database/sql would do at once, while lib/pq's goroutine of a COPY still reads the
// connection: the caller rolls back.
func Begin(ctx context.Context, db *store.DB) (*sql.Tx, error) {
	return db.SQL.BeginTx(context.WithoutCancel(ctx), nil)
}

// Join returns a Tx that writes in the caller's transaction, and lifts the time limits of a
// request from that. It switches JIT off, because compiling a query for some thousands of rows
// takes longer than running it.
func Join(ctx context.Context, db *store.DB, tx *sql.Tx) (*Tx, error) {
	t := &Tx{tx: tx, postgres: db.Dialect == dialect.Postgres}
	if !t.postgres {
		return t, ctx.Err() // Begin did not see it
	}
	return t, t.exec(ctx, "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL jit = off")
}

// Lock prevents other transactions from writing to the tables until this one ends, so that the
// ids after LastID stay free. SQLite has only one writer anyway.
func (t *Tx) Lock(ctx context.Context, tables ...string) error {
	if !t.postgres || len(tables) == 0 {
		return nil
	}
	return t.exec(ctx, "LOCK TABLE "+t.names(tables)+" IN SHARE ROW EXCLUSIVE MODE")
}

// LastID returns the highest integer id that a table has or has ever assigned, or 0.
func (t *Tx) LastID(ctx context.Context, table string) (int64, error) {
	query := "SELECT max(coalesce((SELECT max(id) FROM " + t.name(table) + "), 0), coalesce((SELECT seq FROM sqlite_sequence WHERE name = " + pq.QuoteLiteral(table) + "), 0))"
	if t.postgres {
		query = "SELECT greatest(coalesce(max(id), 0), coalesce(pg_sequence_last_value(" + t.sequence(table) + "), 0)) FROM " + t.name(table)
	}
	var last int64
	if err := t.tx.QueryRowContext(ctx, query).Scan(&last); err != nil {
		return 0, fmt.Errorf("store: last id of %s: %w", table, err)
	}
	return last, nil
}

// ResetSequences makes the tables continue with ids after those of the loaded rows. SQLite does
// so by itself.
func (t *Tx) ResetSequences(ctx context.Context, tables ...string) error {
	if !t.postgres {
		return nil
	}
	for _, table := range tables {
		last, err := t.LastID(ctx, table)
		if err != nil {
			return err
		}
		if last == 0 {
			continue
		}
		if err := t.exec(ctx, fmt.Sprintf("SELECT setval(%s, %d)", t.sequence(table), last)); err != nil {
			return err
		}
	}
	return nil
}

// Analyze updates the statistics of the tables, so that queries are planned for the rows
// they now have.
func (t *Tx) Analyze(ctx context.Context, tables ...string) error {
	for _, table := range tables {
		if err := t.exec(ctx, "ANALYZE "+t.name(table)); err != nil {
			return err
		}
	}
	if t.postgres {
		return nil
	}
	return t.exec(ctx, planOnce...)
}

// Table writes the rows that write passes to the RowWriter into columns of a table. The
// transaction cannot be used for anything else until write returns, and the RowWriter not
// after that. After an error the transaction can only be rolled back.
//
// Table closes the writer even if write fails or panics: lib/pq reads the server's responses
// to a COPY in a goroutine, which must have ended before a rollback uses the connection.
func (t *Tx) Table(ctx context.Context, table string, columns []string, write func(*RowWriter) error) error {
	w := &RowWriter{ctx: ctx, tx: t.tx, table: table, width: len(columns)}
	text := "COPY " + t.name(table) + " (" + t.names(columns) + ") FROM STDIN"
	if !t.postgres {
		w.insert = "INSERT INTO " + t.name(table) + " (" + t.names(columns) + ") VALUES "
		w.batch = max(1, min(sqliteBatch, sqliteArguments/len(columns)))
		text = w.insertOf(w.batch)
	}
	if err := w.prepare(text); err != nil {
		return err
	}
	defer func() { _ = w.stmt.Close() }() // flush has already reported its error
	if err := write(w); err != nil {
		return err
	}
	return w.flush()
}

const (
	sqliteVariables = 32766 // the most arguments of one statement
	sqliteBatch     = 100   // rows of one insert; more are not faster
	sqliteArguments = 300   // arguments of one insert; the driver looks for each among all of them
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
	values []any  // SQLite: values of the rows that are not inserted yet

	copied copyText // PostgreSQL: the rows that are not sent yet
}

// Row writes one row. values are the arguments of a statement, one for each column. Rows are
// sent in batches, so the error may be that of an earlier row.
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

// flush writes the rows that are left, and returns the errors that Row has not returned.
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

// insertOf returns the statement that inserts n rows.
func (w *RowWriter) insertOf(n int) string {
	row := "(" + strings.Repeat("?, ", w.width-1) + "?)"
	return w.insert + strings.Repeat(row+", ", n-1) + row
}

func (t *Tx) exec(ctx context.Context, statements ...string) error {
	for _, s := range statements {
		if _, err := t.tx.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("store: bulk load: %s: %w", s, err)
		}
	}
	return nil
}

// name quotes a name; both databases take double quotes.
func (t *Tx) name(s string) string { return pq.QuoteIdentifier(s) }

func (t *Tx) names(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = t.name(s)
	}
	return strings.Join(quoted, ", ")
}

// sequence returns the SQL expression of the sequence of a table's ids on PostgreSQL.
func (t *Tx) sequence(table string) string {
	return "pg_get_serial_sequence(" + pq.QuoteLiteral(t.name(table)) + ", 'id')::regclass"
}
