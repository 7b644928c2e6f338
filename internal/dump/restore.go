package dump

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"

	"chairside/internal/clock"
	"chairside/internal/decimal"
	"chairside/internal/entx/table"
	"chairside/internal/store"
	"chairside/internal/store/bulk"
	"chairside/schema"
)

// Restore returns these besides ErrManifest and ErrAltered, wrapped in a text with details.
var (
	ErrInUse         = errors.New("an export can be imported into an empty database only, and this one has rows")
	ErrContradiction = errors.New("the export contradicts itself") // a total differs from its rows
)

const (
	batchRows           = 1000   // rows that are decoded at a time, ahead of the database
	unindexedFrom       = 20_000 // rows from which PostgreSQL loads without indexes
	shownContradictions = 5      // contradictions of one total that an error names
)

// Restored is the result of Restore.
type Restored struct {
	Rows    int64 // that are in the database now
	Already bool  // this export was imported before; nothing was done
}

// RestoreOptions say how to restore.
type RestoreOptions struct {
	DryRun   bool // check everything, write nothing
	Progress Progress
}

// restore is a running restore.
type restore struct {
	ctx      context.Context
	tx       *sql.Tx
	bulk     *bulk.Tx
	dir      string
	manifest manifest
	total    int64
	done     int64
	progress Progress
}

// Restore reads an export into an empty database of either kind. Rows, ids and hashes are those
// of the exported one, and no id that it ever gave out is given out again. The files are compared
// with the manifest before anything is written (ErrManifest, ErrAltered). It is one transaction:
// killed, it leaves nothing and can be started again.
func Restore(ctx context.Context, db *store.DB, dir string, o RestoreOptions) (done Restored, err error) {
	r := restore{ctx: ctx, dir: dir, progress: o.Progress}
	digest, err := r.check()
	if err != nil {
		return done, err
	}
	if r.tx, err = db.SQL.BeginTx(ctx, nil); err != nil {
		return done, fmt.Errorf("begin: %w", err)
	}
	defer r.tx.Rollback() // after a commit it does nothing
	if r.bulk, err = bulk.Join(ctx, db, r.tx); err != nil {
		return done, err
	}
	err = r.tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT * FROM import_runs WHERE digest = $1 AND finished_at IS NOT NULL)", digest).Scan(&done.Already)
	if err != nil || done.Already {
		return done, err
	}
	if err := r.run(); err != nil {
		return done, err
	}
	done.Rows = r.total
	if o.DryRun {
		return done, nil
	}
	_, err = r.tx.ExecContext(ctx, "INSERT INTO import_runs (digest, progress, finished_at, created_at, updated_at) VALUES ($1, $2, $3, $3, $3)", digest, []byte("{}"), clock.Now(ctx))
	if err != nil {
		return done, fmt.Errorf("note the import: %w", err)
	}
	return done, r.tx.Commit()
}

// check reads the manifest, compares the files with it, and returns its digest.
func (r *restore) check() (digest string, err error) {
	var content []byte
	if r.manifest, content, err = readManifest(r.dir); err != nil {
		return "", err
	}
	for _, f := range r.manifest.Files {
		r.total += f.Rows
		r.report("checksums", 0)
		file, err := os.Open(filepath.Join(r.dir, f.File))
		if err != nil {
			return "", fmt.Errorf("%w: %w", ErrAltered, err)
		}
		sum := sha256.New()
		_, err = io.Copy(sum, file)
		if err := errors.Join(r.ctx.Err(), err, file.Close()); err != nil {
			return "", fmt.Errorf("read %s: %w", f.File, err)
		}
		if hex.EncodeToString(sum.Sum(nil)) != f.SHA256 {
			return "", fmt.Errorf("%w: the checksum of %s differs from the manifest's", ErrAltered, f.File)
		}
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:]), nil
}

func (r *restore) report(what string, rows int) {
	r.done += int64(rows)
	if r.progress != nil {
		r.progress(what, r.done, r.total)
	}
}

func (r *restore) run() (err error) {
	var tables, numbered []string
	for _, t := range exported() {
		tables = append(tables, t.Name)
		if t.Numbered() {
			numbered = append(numbered, t.Name)
		}
		var occupied bool
		if err := r.tx.QueryRowContext(r.ctx, "SELECT EXISTS (SELECT * FROM "+table.Quote(t.Name)+")").Scan(&occupied); err != nil {
			return fmt.Errorf("look into %s: %w", t.Name, err)
		}
		if occupied {
			return fmt.Errorf("%w in %s", ErrInUse, t.Name)
		}
	}
	load := func() error {
		for i, t := range exported() {
			if err := r.table(t, r.manifest.Files[i]); err != nil {
				return err
			}
		}
		r.report("indexes", 0)
		return nil
	}
	if r.total >= unindexedFrom {
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
	for i, t := range exported() {
		if t.Numbered() { // the last id may be that of a row that was deleted
			if err := r.bulk.RaiseID(r.ctx, t.Name, r.manifest.Files[i].LastID); err != nil {
				return err
			}
		}
	}
	if err := r.bulk.Analyze(r.ctx, tables...); err != nil {
		return err
	}
	r.report("totals", 0)
	return compareTotals(r.ctx, r.tx)
}

// table loads one file. While a batch of rows is written, the next ones are decoded.
func (r *restore) table(t *table.Table, note fileNote) error {
	file, err := os.Open(filepath.Join(r.dir, note.File))
	if err != nil {
		return err
	}
	defer file.Close()
	read, err := newReader(r.manifest.Format, file, t.Columns)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrAltered, note.File, err)
	}
	var rows int64
	err = r.bulk.Table(r.ctx, t.Name, t.Names(), func(w *bulk.RowWriter) error {
		batches := make(chan [][]any, 2)
		work, ctx := errgroup.WithContext(r.ctx)
		work.Go(func() error {
			defer close(batches)
			return decodeRows(ctx, read, t, note.File, batches)
		})
		work.Go(func() error {
			for batch := range batches {
				for _, values := range batch {
					if err := w.Row(values...); err != nil {
						return err
					}
				}
				rows += int64(len(batch))
				r.report(t.Name, len(batch))
			}
			return nil
		})
		return work.Wait()
	})
	if err == nil && rows != note.Rows {
		return fmt.Errorf("%w: %s has %d rows, the manifest says %d", ErrAltered, note.File, rows, note.Rows)
	}
	return err
}

// decodeRows reads a file in batches. It checks the limits of columns, because it knows the line
// and the database does not.
func decodeRows(ctx context.Context, read func(values []any) error, t *table.Table, name string, batches chan<- [][]any) error {
	for line, end := 1, false; !end; {
		batch := make([][]any, 0, batchRows)
		for ; len(batch) < batchRows; line++ {
			values := make([]any, len(t.Columns))
			err := read(values)
			if end = errors.Is(err, io.EOF); end {
				break
			}
			for i := range t.Columns {
				if limit := t.Columns[i].Limit; err == nil && limit != nil {
					if message := limit.Check(values[i]); message != "" {
						err = fmt.Errorf("%s %s", t.Columns[i].Name, message)
					}
				}
			}
			if err != nil {
				return fmt.Errorf("%w: %s, line %d: %w", ErrAltered, name, line, err)
			}
			batch = append(batch, values)
		}
		select {
		case batches <- batch:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// compareTotals compares every total with its rows. The database does the work, one statement for
// each total; it needs the indexes.
func compareTotals(ctx context.Context, tx *sql.Tx) error {
	var found []string
	all := 0
	for _, t := range schema.Totals {
		rows, err := tx.QueryContext(ctx, fmt.Sprintf(`SELECT id, has, CAST(comes_to AS bigint), count(*) OVER () FROM (
			SELECT t.id, t.%s AS has, %s AS comes_to FROM %s AS t
		) AS compared WHERE has <> comes_to ORDER BY id LIMIT %d`, t.Column, t.SQL, t.Table, shownContradictions))
		if err != nil {
			return fmt.Errorf("compare %s.%s: %w", t.Table, t.Column, err)
		}
		defer rows.Close()
		count := 0
		for rows.Next() {
			var id, has, comesTo int64
			if err := rows.Scan(&id, &has, &comesTo, &count); err != nil {
				return err
			}
			found = append(found, fmt.Sprintf("%s %d: %s is %s, its rows come to %s", t.Table, id, t.Column, decimal.Decimal(has), decimal.Decimal(comesTo)))
		}
		if err := rows.Err(); err != nil {
			return err
		}
		if all += count; count > shownContradictions {
			found = append(found, fmt.Sprintf("%s: %s differs in %d rows in all", t.Table, t.Column, count))
		}
	}
	if all == 0 {
		return nil
	}
	return fmt.Errorf("%w: %d totals differ from their rows, nothing was imported\n  %s", ErrContradiction, all, strings.Join(found, "\n  "))
}
