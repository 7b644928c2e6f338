package dump

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

	"entgo.io/ent/dialect"

	"chairside/internal/entx/table"
	"chairside/internal/store"
	"chairside/internal/store/bulk"
)

// ErrOccupied is returned by Export for a directory that is not empty.
var ErrOccupied = errors.New("the directory is not empty")

// ExportOptions say how to export.
type ExportOptions struct {
	Format   Format // NDJSON for ""
	Progress Progress
}

// Progress is called as rows are done; nil for none.
type Progress func(what string, done, of int64)

const (
	partial    = ".partial" // ends the name of a directory until the export is complete
	fileBuffer = 1 << 20    // bytes of a file for one write
)

// export is a running export.
type export struct {
	ctx      context.Context
	tx       *sql.Tx
	bulk     *bulk.Tx
	dir      string // without partial
	options  ExportOptions
	done, of int64
}

// Export writes every row that another installation needs into dir, which must be empty or
// missing (ErrOccupied). It is a snapshot of the database; others read and write meanwhile.
// The directory appears when it is complete. It holds patients' data and hashes of passwords, so
// only its owner can read it.
func Export(ctx context.Context, db *store.DB, dir string, o ExportOptions) (err error) {
	if o.Format == "" {
		o.Format = NDJSON
	}
	e := export{ctx: ctx, dir: filepath.Clean(dir), options: o}
	switch entries, err := os.ReadDir(e.dir); {
	case len(entries) > 0:
		return fmt.Errorf("%w: %s", ErrOccupied, e.dir)
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return err
	}
	isolation := sql.LevelDefault // SQLite has a snapshot, but no name for it
	if db.Dialect == dialect.Postgres {
		isolation = sql.LevelRepeatableRead
	}
	if e.tx, err = db.SQL.BeginTx(ctx, &sql.TxOptions{Isolation: isolation, ReadOnly: true}); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer e.tx.Rollback() // it only reads
	if e.bulk, err = bulk.Join(ctx, db, e.tx); err != nil {
		return err
	}
	if err := os.RemoveAll(e.dir + partial); err != nil { // of an export that was killed
		return err
	}
	if err := os.MkdirAll(e.dir+partial, 0o700); err != nil {
		return err
	}
	if err := e.write(); err != nil {
		return errors.Join(err, os.RemoveAll(e.dir+partial))
	}
	return nil
}

// count counts all rows, if progress is reported.
func (e *export) count() error {
	for _, t := range exported() {
		if e.options.Progress == nil {
			break
		}
		var n int64
		if err := e.tx.QueryRowContext(e.ctx, "SELECT count(*) FROM "+table.Quote(t.Name)).Scan(&n); err != nil {
			return fmt.Errorf("count %s: %w", t.Name, err)
		}
		e.of += n
	}
	return nil
}

// write writes the files and gives the directory its name.
func (e *export) write() (err error) {
	if err := e.count(); err != nil {
		return err
	}
	m := manifest{Layout: manifestLayout, Format: e.options.Format}
	if m.Schema, err = schemaVersion(); err != nil {
		return err
	}
	for _, t := range exported() {
		note := fileNote{Entity: t.Name, File: fileName(t, m.Format)}
		if err := e.file(t, &note); err != nil {
			return fmt.Errorf("export %s: %w", t.Name, err)
		}
		if t.Numbered() {
			if note.LastID, err = e.bulk.LastID(e.ctx, t.Name); err != nil {
				return err
			}
		}
		m.Files = append(m.Files, note)
	}
	if err := writeManifest(e.dir+partial, m); err != nil {
		return err
	}
	if err := sync(e.dir + partial); err != nil {
		return err
	}
	if err := os.Remove(e.dir); err != nil && !errors.Is(err, os.ErrNotExist) { // it was empty
		return fmt.Errorf("%w: %w", ErrOccupied, err)
	}
	if err := os.Rename(e.dir+partial, e.dir); err != nil {
		return err
	}
	return sync(filepath.Dir(e.dir))
}

// file writes the file of a table.
func (e *export) file(t *table.Table, note *fileNote) (err error) {
	file, err := create(filepath.Join(e.dir+partial, note.File))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	sum := sha256.New()
	buffer := bufio.NewWriterSize(io.MultiWriter(file, sum), fileBuffer)
	if note.Rows, err = e.rows(t, buffer); err != nil {
		return err
	}
	if err := errors.Join(buffer.Flush(), file.Sync()); err != nil {
		return err
	}
	note.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return nil
}

// rows writes a table's rows in the order of their ids.
func (e *export) rows(t *table.Table, to *bufio.Writer) (n int64, err error) {
	write, err := newWriter(e.options.Format, to, t.Columns)
	if err != nil {
		return 0, err
	}
	rows, err := e.tx.QueryContext(e.ctx, "SELECT "+table.Quote(t.Names()...)+" FROM "+table.Quote(t.Name)+" ORDER BY id")
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	values, places := table.Scan(len(t.Columns))
	for ; rows.Next(); n++ {
		if err := rows.Scan(places...); err != nil {
			return n, err
		}
		if err := write(values); err != nil {
			id, _, _ := t.Columns[0].Stored.Format(values[0])
			return n, fmt.Errorf("the row %s: %w", id, err)
		}
		if e.options.Progress != nil && n%1000 == 0 {
			e.options.Progress(t.Name, e.done+n, e.of)
		}
	}
	e.done += n
	return n, rows.Err()
}

// create makes a file that only its owner can read.
func create(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

// sync flushes a directory, so that the names in it survive a power cut.
func sync(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
