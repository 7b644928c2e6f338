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
	"chairside/internal/store/feedlog"
	"chairside/schema"
)

// Restore returns these errors besides ErrManifest and ErrAltered, wrapped in an explanation.
var (
	ErrInUse         = errors.New("an export can only be imported into an empty database, and this one has rows")
	ErrContradiction = errors.New("the export contradicts itself") // a total differs from its rows
)

const (
	batchRows           = 1000   // rows that are decoded together
	unindexedFrom       = 20_000 // rows from which it is faster to drop indexes and build them again
	shownContradictions = 5      // wrong values of one total that an error lists
)

// Restored is the result of Restore.
type Restored struct {
	Rows    int64 // rows of the export
	Already bool  // the export was restored before; nothing was done
}

// RestoreOptions are the options of Restore.
type RestoreOptions struct {
	DryRun   bool // check everything, then roll back
	Progress Progress
}

// restore is a running restore.
type restore struct {
	ctx      context.Context
	tx       *sql.Tx
	bulk     *bulk.Tx
	dir      string
	manifest manifest
	done, of int64 // rows
	progress Progress

	change func(t *table.Table, values []any) error // checks or changes a row before it is written; nil for neither
}

// Restore imports an export into an empty database (ErrInUse). It checks the files against the
// manifest before it writes anything (ErrManifest, ErrAltered), and the totals after it
// (ErrContradiction). It keeps all IDs and hashes, and never assigns an ID again that the
// exported database had assigned. It is one transaction: if it is interrupted, the database
// stays empty.
func Restore(ctx context.Context, db *store.DB, dir string, o RestoreOptions) (done Restored, err error) {
	r := restore{ctx: ctx, dir: dir, progress: o.Progress}
	digest, err := r.checkFiles()
	if err != nil {
		return done, err
	}
	if r.manifest.Unsealed {
		s := sealer{db.Keys, true}
		r.change = func(t *table.Table, values []any) error {
			return s.move(t, values, func() error { return nil })
		}
	}
	if r.manifest.Practice != nil {
		return done, fmt.Errorf("%w: it is of one practice", ErrManifest)
	}
	if r.tx, err = bulk.Begin(ctx, db); err != nil {
		return done, fmt.Errorf("begin: %w", err)
	}
	defer r.tx.Rollback() // no effect after a commit
	if r.bulk, err = bulk.Join(ctx, db, r.tx); err != nil {
		return done, err
	}
	err = r.tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT * FROM import_runs WHERE digest = $1 AND finished_at IS NOT NULL)", digest).Scan(&done.Already)
	if err != nil || done.Already {
		return done, err
	}
	if err := r.restore(); err != nil {
		return done, err
	}
	if _, err := r.tx.ExecContext(ctx, feedlog.RenewEpoch(db.Dialect)); err != nil {
		return done, fmt.Errorf("expire the cursors of the change feed: %w", err)
	}
	done.Rows = r.of
	if o.DryRun {
		return done, nil
	}
	_, err = r.tx.ExecContext(ctx, "INSERT INTO import_runs (digest, progress, finished_at, created_at, updated_at) VALUES ($1, $2, $3, $3, $3)", digest, []byte("{}"), clock.Now(ctx))
	if err != nil {
		return done, fmt.Errorf("record the import: %w", err)
	}
	return done, r.tx.Commit()
}

// checkFiles reads the manifest, compares the checksums of the files, and returns the manifest's
// digest.
func (r *restore) checkFiles() (digest string, err error) {
	var content []byte
	if r.manifest, content, err = readManifest(r.dir); err != nil {
		return "", err
	}
	for _, f := range r.manifest.Files {
		r.of += f.Rows
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

// report reports that more rows are done.
func (r *restore) report(what string, rows int) {
	r.done += int64(rows)
	if r.progress != nil {
		r.progress(what, r.done, r.of)
	}
}

// restore loads all tables and checks the totals.
func (r *restore) restore() (err error) {
	var tables, numbered []string
	for _, t := range exported() {
		tables = append(tables, t.Name)
		if t.Numbered() {
			numbered = append(numbered, t.Name)
		}
	}
	if err := r.checkEmpty(tables); err != nil {
		return err
	}
	if r.of >= unindexedFrom {
		err = r.bulk.Unindexed(r.ctx, tables, r.loadTables)
	} else if err = r.bulk.Lock(r.ctx, tables...); err == nil {
		err = r.loadTables()
	}
	if err != nil {
		return err
	}
	if err := r.bulk.ResetSequences(r.ctx, numbered...); err != nil {
		return err
	}
	for i, t := range exported() {
		if t.Numbered() { // the row with the last ID may have been deleted
			if err := r.bulk.RaiseID(r.ctx, t.Name, r.manifest.Files[i].LastID); err != nil {
				return err
			}
		}
	}
	if err := r.bulk.Analyze(r.ctx, tables...); err != nil {
		return err
	}
	r.report("totals", 0)
	return compareTotals(r.ctx, r.tx, "")
}

// checkEmpty returns ErrInUse if a table has rows.
func (r *restore) checkEmpty(tables []string) error {
	for _, name := range tables {
		var hasRows bool
		if err := r.tx.QueryRowContext(r.ctx, "SELECT EXISTS (SELECT * FROM "+table.Quote(name)+")").Scan(&hasRows); err != nil {
			return fmt.Errorf("look into %s: %w", name, err)
		}
		if hasRows {
			return fmt.Errorf("%w in %s", ErrInUse, name)
		}
	}
	return nil
}

func (r *restore) loadTables() error {
	for i, t := range exported() {
		if err := r.loadTable(t, r.manifest.Files[i]); err != nil {
			return err
		}
	}
	r.report("indexes", 0)
	return nil
}

// loadTable loads the file of one table. It decodes the next rows while a batch is written.
func (r *restore) loadTable(t *table.Table, entry manifestFile) error {
	file, err := os.Open(filepath.Join(r.dir, entry.File))
	if err != nil {
		return err
	}
	defer file.Close()
	read, err := newReader(r.manifest.Format, file, t.Columns)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrAltered, entry.File, err)
	}
	var rows int64
	err = r.bulk.Table(r.ctx, t.Name, t.Names(), func(w *bulk.RowWriter) error {
		batches := make(chan [][]any, 2)
		work, ctx := errgroup.WithContext(r.ctx)
		work.Go(func() error {
			defer close(batches)
			return r.decodeRows(ctx, read, t, entry.File, batches)
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
	if err == nil && rows != entry.Rows {
		return fmt.Errorf("%w: %s has %d rows, the manifest says %d", ErrAltered, entry.File, rows, entry.Rows)
	}
	return err
}

// decodeRows reads a file in batches. It checks the limits of columns, which the database does
// too, but without naming the line.
func (r *restore) decodeRows(ctx context.Context, read rowFunc, t *table.Table, name string, batches chan<- [][]any) error {
	for line, end := 1, false; !end; {
		batch := make([][]any, 0, batchRows)
		for ; len(batch) < batchRows; line++ {
			values := make([]any, len(t.Columns))
			err := read(values)
			if end = errors.Is(err, io.EOF); end {
				break
			}
			if err == nil {
				err = r.manifest.checkLimits(t, values)
			}
			if err == nil && r.change != nil {
				err = r.change(t, values)
			}
			if errors.Is(err, ErrOtherKeys) {
				return fmt.Errorf("%s, line %d: %w", name, line, err)
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

// checkLimits checks the values of a row against the limits of their columns.
func (m *manifest) checkLimits(t *table.Table, values []any) error {
	for i := range t.Columns {
		if limit := t.Columns[i].Limit; limit != nil && !(limit.Sealed && m.Unsealed) {
			if message := limit.Check(values[i]); message != "" {
				return fmt.Errorf("%s %s", t.Columns[i].Name, message)
			}
		}
	}
	return nil
}

// compareTotals compares every total of a practice, or of all for "", with the rows that it is
// computed from, and returns ErrContradiction if any differ. It runs one query for each total,
// which needs the indexes.
func compareTotals(ctx context.Context, tx *sql.Tx, practice string) error {
	var messages []string
	var args []any
	where := ""
	if practice != "" {
		where, args = " WHERE t.practice_id = $1", []any{practice}
	}
	wrong := 0
	for _, t := range schema.Totals {
		rows, err := tx.QueryContext(ctx, fmt.Sprintf(`SELECT id, has, CAST(comes_to AS bigint), count(*) OVER () FROM (
			SELECT t.id, t.%s AS has, %s AS comes_to FROM %s AS t%s
		) AS compared WHERE has <> comes_to ORDER BY id LIMIT %d`, t.Column, t.SQL, t.Table, where, shownContradictions), args...)
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
			messages = append(messages, fmt.Sprintf("%s %d: %s is %s, its rows add up to %s", t.Table, id, t.Column, decimal.Decimal(has), decimal.Decimal(comesTo)))
		}
		if err := rows.Err(); err != nil {
			return err
		}
		if wrong += count; count > shownContradictions {
			messages = append(messages, fmt.Sprintf("%s: %s differs in %d rows", t.Table, t.Column, count))
		}
	}
	if wrong == 0 {
		return nil
	}
	return fmt.Errorf("%w: %d totals differ from their rows, nothing was imported\n  %s", ErrContradiction, wrong, strings.Join(messages, "\n  "))
}
