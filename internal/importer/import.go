package importer

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
	"sync"
	"sync/atomic"
	"time"

	"entgo.io/ent/dialect"
	"github.com/google/uuid"

	"chairside/internal/civil"
	"chairside/internal/clock"
	"chairside/internal/store"
)

// Options say how to import files of another system.
type Options struct {
	Mapping  string                            // path of the mapping, or the name of a ready one; "" for mapping.yaml in the directory
	Practice string                            // ID or short name; "" for the mapping's, or the only one
	Rejects  string                            // directory for rejects and findings; "" for rejects in the directory
	DryRun   bool                              // write only rejects and findings
	Progress func(what string, done, of int64) // called with bytes of a file; may be nil

	// Downloaded says that the files are lists of an API, in which an empty one is no sign of a mistake.
	Downloaded bool
}

// importer imports the files of one mapping.
type importer struct {
	ctx        context.Context
	db         *store.DB
	practice   practice
	system     string // the other system, as the mapping names it
	searchKey  string // of the practice's hashes of sealed values
	today      civil.Date
	plans      []*plan  // in the order of import
	missing    []string // files of an optional mapping that are not there
	downloaded bool     // no warning of files without rows
	outDir     string   // the directory of rejects and findings
	findings   *csvLog
	onProgress func(what string, done, of int64)
	dryTx      *sql.Tx // the only transaction of a dry run, else nil

	runID      int64      // of the row in import_runs, 0 in a dry run
	checkpoint checkpoint // the last one that was committed
	saved      []byte     // the checkpoint in the database
	started    time.Time  // when the import first started, before any interruption

	// While a file is loaded:
	firstImport   atomic.Bool // no record of its entity was imported from the system before
	names         map[nameColumn]recordIDs
	namesMu       sync.Mutex              // held by batches that are stored at the same time
	recentPeople  map[string][]samePerson // new patients of the batch that last took IDs, by personKey: its transaction may be open
	reasons       map[string]string       // the practice's appointment reasons by folded name
	written       lineIndexes             // IDs of rows written so far; used if a file of the entity has no IDs
	writtenEntity *entity
	unanalyzed    int // rows since PostgreSQL last analyzed the tables
	analyzed      int // rows of the file at that time
}

// clock returns the time with which a batch dates its rows. It is read for each batch: if all
// rows were dated when the import starts, clients that poll for changes would miss the later
// ones.
func (im *importer) clock() time.Time { return clock.Now(clock.Refresh(im.ctx)) }

func (im *importer) reportProgress(what string, done, of int64) {
	if im.onProgress != nil {
		im.onProgress(what, done, of)
	}
}

func (im *importer) postgres() bool { return im.db.Dialect == dialect.Postgres }

// Import imports CSV files of another system into a practice, as their mapping says. It resumes
// an interrupted import of the same files. Rows that break a rule go to a file of rejects, and
// all others are imported. It returns a MappingError before it writes anything if the mapping
// is invalid, ErrPractice if the practice is not clear, and ErrBusy if another process imports
// the same files.
func Import(ctx context.Context, db *store.DB, dir string, o Options) (report *Report, err error) {
	im, digest, err := newImporter(ctx, db, dir, o)
	if err != nil {
		return nil, err
	}
	report = &Report{Practice: im.practice.id}
	if o.DryRun {
		if im.dryTx, err = db.SQL.BeginTx(ctx, nil); err != nil {
			return nil, fmt.Errorf("begin: %w", err)
		}
		defer im.dryTx.Rollback()
		im.checkpoint = newCheckpoint(im.plans, im.started)
	} else if report.Resumed, err = im.startRun(digest); err != nil {
		return nil, err
	}
	im.started = im.checkpoint.Started
	if im.findings, err = openCSVLog(filepath.Join(im.outDir, Findings), im.checkpoint.Findings, findingsHeader); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, im.findings.close()) }()
	if err := im.inTx(nil, (*batch).readSearchKey); err != nil {
		return nil, err
	}
	for _, phase := range []func() error{im.load, im.updateTotals, im.check, im.finishRun} {
		if err := phase(); err != nil {
			return nil, err
		}
	}
	im.fillReport(report)
	return report, nil
}

// newImporter reads the mapping, plans the files and creates the directory of rejects. digest
// identifies the practice, the mapping and the content of the files.
func newImporter(ctx context.Context, db *store.DB, dir string, o Options) (im *importer, digest string, err error) {
	m, content, err := readMapping(dir, o.Mapping)
	if err != nil {
		return nil, "", err
	}
	im = &importer{ctx: ctx, db: db, system: m.Source, missing: m.missing, downloaded: o.Downloaded, started: clock.Now(ctx), onProgress: o.Progress, outDir: o.Rejects}
	if o.Practice == "" {
		o.Practice = m.Practice
	}
	if im.practice, err = findPractice(ctx, db, o.Practice); err != nil {
		return nil, "", err
	}
	im.today = civil.Of(im.started.In(im.practice.zone))
	if im.plans, err = newPlans(dir, m, im.practice.zone, im.today); err != nil {
		return nil, "", err
	}
	if digest, err = im.digest(content); err != nil {
		return nil, "", err
	}
	if im.outDir == "" {
		im.outDir = filepath.Join(dir, "rejects")
	}
	if err := os.MkdirAll(im.outDir, 0o700); err != nil {
		return nil, "", fmt.Errorf("make the rejects directory: %w", err)
	}
	return im, digest, im.protectSources()
}

// protectSources refuses source files that rejects would overwrite.
func (im *importer) protectSources() error {
	out, err := os.Stat(im.outDir)
	if err != nil {
		return err
	}
	for _, p := range im.plans {
		if in, err := os.Stat(filepath.Dir(p.path)); err == nil && os.SameFile(in, out) {
			return fmt.Errorf("%s is in the rejects directory, where it would be overwritten: move it, or name another directory for rejects", p.name)
		}
	}
	return nil
}

// practice is what the importer needs of the practice.
type practice struct {
	id, country string
	zone        *time.Location
	site        string // ID of the first site, "" without sites
}

// ErrPractice is returned by Import if no practice is named and there is not exactly one.
var ErrPractice = errors.New("name the practice to import into: its id or its short name, with --practice or in the mapping")

// findPractice finds a practice by ID or short name. For "" it is the only one.
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

// digest hashes the practice, the mapping and the files. It also sets the sizes of the files.
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
