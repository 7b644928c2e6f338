package dump

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"entgo.io/ent/dialect"

	"chairside/ent/practice"
	"chairside/ent/practicedeletion"
	"chairside/internal/clock"
	"chairside/internal/entx/table"
	"chairside/internal/store"
	"chairside/internal/store/bulk"
)

// ErrTaken is returned by ImportPractice if values of the export that must be unique belong to
// other practices of the database.
var ErrTaken = errors.New("other practices of this database have the same values")

// PracticeOptions are the options of ImportPractice.
type PracticeOptions struct {
	Slug     string            // new short name of the practice; "" to keep it
	Emails   map[string]string // new e-mail addresses of users, by the old ones
	IDMap    string            // CSV file for the IDs that changed; "" for none
	DryRun   bool              // check everything that can be checked without writing
	Progress Progress
}

// ImportedPractice is the result of ImportPractice.
type ImportedPractice struct {
	ID      string           `json:"practice_id"`
	Name    string           `json:"name"`
	Slug    string           `json:"slug"`
	Rows    int64            `json:"rows"`
	NewIDs  map[string]int64 `json:"new_ids"`   // number of rows that get a new ID, by table
	Audit   bool             `json:"audit_log"` // whether the audit log was imported
	Already bool             `json:"-"`         // the export was imported before; nothing was done
}

// practiceImport is a running import of one practice.
type practiceImport struct {
	restore
	db      *store.DB
	options PracticeOptions
	ids     idMap
	mapped  *mapFile
	result  ImportedPractice
	renamed map[string]bool // old e-mail addresses that were found
}

// ImportPractice imports an export of one practice into a database that may have other
// practices, whose rows it leaves as they are. Integer IDs that the database may have assigned get
// new ones above all others, UUIDs that it has get new ones, and every reference follows. If users'
// e-mail addresses or the short name belong to another practice, it lists them before it writes
// anything (ErrTaken). It is one transaction: if it is interrupted, nothing was imported.
func ImportPractice(ctx context.Context, db *store.DB, dir string, o PracticeOptions) (done ImportedPractice, err error) {
	p := practiceImport{restore: restore{ctx: ctx, dir: dir, progress: o.Progress}, db: db, options: o, renamed: map[string]bool{}}
	digest, err := p.checkFiles()
	if err != nil {
		return done, err
	}
	if p.manifest.Practice == nil {
		return done, fmt.Errorf("%w: it is of a whole installation", ErrManifest)
	}
	if p.ids, err = newIDMap(); err != nil {
		return done, err
	}
	if p.result.Already, err = p.imported(digest); err != nil || p.result.Already {
		return p.result, err
	}
	if err := p.reserve(); err != nil {
		return done, err
	}
	if p.tx, err = bulk.Begin(ctx, db); err != nil {
		return done, fmt.Errorf("begin: %w", err)
	}
	defer p.tx.Rollback() // no effect after a commit
	if p.bulk, err = bulk.Join(ctx, db, p.tx); err != nil {
		return done, err
	}
	if err := p.check(); err != nil || o.DryRun {
		return p.result, err
	}
	if p.mapped, err = newMapFile(o.IDMap); err != nil {
		return done, err
	}
	defer p.mapped.close()
	if err := p.load(); err != nil {
		return done, err
	}
	if err := p.record(digest); err != nil {
		return done, err
	}
	if err := errors.Join(p.mapped.sync(), p.tx.Commit()); err != nil {
		return done, err
	}
	return p.result, p.mapped.keep()
}

// importedPractice is the progress of an import's row in import_runs.
type importedPractice struct {
	Practice string `json:"practice"`
}

// imported reports whether the export was imported before, and its practice is still there.
func (p *practiceImport) imported(digest string) (already bool, err error) {
	var progress []byte
	err = p.db.SQL.QueryRowContext(p.ctx, "SELECT progress FROM import_runs WHERE digest = $1 AND finished_at IS NOT NULL", digest).Scan(&progress)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	var run importedPractice
	if err := errors.Join(err, json.Unmarshal(progress, &run)); err != nil {
		return false, fmt.Errorf("read the earlier import: %w", err)
	}
	err = p.db.SQL.QueryRowContext(p.ctx, "SELECT EXISTS (SELECT * FROM practices WHERE id = $1)", run.Practice).Scan(&already)
	return already, err
}

// record notes the import in import_runs.
func (p *practiceImport) record(digest string) error {
	progress, err := json.Marshal(importedPractice{p.result.ID})
	if err != nil {
		return err
	}
	if _, err := p.tx.ExecContext(p.ctx, "DELETE FROM import_runs WHERE digest = $1", digest); err != nil {
		return fmt.Errorf("record the import: %w", err)
	}
	_, err = p.tx.ExecContext(p.ctx, "INSERT INTO import_runs (digest, progress, finished_at, created_at, updated_at) VALUES ($1, $2, $3, $3, $3)", digest, progress, clock.Now(p.ctx))
	if err != nil {
		return fmt.Errorf("record the import: %w", err)
	}
	return nil
}

// reserve decides which integer IDs change, and reserves those that the export needs, in a
// short transaction: the tables are locked for an instant, and while the import runs, other
// practices get IDs above.
func (p *practiceImport) reserve() error {
	err := bulk.Load(p.ctx, p.db, func(tx *bulk.Tx) error {
		for i, t := range p.manifest.tables() {
			last := p.manifest.Files[i].LastID
			if !t.Numbered() || last == 0 {
				continue
			}
			if !p.options.DryRun {
				if err := tx.Lock(p.ctx, t.Name); err != nil {
					return err
				}
			}
			taken, err := tx.LastID(p.ctx, t.Name)
			if err != nil {
				return err
			}
			s := shift{taken: taken, by: max(taken, last)}
			p.ids.shifts[t.Name] = s
			if p.options.DryRun || isEvidence(t) {
				continue
			}
			if err := tx.RaiseID(p.ctx, t.Name, max(last, s.by+min(taken, last))); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("reserve ids: %w", err)
	}
	return nil
}

// reserveAudit reserves the IDs of the audit log, in a short transaction. If other practices have begun
// a log since it was found empty, the import goes on without the log. On PostgreSQL their events get IDs
// above, and no key would refuse equal ones: that of a partitioned table has the time in it.
func (p *practiceImport) reserveAudit() error {
	if !p.result.Audit || p.db.Dialect != dialect.Postgres { // SQLite has one writer: this import
		return nil
	}
	err := bulk.Load(p.ctx, p.db, func(tx *bulk.Tx) error {
		if err := tx.Lock(p.ctx, evidence...); err != nil {
			return err
		}
		for i, t := range p.manifest.tables() {
			if !isEvidence(t) {
				continue
			}
			taken, err := tx.LastID(p.ctx, t.Name)
			if err != nil {
				return err
			}
			if p.result.Audit = p.result.Audit && taken == 0; !p.result.Audit {
				p.countRows()
				return nil
			}
			if err := tx.RaiseID(p.ctx, t.Name, p.manifest.Files[i].LastID); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("reserve ids of the audit log: %w", err)
	}
	return nil
}

// check reads all files: every row must belong to the practice. It finds the UUIDs and unique
// values that the database has.
func (p *practiceImport) check() error {
	m := p.manifest.Practice
	p.result = ImportedPractice{ID: m.ID, Name: m.Name, Slug: m.Slug, NewIDs: map[string]int64{}}
	var taken []string
	for i, t := range p.manifest.tables() {
		found, err := p.checkTable(t, p.manifest.Files[i])
		if err != nil {
			return err
		}
		taken = append(taken, found...)
	}
	for old := range p.options.Emails {
		if !p.renamed[old] {
			taken = append(taken, fmt.Sprintf("users: the export has no user with the e-mail %s", old))
		}
	}
	if len(taken) > 0 {
		return fmt.Errorf("%w; nothing was imported. Give other values with --slug and --email\n  %s", ErrTaken, strings.Join(taken, "\n  "))
	}
	p.result.ID = fmt.Sprint(p.ids.id("practices", m.ID))
	p.result.Audit = p.keepsAudit()
	if p.options.Slug != "" {
		p.result.Slug = p.options.Slug
	}
	for _, t := range p.manifest.tables() {
		if isEvidence(t) {
			delete(p.result.NewIDs, t.Name)
		}
	}
	p.countRows()
	return nil
}

// countRows counts the rows that are imported.
func (p *practiceImport) countRows() {
	p.result.Rows = 0
	for i, t := range p.manifest.tables() {
		if !isEvidence(t) || p.result.Audit {
			p.result.Rows += p.manifest.Files[i].Rows
		}
	}
}

// keepsAudit reports whether the audit log is imported: if no ID changes and the database has no
// audit log yet. Otherwise its hashes would no longer fit its entries.
func (p *practiceImport) keepsAudit() bool {
	if len(p.result.NewIDs) > 0 {
		return false
	}
	return !slices.ContainsFunc(evidence, func(name string) bool { return p.ids.shifts[name].taken > 0 })
}

// checkTable checks the file of one table and returns the values that belong to others.
func (p *practiceImport) checkTable(t *table.Table, entry manifestFile) (taken []string, err error) {
	owner := slices.IndexFunc(t.Columns, func(c table.Column) bool { return c.Name == practiceColumn(t) })
	unique, s := uniqueColumns(t), sealer{p.db.Keys, p.manifest.Unsealed}
	var uuids []any
	values := make([][]any, len(unique))
	search := func() error {
		for i, c := range unique {
			found, err := p.present(t.Name, c.Name, values[i])
			if err != nil {
				return err
			}
			for _, value := range found {
				taken = append(taken, fmt.Sprintf("%s: %s %s", t.Name, c.Name, value))
			}
			values[i] = values[i][:0]
		}
		found, err := p.present(t.Name, "id", uuids)
		if err != nil {
			return err
		}
		if t.Name == practice.Table { // whose row, and audit chain, have the id for good
			deleted, err := p.present(practicedeletion.Table, "id", uuids)
			if err != nil {
				return err
			}
			found = slices.Compact(slices.Sorted(slices.Values(slices.Concat(found, deleted))))
		}
		for _, id := range found {
			if err := p.ids.renew(t.Name, id); err != nil {
				return err
			}
		}
		p.result.NewIDs[t.Name] += int64(len(found))
		uuids = uuids[:0]
		return nil
	}
	err = p.readRows(t, entry, func(row []any) error {
		if row[owner] != p.manifest.Practice.ID {
			return fmt.Errorf("%w: %s is not the practice of the manifest", ErrAltered, t.Columns[owner].Name)
		}
		if err := s.check(t, row); err != nil {
			return err
		}
		if err := p.rename(t, row); err != nil {
			return err
		}
		for i, c := range unique {
			values[i] = append(values[i], row[slices.IndexFunc(t.Columns, func(o table.Column) bool { return o.Name == c.Name })])
		}
		if !t.Numbered() {
			uuids = append(uuids, row[0])
		} else if p.ids.id(t.Name, row[0]) != row[0] {
			p.result.NewIDs[t.Name]++
		}
		if len(uuids) < batchRows && (len(unique) == 0 || len(values[0]) < batchRows) {
			return nil
		}
		return search()
	})
	if err == nil {
		err = search()
	}
	if p.result.NewIDs[t.Name] == 0 {
		delete(p.result.NewIDs, t.Name)
	}
	return taken, err
}

// uniqueColumns are the columns of a table whose values are unique in the installation, apart
// from IDs.
func uniqueColumns(t *table.Table) (all []*table.Column) {
	for _, k := range t.Unique {
		if c := t.Column(k.Columns[0]); len(k.Columns) == 1 && c.References == "" {
			all = append(all, c)
		}
	}
	return all
}

// present returns those of the values that a column has in the database.
func (p *practiceImport) present(of, column string, values []any) (found []string, err error) {
	if len(values) == 0 {
		return nil, nil
	}
	condition, list := p.bulk.In(table.Quote(column), 1, values)
	rows, err := p.tx.QueryContext(p.ctx, "SELECT CAST("+table.Quote(column)+" AS text) FROM "+table.Quote(of)+" WHERE "+condition+" ORDER BY 1", list)
	if err != nil {
		return nil, fmt.Errorf("look into %s: %w", of, err)
	}
	defer rows.Close()
	for rows.Next() {
		var value string
		if err := rows.Scan(&value); err != nil {
			return nil, err
		}
		found = append(found, value)
	}
	return found, rows.Err()
}

// rename sets the values that the options give.
func (p *practiceImport) rename(t *table.Table, row []any) error {
	for i := range t.Columns {
		switch t.Name + "." + t.Columns[i].Name {
		case "practices.slug":
			if p.options.Slug != "" {
				row[i] = p.options.Slug
			}
		case "users.email":
			old, _ := row[i].(string)
			if email, ok := p.options.Emails[old]; ok {
				row[i], p.renamed[old] = email, true
			}
		}
	}
	return nil
}

// readRows reads and checks the rows of a file.
func (p *practiceImport) readRows(t *table.Table, entry manifestFile, each func(row []any) error) error {
	file, err := os.Open(filepath.Join(p.dir, entry.File))
	if err != nil {
		return err
	}
	defer file.Close()
	read, err := newReader(p.manifest.Format, bufio.NewReaderSize(file, fileBuffer), t.Columns)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrAltered, entry.File, err)
	}
	row := make([]any, len(t.Columns))
	for line := int64(1); ; line++ {
		err := read(row)
		if errors.Is(err, io.EOF) {
			if line-1 != entry.Rows {
				return fmt.Errorf("%w: %s has %d rows, the manifest says %d", ErrAltered, entry.File, line-1, entry.Rows)
			}
			return p.ctx.Err()
		}
		if err == nil {
			err = p.manifest.checkLimits(t, row)
		}
		if err != nil {
			return fmt.Errorf("%w: %s, line %d: %w", ErrAltered, entry.File, line, err)
		}
		if err := each(row); err != nil {
			return fmt.Errorf("%s, line %d: %w", entry.File, line, err)
		}
	}
}

// load writes the rows of all tables and checks the totals.
func (p *practiceImport) load() error {
	s := sealer{p.db.Keys, p.manifest.Unsealed}
	p.change = func(t *table.Table, values []any) error {
		old := values[0]
		err := s.move(t, values, func() error { return errors.Join(p.rename(t, values), p.ids.apply(t, values)) })
		if err != nil {
			return err
		}
		if old == values[0] {
			return nil
		}
		return p.mapped.add(t.Name, old, values[0])
	}
	if err := p.reserveAudit(); err != nil {
		return err
	}
	for i, t := range p.manifest.tables() {
		if isEvidence(t) && !p.result.Audit {
			continue
		}
		if err := p.loadTable(t, p.manifest.Files[i]); err != nil {
			return err
		}
	}
	if p.result.Audit && p.db.Dialect == dialect.Postgres {
		if err := p.bulk.ResetSequences(p.ctx, evidence...); err != nil {
			return err
		}
	}
	p.report("totals", 0)
	return compareTotals(p.ctx, p.tx, p.result.ID)
}
