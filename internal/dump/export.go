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

	"chairside/internal/durable"
	"chairside/internal/entx/table"
	"chairside/internal/seal"
	"chairside/internal/store"
	"chairside/internal/store/bulk"
)

// ErrOccupied is returned by Export if the directory is not empty.
var ErrOccupied = errors.New("the directory is not empty")

// ExportOptions are the options of Export.
type ExportOptions struct {
	Format   Format // NDJSON for ""
	Practice string // id of the only practice to export; "" for the whole installation
	Unsealed bool   // write sealed columns in plain text
	Progress Progress
}

// Progress is called with the number of rows that are done, of how many. It may be nil.
type Progress func(what string, done, of int64)

const (
	partial    = ".partial" // suffix of the directory until the export is complete
	fileBuffer = 1 << 20    // bytes
)

// export is a running export.
type export struct {
	ctx      context.Context
	tx       *sql.Tx
	bulk     *bulk.Tx
	dir      string // the final name; files are written to dir + partial
	options  ExportOptions
	keys     *seal.Keys
	done, of int64 // rows
}

// Export writes every row that another installation needs, or those of one practice, into dir,
// which must be empty or missing (ErrOccupied). The rows are of one snapshot of the database, which stays in use
// meanwhile. dir appears when the export is complete. It has patients' data and, of a whole
// installation, password hashes, so only its owner can read it.
func Export(ctx context.Context, db *store.DB, dir string, o ExportOptions) (err error) {
	if o.Format == "" {
		o.Format = NDJSON
	}
	e := export{ctx: ctx, dir: filepath.Clean(dir), options: o, keys: db.Keys}
	switch entries, err := os.ReadDir(e.dir); {
	case len(entries) > 0:
		return fmt.Errorf("%w: %s", ErrOccupied, e.dir)
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return err
	}
	isolation := sql.LevelDefault // every transaction of SQLite reads a snapshot
	if db.Dialect == dialect.Postgres {
		isolation = sql.LevelRepeatableRead
	}
	if e.tx, err = db.SQL.BeginTx(ctx, &sql.TxOptions{Isolation: isolation, ReadOnly: true}); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer e.tx.Rollback() // it was only read
	if e.bulk, err = bulk.Join(ctx, db, e.tx); err != nil {
		return err
	}
	if err := os.RemoveAll(e.dir + partial); err != nil { // of an interrupted export
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

// tables returns the tables to export.
func (e *export) tables() []*table.Table {
	if e.options.Practice != "" {
		return leaving()
	}
	return exported()
}

// from returns the FROM clause of a table's rows, and its arguments.
func (e *export) from(t *table.Table) (clause string, args []any) {
	if e.options.Practice == "" {
		return " FROM " + table.Quote(t.Name), nil
	}
	return " FROM " + table.Quote(t.Name) + " WHERE " + table.Quote(practiceColumn(t)) + " = $1", []any{e.options.Practice}
}

// countRows counts all rows, if progress is reported.
func (e *export) countRows() error {
	for _, t := range e.tables() {
		if e.options.Progress == nil {
			break
		}
		var n int64
		from, args := e.from(t)
		if err := e.tx.QueryRowContext(e.ctx, "SELECT count(*)"+from, args...).Scan(&n); err != nil {
			return fmt.Errorf("count %s: %w", t.Name, err)
		}
		e.of += n
	}
	return nil
}

// write writes all files and renames the directory.
func (e *export) write() (err error) {
	if err := e.countRows(); err != nil {
		return err
	}
	m := manifest{Layout: manifestLayout, Format: e.options.Format, Unsealed: e.options.Unsealed}
	if m.Schema, err = schemaVersion(); err != nil {
		return err
	}
	if e.options.Practice != "" {
		m.Layout = practiceLayout
		if m.Practice, err = e.practice(); err != nil {
			return err
		}
	}
	for _, t := range e.tables() {
		entry := manifestFile{Entity: t.Name, File: fileName(t, m.Format)}
		if err := e.writeFile(t, &entry); err != nil {
			return fmt.Errorf("export %s: %w", t.Name, err)
		}
		if t.Numbered() {
			if entry.LastID, err = e.bulk.LastID(e.ctx, t.Name); err != nil {
				return err
			}
		}
		m.Files = append(m.Files, entry)
	}
	if err := writeManifest(e.dir+partial, m); err != nil {
		return err
	}
	if err := os.Remove(e.dir); err != nil && !errors.Is(err, os.ErrNotExist) { // it is empty, else Remove fails
		return fmt.Errorf("%w: %w", ErrOccupied, err)
	}
	return durable.Rename(e.dir+partial, e.dir)
}

// practice describes the practice for the manifest.
func (e *export) practice() (*manifestPractice, error) {
	p := manifestPractice{ID: e.options.Practice, LeftOut: map[string]string{}}
	if err := e.tx.QueryRowContext(e.ctx, "SELECT name, slug FROM practices WHERE id = $1", p.ID).Scan(&p.Name, &p.Slug); err != nil {
		return nil, fmt.Errorf("find the practice %s: %w", p.ID, err)
	}
	for _, left := range PracticeLeavesOut() {
		p.LeftOut[left.Name] = left.Reason
	}
	return &p, nil
}

// writeFile writes the file of a table, and sets its rows and checksum in the manifest.
func (e *export) writeFile(t *table.Table, entry *manifestFile) error {
	sum := sha256.New()
	err := durable.Create(filepath.Join(e.dir+partial, entry.File), func(file io.Writer) (err error) {
		buffer := bufio.NewWriterSize(io.MultiWriter(file, sum), fileBuffer)
		if entry.Rows, err = e.writeRows(t, buffer); err != nil {
			return err
		}
		return buffer.Flush()
	})
	entry.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return err
}

// writeRows writes the rows of a table in the order of their IDs and returns their number.
func (e *export) writeRows(t *table.Table, to *bufio.Writer) (n int64, err error) {
	write, err := newWriter(e.options.Format, to, t.Columns)
	if err != nil {
		return 0, err
	}
	from, args := e.from(t)
	hide := func([]any) {}
	if e.options.Practice != "" {
		hide = withhold(t)
	}
	rows, err := e.tx.QueryContext(e.ctx, "SELECT "+table.Quote(t.Names()...)+from+" ORDER BY id", args...)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	values, places := table.Scan(len(t.Columns))
	for ; rows.Next(); n++ {
		if err := rows.Scan(places...); err != nil {
			return n, err
		}
		hide(values)
		err := error(nil)
		if e.options.Unsealed {
			err = unseal(e.keys, t, values)
		}
		if err == nil {
			err = write(values)
		}
		if err != nil {
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
