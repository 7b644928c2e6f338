package transfer

import (
	"bufio"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"entgo.io/ent/dialect"

	"chairside/internal/store"
	"chairside/internal/store/bulk"
)

// ErrOccupied is returned by Export for a directory that has something in it.
var ErrOccupied = errors.New("transfer: the directory is not empty")

// ExportOptions say how to export.
type ExportOptions struct {
	Format   Format    // NDJSON for ""
	Progress io.Writer // shows a bar if it is a terminal; nil for none
}

// partial is what the directory of an export is called until it is whole.
const partial = ".partial"

// fileBuffer is how much of a file is gathered for one write, in bytes.
const fileBuffer = 1 << 20

// Export writes every row that an installation needs in another place into dir,
// which is made, or has to be empty: ErrOccupied. All of it is as it was at one
// moment; others read and write meanwhile. The directory appears when it is
// complete, never earlier. It holds patients' data and hashes of passwords, so
// it is readable by its owner alone.
func Export(ctx context.Context, db *store.DB, dir string, o ExportOptions) (err error) {
	if o.Format == "" {
		o.Format = NDJSON
	}
	dir = filepath.Clean(dir)
	if err := vacant(dir); err != nil {
		return err
	}
	list, err := exported()
	if err != nil {
		return err
	}
	tx, err := snapshot(ctx, db)
	if err != nil {
		return err
	}
	defer tx.Rollback() // it only reads
	bulk, err := bulk.Join(ctx, db, tx)
	if err != nil {
		return err
	}
	bar, err := newProgress(o.Progress, func() (int64, error) { return countRows(ctx, tx, list) })
	if err != nil {
		return err
	}
	defer bar.finish()

	// What an export that was killed has left is ours by its name.
	if err := os.RemoveAll(dir + partial); err != nil {
		return fmt.Errorf("transfer: %w", err)
	}
	if err := os.MkdirAll(dir+partial, 0o700); err != nil {
		return fmt.Errorf("transfer: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir+partial))
		}
	}()
	m := manifest{Layout: manifestLayout, Format: o.Format}
	if m.Schema, err = schemaVersion(); err != nil {
		return err
	}
	for _, e := range list {
		bar.say(e.table)
		note, err := exportTable(ctx, tx, e, dir+partial, o.Format, bar)
		if err != nil {
			return fmt.Errorf("transfer: export %s: %w", e.table, err)
		}
		if e.numbered() {
			if note.LastID, err = bulk.LastID(ctx, e.table); err != nil {
				return err
			}
		}
		m.Files = append(m.Files, note)
	}
	if err := writeManifest(dir+partial, m); err != nil {
		return err
	}
	return publish(dir)
}

// vacant refuses a directory that has something in it.
func vacant(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("transfer: %w", err)
	case len(entries) > 0:
		return fmt.Errorf("%w: %s", ErrOccupied, dir)
	}
	return nil
}

// snapshot begins a transaction that sees one moment throughout, and keeps
// nobody from writing.
func snapshot(ctx context.Context, db *store.DB) (*sql.Tx, error) {
	tx, err := db.SQL.BeginTx(ctx, &sql.TxOptions{Isolation: isolation(db), ReadOnly: true})
	if err != nil {
		return nil, fmt.Errorf("transfer: begin: %w", err)
	}
	return tx, nil
}

// isolation is that of a snapshot. SQLite knows no other, and no name for it.
func isolation(db *store.DB) sql.IsolationLevel {
	if db.Dialect == dialect.Postgres {
		return sql.LevelRepeatableRead
	}
	return sql.LevelDefault
}

func countRows(ctx context.Context, tx *sql.Tx, list []*entity) (total int64, err error) {
	for _, e := range list {
		var n int64
		if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM "+quote(e.table)).Scan(&n); err != nil {
			return 0, fmt.Errorf("transfer: count %s: %w", e.table, err)
		}
		total += n
	}
	return total, nil
}

// rowWriter writes the rows of one file.
type rowWriter interface {
	header(columns []column) error
	write(columns []column, values []any) error
	finish() error
}

func exportTable(ctx context.Context, tx *sql.Tx, e *entity, dir string, f Format, bar *progress) (note fileNote, err error) {
	note = fileNote{Entity: e.table, File: fileName(e, f)}
	file, err := os.OpenFile(filepath.Join(dir, note.File), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return note, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	sum := sha256.New()
	buffer := bufio.NewWriterSize(io.MultiWriter(file, sum), fileBuffer)
	var to rowWriter = &ndjsonWriter{to: buffer}
	if f == CSV {
		to = newCSVWriter(buffer)
	}
	if note.Rows, err = copyRows(ctx, tx, e, to, bar); err != nil {
		return note, err
	}
	if err := errors.Join(to.finish(), buffer.Flush(), file.Sync()); err != nil {
		return note, err
	}
	note.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return note, nil
}

// copyRows writes a table's rows in the order of their ids.
func copyRows(ctx context.Context, tx *sql.Tx, e *entity, to rowWriter, bar *progress) (n int64, err error) {
	rows, err := tx.QueryContext(ctx, "SELECT "+quoteAll(e.columnNames())+" FROM "+quote(e.table)+" ORDER BY id")
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	if err := to.header(e.columns); err != nil {
		return 0, err
	}
	values, places := scanned(len(e.columns))
	for rows.Next() {
		if err := rows.Scan(places...); err != nil {
			return n, err
		}
		if err := to.write(e.columns, values); err != nil {
			return n, fmt.Errorf("the row %s: %w", describeID(values[0]), err)
		}
		n++
		if n%1000 == 0 {
			bar.add(1000)
		}
	}
	bar.add(int(n % 1000))
	return n, rows.Err()
}

// scanned are n values and where rows.Scan puts them.
func scanned(n int) (values, places []any) {
	values, places = make([]any, n), make([]any, n)
	for i := range values {
		places[i] = &values[i]
	}
	return values, places
}

func describeID(v any) string {
	switch id := v.(type) {
	case []byte:
		return string(id)
	case int64:
		return strconv.FormatInt(id, 10)
	}
	return fmt.Sprint(v)
}

// publish gives the finished directory its name.
func publish(dir string) error {
	if err := syncDir(dir + partial); err != nil {
		return err
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, os.ErrNotExist) { // it was empty
		return fmt.Errorf("%w: %s: %w", ErrOccupied, dir, err)
	}
	if err := os.Rename(dir+partial, dir); err != nil {
		return fmt.Errorf("transfer: %w", err)
	}
	return syncDir(filepath.Dir(dir))
}

// syncDir makes the names in a directory survive a power cut.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("transfer: %w", err)
	}
	defer d.Close()
	if err := d.Sync(); err != nil {
		return fmt.Errorf("transfer: %w", err)
	}
	return nil
}

// quote quotes the name of a table or column; both databases take double quotes.
func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func quoteAll(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = quote(n)
	}
	return strings.Join(quoted, ", ")
}
