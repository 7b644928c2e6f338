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

	"golang.org/x/sync/errgroup"

	"chairside/internal/clock"
	"chairside/internal/store"
	"chairside/internal/store/bulk"
)

// ErrInUse is returned by Restore for a database that has practices.
var ErrInUse = errors.New("transfer: an export is imported into an empty database only, and this one has practices")

const (
	loadBatch     = 1000   // rows that are decoded ahead of the database
	loadBatches   = 4      // such batches at a time
	unindexedFrom = 20_000 // rows from which PostgreSQL loads without indexes
)

// Restored is what Restore did.
type Restored struct {
	Rows    int64 // that are in the database now
	Already bool  // this export was imported before; nothing was done
}

// RestoreOptions say how to restore.
type RestoreOptions struct {
	DryRun   bool      // check everything, write nothing
	Progress io.Writer // shows a bar if it is a terminal; nil for none
}

// Restore reads an export of this program's into an empty database, of either
// kind: rows, ids and hashes are those of the exported one, and no id that it
// ever gave out is given out again. The files are compared with the manifest
// before anything is written (ErrManifest, ErrAltered). It is one transaction:
// killed, it leaves nothing, and is simply started again.
func Restore(ctx context.Context, db *store.DB, dir string, o RestoreOptions) (done Restored, err error) {
	m, content, err := readManifest(dir)
	if err != nil {
		return done, err
	}
	var total int64
	for _, f := range m.Files {
		total += f.Rows
	}
	bar, err := newProgress(o.Progress, func() (int64, error) { return total, nil })
	if err != nil {
		return done, err
	}
	defer bar.finish()
	bar.say("checksums")
	for _, f := range m.Files {
		if err := checkSum(ctx, dir, f); err != nil {
			return done, err
		}
	}

	tx, err := db.SQL.BeginTx(ctx, nil)
	if err != nil {
		return done, fmt.Errorf("transfer: begin: %w", err)
	}
	defer tx.Rollback() // after a commit it does nothing
	bulk, err := bulk.Join(ctx, db, tx)
	if err != nil {
		return done, err
	}
	sum := sha256.Sum256(content)
	digest := hex.EncodeToString(sum[:])
	if done.Already, err = finished(ctx, tx, digest); err != nil || done.Already {
		return done, err
	}
	r := restore{ctx: ctx, tx: tx, bulk: bulk, dir: dir, manifest: m, bar: bar}
	if err := r.run(total); err != nil {
		return done, err
	}
	done.Rows = total
	if o.DryRun {
		return done, nil
	}
	now := clock.Now(ctx)
	_, err = tx.ExecContext(ctx, "INSERT INTO import_runs (digest, progress, finished_at, created_at, updated_at) VALUES ($1, $2, $3, $3, $3)", digest, []byte("{}"), now)
	if err != nil {
		return done, fmt.Errorf("transfer: note the import: %w", err)
	}
	if err := tx.Commit(); err != nil {
		return done, fmt.Errorf("transfer: commit: %w", err)
	}
	return done, nil
}

// checkSum compares a file with the manifest.
func checkSum(ctx context.Context, dir string, note fileNote) error {
	f, err := os.Open(filepath.Join(dir, note.File))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrAltered, err)
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, readerWith{ctx, f}); err != nil {
		return fmt.Errorf("transfer: read %s: %w", note.File, err)
	}
	if hex.EncodeToString(sum.Sum(nil)) != note.SHA256 {
		return fmt.Errorf("%w: the checksum of %s differs from the manifest's", ErrAltered, note.File)
	}
	return nil
}

// readerWith is a reader that ends with a context.
type readerWith struct {
	ctx  context.Context
	from io.Reader
}

func (r readerWith) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.from.Read(p)
}

// finished reports whether an import has been done already.
func finished(ctx context.Context, tx *sql.Tx, digest string) (bool, error) {
	var n int
	err := tx.QueryRowContext(ctx, "SELECT count(*) FROM import_runs WHERE digest = $1 AND finished_at IS NOT NULL", digest).Scan(&n)
	if err != nil {
		return false, fmt.Errorf("transfer: look for the import: %w", err)
	}
	return n > 0, nil
}

type restore struct {
	ctx      context.Context
	tx       *sql.Tx
	bulk     *bulk.Tx
	dir      string
	manifest manifest
	bar      *progress
}

func (r restore) run(total int64) error {
	list, err := exported()
	if err != nil {
		return err
	}
	var tables, numbered []string
	for _, e := range list {
		tables = append(tables, e.table)
		if e.numbered() {
			numbered = append(numbered, e.table)
		}
		var occupied bool
		if err := r.tx.QueryRowContext(r.ctx, "SELECT EXISTS (SELECT * FROM "+quote(e.table)+")").Scan(&occupied); err != nil {
			return fmt.Errorf("transfer: look into %s: %w", e.table, err)
		}
		if occupied {
			return ErrInUse
		}
	}
	load := func() error {
		for i, e := range list {
			r.bar.say(e.table)
			if err := r.table(e, r.manifest.Files[i]); err != nil {
				return err
			}
		}
		r.bar.say("indexes")
		return nil
	}
	if total >= unindexedFrom {
		err = r.bulk.Unindexed(r.ctx, tables, load)
	} else if err = r.bulk.Lock(r.ctx, tables...); err == nil {
		err = load()
	}
	if err != nil {
		return err
	}
	if err := r.bulk.ResetSequences(r.ctx, numbered...); err != nil {
		return err
	}
	for i, e := range list {
		if e.numbered() { // the last id may be that of a row that was deleted
			if err := r.bulk.RaiseID(r.ctx, e.table, r.manifest.Files[i].LastID); err != nil {
				return err
			}
		}
	}
	if err := r.bulk.Analyze(r.ctx, tables...); err != nil {
		return err
	}
	r.bar.say("totals")
	return compareSums(r.ctx, r.tx)
}

// table loads one file. While a batch of rows is written the next ones are read.
func (r restore) table(e *entity, note fileNote) error {
	file, err := os.Open(filepath.Join(r.dir, note.File))
	if err != nil {
		return fmt.Errorf("transfer: %w", err)
	}
	defer file.Close()
	from, err := openRows(file, e, r.manifest.Format)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrAltered, note.File, err)
	}
	full, empty := make(chan [][]any), make(chan [][]any, loadBatches)
	for range loadBatches {
		empty <- nil
	}
	var rows int64
	err = r.bulk.Table(r.ctx, e.table, e.columnNames(), func(w *bulk.RowWriter) error {
		work, ctx := errgroup.WithContext(r.ctx)
		work.Go(func() error {
			defer close(full)
			return decodeRows(ctx, from, e, note.File, empty, full)
		})
		work.Go(func() error {
			for batch := range full {
				for _, values := range batch {
					if err := w.Row(values...); err != nil {
						return err
					}
				}
				rows += int64(len(batch))
				r.bar.add(len(batch))
				empty <- batch
			}
			return nil
		})
		return work.Wait()
	})
	if err != nil {
		return err
	}
	if rows != note.Rows {
		return fmt.Errorf("%w: %s has %d rows, the manifest says %d", ErrAltered, note.File, rows, note.Rows)
	}
	return nil
}

// within looks whether the values of a row are within the limits of their
// columns. It knows the line, which the database does not.
func (e *entity) within(values []any) error {
	for i := range e.columns {
		if l := e.columns[i].limit; l != nil {
			if message := l.Check(values[i]); message != "" {
				return fmt.Errorf("%s %s", e.columns[i].name, message)
			}
		}
	}
	return nil
}

// rowReader gives the rows of one file: into values, one for each column;
// io.EOF after the last.
type rowReader interface {
	read(values []any) error
}

func openRows(from io.Reader, e *entity, f Format) (rowReader, error) {
	buffered := bufio.NewReaderSize(from, fileBuffer)
	if f == CSV {
		return newCSVReader(buffered, e.columns)
	}
	return newNDJSONReader(buffered, e.columns), nil
}

// decodeRows fills empty batches until the file ends.
func decodeRows(ctx context.Context, from rowReader, e *entity, name string, empty <-chan [][]any, full chan<- [][]any) error {
	for line := 1; ; {
		var batch [][]any
		select {
		case batch = <-empty:
		case <-ctx.Done():
			return ctx.Err()
		}
		if batch == nil {
			batch = make([][]any, loadBatch)
			for i := range batch {
				batch[i] = make([]any, len(e.columns))
			}
		}
		batch = batch[:loadBatch]
		n := 0
		for ; n < loadBatch; n++ {
			err := from.read(batch[n])
			if errors.Is(err, io.EOF) {
				break
			}
			if err == nil {
				err = e.within(batch[n])
			}
			if err != nil {
				return fmt.Errorf("%w: %w", ErrAltered, lineError(name, line, err))
			}
			line++
		}
		if n == 0 {
			return nil
		}
		select {
		case full <- batch[:n]:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
