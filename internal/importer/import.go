package importer

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql/sqlgraph"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"chairside/internal/civil"
	"chairside/internal/clock"
	"chairside/internal/store"
)

// Options say how files of another system are imported.
type Options struct {
	Mapping  string                            // path of the mapping; "" for mapping.yaml in the directory
	Practice string                            // id or short name; "" for the mapping's, or the only one
	Rejects  string                            // where to write rejects and findings; "" for rejects in the directory
	DryRun   bool                              // do everything, keep nothing but the rejects
	Progress func(what string, done, of int64) // is called as bytes are done; nil for none
}

// batchRows is how many rows go into the database at a time.
const batchRows = 2500

// importer imports the files of one mapping.
type importer struct {
	ctx       context.Context
	db        *store.DB
	practice  practice
	source    string
	today     civil.Date
	plans     []*plan
	started   time.Time // resumed or not
	out       string    // the directory of rejects
	note      note
	runID     int64   // the row of import_runs, 0 in a dry run
	saved     []byte  // what is noted there
	dry       *sql.Tx // all of a dry run
	findings  *sheet
	progress  func(what string, done, of int64)
	named     map[string]map[string][]string // by table and column: ids by folded name
	written   []sightings                    // which rows the records are, by their ids; none where all files of the entity have ids
	writtenOf *entity
	first     atomic.Bool // no row of the file that is read was imported before
	grown     int         // rows since the last file began or the tables were measured
	measured  int         // rows of the file when the tables were measured last
}

// clock reads the time at which a batch begins to be written, moments before it is stored. Were
// all rows dated by the beginning of the import, a client that reads what is new while it runs
// would have passed those that it writes last.
func (im *importer) clock() time.Time { return clock.Now(clock.Refresh(im.ctx)) }

// report reports progress.
func (im *importer) report(what string, done, of int64) {
	if im.progress != nil {
		im.progress(what, done, of)
	}
}

// Import reads the CSV files of another system into a practice, as their mapping says. It goes on
// where an import of the same files was stopped. Rows that break a rule are written to a file of
// rejects and leave the rest alone; what is wrong with the mapping is a MappingError, before
// anything is written.
func Import(ctx context.Context, db *store.DB, dir string, o Options) (report *Report, err error) {
	m, content, err := readMapping(dir, o.Mapping)
	if err != nil {
		return nil, err
	}
	im := &importer{ctx: ctx, db: db, source: m.Source, started: clock.Now(ctx), progress: o.Progress, named: map[string]map[string][]string{}}
	if o.Practice == "" {
		o.Practice = m.Practice
	}
	if im.practice, err = findPractice(ctx, db, o.Practice); err != nil {
		return nil, err
	}
	im.today = civil.Of(im.started.In(im.practice.zone))
	if im.plans, err = newPlans(dir, m, im.practice.zone, im.today); err != nil {
		return nil, err
	}
	digest, err := im.digest(content)
	if err != nil {
		return nil, err
	}
	if im.out = o.Rejects; im.out == "" {
		im.out = filepath.Join(dir, "rejects")
	}
	if err := os.MkdirAll(im.out, 0o700); err != nil {
		return nil, fmt.Errorf("make the directory of rejects: %w", err)
	}
	if err := im.keepSources(); err != nil {
		return nil, err
	}
	report = &Report{}
	if o.DryRun {
		if im.dry, err = db.SQL.BeginTx(ctx, nil); err != nil {
			return nil, fmt.Errorf("begin: %w", err)
		}
		defer im.dry.Rollback() // that is what it is for
		im.note = newNote(im.plans, im.started)
	} else if report.Resumed, err = im.begin(digest); err != nil {
		return nil, err
	}
	im.started = im.note.Started
	if im.findings, err = openSheet(filepath.Join(im.out, Findings), im.note.Findings, findingsHeader); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, im.findings.close()) }()
	for _, step := range []func() error{im.load, im.settle, im.compare, im.end} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	im.complete(report)
	return report, nil
}

// keepSources refuses files that lie where rejects of their names are written.
func (im *importer) keepSources() error {
	out, err := os.Stat(im.out)
	if err != nil {
		return err
	}
	for _, p := range im.plans {
		if in, err := os.Stat(filepath.Dir(p.path)); err == nil && os.SameFile(in, out) {
			return fmt.Errorf("%s is in the directory of rejects, where it would be overwritten: move it, or name another directory for rejects", p.name)
		}
	}
	return nil
}

// practice is what an import has to know of where it goes.
type practice struct {
	id, country string
	zone        *time.Location
	site        string // the first one, "" for none
}

// ErrPractice is returned by Import where it is not clear which practice is meant.
var ErrPractice = errors.New("name the practice to import into: its id or its short name, with --practice or in the mapping")

// findPractice looks a practice up; for "" it is the only one.
func findPractice(ctx context.Context, db *store.DB, name string) (p practice, err error) {
	where, args := "true", []any{}
	if name != "" {
		where, args = "slug = $1", []any{name}
		if id, err := uuid.Parse(name); err == nil {
			where, args = "id = $1", []any{id.String()}
		}
	}
	found, zone, site := 0, "", sql.NullString{}
	err = db.SQL.QueryRowContext(ctx, `SELECT id, country, time_zone, (SELECT s.id FROM sites AS s WHERE s.practice_id = p.id ORDER BY s.created_at, s.id LIMIT 1), count(*) OVER ()
		FROM practices AS p WHERE `+where+` LIMIT 1`, args...).Scan(&p.id, &p.country, &zone, &site, &found)
	switch {
	case errors.Is(err, sql.ErrNoRows) && name != "":
		return p, errors.New("there is no such practice")
	case errors.Is(err, sql.ErrNoRows), found > 1:
		return p, ErrPractice
	case err != nil:
		return p, fmt.Errorf("find the practice: %w", err)
	}
	p.site = site.String
	p.zone, err = time.LoadLocation(zone)
	return p, err
}

// digest stands for all that goes into an import: where to, how, and what.
func (im *importer) digest(mapping []byte) (digest string, err error) {
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\n%d\n%s", im.practice.id, len(mapping), mapping)
	for _, p := range im.plans {
		f, err := os.Open(p.path)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(sum, "\n%s\n", p.name)
		p.size, err = io.Copy(sum, f)
		if err := errors.Join(im.ctx.Err(), err, f.Close()); err != nil {
			return "", fmt.Errorf("read %s: %w", p.name, err)
		}
		fmt.Fprintf(sum, "\n%d", p.size)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

func (im *importer) postgres() bool { return im.db.Dialect == dialect.Postgres }

// load reads one file after the other.
func (im *importer) load() error {
	if im.note.Stage != stageLoad {
		return nil
	}
	for i, p := range im.plans {
		if im.note.Files[i].Done {
			continue
		}
		if err := im.loadFile(i, p); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return im.reach(stageSettle)
}

func (im *importer) loadFile(i int, p *plan) (err error) {
	s, err := p.open()
	if err != nil {
		return err
	}
	defer s.close()
	rejects, err := openSheet(filepath.Join(im.out, p.rejects), im.note.Files[i].Place, slices.Concat(rejectsHeader, p.header))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rejects.close()) }()
	if _, err := rejects.write(); err != nil { // the header
		return err
	}
	if err := im.recall(p); err != nil {
		return err
	}
	clear(im.named) // the file before may have added names
	if err := im.findFirst(p.entity); err != nil {
		return err
	}
	defer im.first.Store(false)
	reading, ctx := errgroup.WithContext(im.ctx)
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(im.atOnce(p))
	portions := make(chan portion)
	reading.Go(func() error {
		defer close(portions)
		return im.readAhead(ctx, p, s, im.note.Files[i].Rows, portions)
	})
	last := firstTurn()
	for read := range portions {
		turn := last.next(ctx)
		last = turn
		work.Go(func() error {
			if err := ctx.Err(); err != nil { // the batch before has failed
				return err
			}
			if err := im.store(i, p, read.records, rejects, read.end, turn); err != nil {
				return err
			}
			im.report(p.name, read.offset, p.size)
			if err := im.measure(p, len(read.records), read.end); err != nil {
				return err
			}
			turn.end()
			return nil
		})
	}
	stored, read := work.Wait(), reading.Wait()
	if errors.Is(read, context.Canceled) { // because a batch has failed
		return cmp.Or(stored, read)
	}
	return cmp.Or(read, stored)
}

// atOnce is how many batches of a file are stored at the same time. Where rows have nothing to do
// with each other it is two, so that more than one processor of the database's works for the
// import.
func (im *importer) atOnce(p *plan) int {
	if im.postgres() && im.dry == nil && im.first.Load() && p.standsAlone() {
		return 2
	}
	return 1
}

// findFirst finds out whether no record of the other system was imported as an entity: then none
// has to be looked for among the imported ones. Files refuse their second row of a legacy id.
func (im *importer) findFirst(e *entity) error {
	return im.inTx(nil, func(b *batch) {
		var known bool
		b.queryRow("SELECT EXISTS (SELECT 1 FROM imported_records WHERE practice_id = $1 AND source = $2 AND resource = $3)",
			[]any{im.practice.id, im.source, e.Name}, &known)
		im.first.Store(!known)
	})
}

// measure lets PostgreSQL look at tables that have grown to several times what they were, or at
// the end to twice that: without, it would plan its queries for the few rows of before.
func (im *importer) measure(p *plan, rows int, end bool) error {
	im.grown += rows
	least := 3 * im.measured
	if end {
		least = im.measured + 1
		defer func() { im.measured, im.grown = 0, 0 }()
	}
	if !im.postgres() || im.grown < least {
		return nil
	}
	tables := []string{"imported_records", p.entity.Name}
	if child := map[string]string{"patients": "accounts", "invoices": "invoice_items", "payments": explanationTable}[p.entity.Name]; child != "" {
		tables = append(tables, child)
	}
	im.measured, im.grown = im.measured+im.grown, 0
	return im.inTx(nil, func(b *batch) { b.fail(b.bulk.Analyze(im.ctx, tables...)) })
}

// store writes records in one transaction together with how far the import has come, and ends it
// in its turn. Where the database refuses one, it tries with fewer at a time, until that one is
// alone.
func (im *importer) store(i int, p *plan, records []*record, rejects *sheet, end bool, turn *turn) error {
	var n note
	err := im.inTx(p, func(b *batch) {
		b.turn = turn
		var counts fileProgress
		b.run(records, &counts)
		if b.fail(turn.mayEnd()); b.err != nil {
			return
		}
		n = im.note.clone()
		f := &n.Files[i]
		f.Created, f.Updated, f.Unchanged, f.Rejected = f.Created+counts.Created, f.Updated+counts.Updated, f.Unchanged+counts.Unchanged, f.Rejected+counts.Rejected
		var refused [][]string
		var findings []finding
		for _, r := range records {
			if len(r.problems) > 0 {
				refused = append(refused, rejectRecord(r))
				continue
			}
			for _, found := range r.warnings {
				found.file, found.line, found.legacy, found.kind = p.name, r.line, r.legacy, warning
				findings = append(findings, found)
			}
		}
		f.Rows += len(records)
		f.Done = end
		var err error
		f.Place, err = rejects.write(refused...)
		b.fail(err)
		b.found(&n, findings)
		b.save(n)
	})
	if err == nil {
		im.note = n
		im.keep(records)
		return nil
	}
	if !sqlgraph.IsConstraintError(err) || len(records) == 0 || im.ctx.Err() != nil {
		return err
	}
	im.first.Store(false) // somebody else may import the same
	if len(records) == 1 {
		r := p.record(records[0].row, im.source, records[0].before)
		r.refuse("", refusalOf(err))
		return im.store(i, p, []*record{r}, rejects, end, turn)
	}
	half := len(records) / 2
	for k, part := range [][]*record{records[:half], records[half:]} {
		again := make([]*record, len(part))
		for j, r := range part {
			again[j] = p.record(r.row, im.source, r.before)
		}
		if err := im.store(i, p, again, rejects, end && k == 1, turn); err != nil {
			return err
		}
	}
	return nil
}

// refusalOf says why the database refuses a row, without its values.
func refusalOf(err error) string {
	switch {
	case sqlgraph.IsUniqueConstraintError(err):
		return "there is another record with a value that may be there only once"
	case sqlgraph.IsForeignKeyConstraintError(err):
		return "refers to a record that does not exist"
	}
	return "breaks a rule of the database"
}
