package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"ariga.io/atlas/sql/migrate"
	"ariga.io/atlas/sql/postgres"
	atlas "ariga.io/atlas/sql/schema"
	"ariga.io/atlas/sql/sqlite"
)

// The refusals of Migrate, Status, Pending and Verify. Each comes wrapped in a
// text that names the migration or table concerned and what to do.
var (
	// ErrChanged: a migration file is not the one its checksum was made of, or
	// not the one that was applied to the database.
	ErrChanged = errors.New("a migration has been changed")
	// ErrNewer: the database has a migration that this program does not, so a
	// newer program has been at work on it.
	ErrNewer = errors.New("the database is newer than this program")
	// ErrHalfApplied: a migration that belongs in a transaction was applied in
	// part, by another program, or later ones were applied after it. Complete or
	// undo it by hand.
	ErrHalfApplied = errors.New("a migration is half applied")
	// ErrForeign: the database has tables but no record of migrations, so it
	// belongs to something else.
	ErrForeign = errors.New("the database has tables that no migration made")
	// ErrOrder: a migration is missing although later ones were applied.
	ErrOrder = errors.New("a migration has been added before applied ones")
	// ErrPending is returned by Pending and Verify where Migrate has work to do.
	ErrPending = errors.New("the database has pending migrations")
	// ErrLocked: other transactions held a lock that a migration needs, through
	// all of its attempts. Migrate again once they have ended.
	ErrLocked = errors.New("a lock was not released in time")
	// ErrNoCopy: the copy of an embedded database could not be made, so nothing
	// was migrated.
	ErrNoCopy = errors.New("the database could not be copied before migrating it")
)

// Migration is one migration file and what became of it.
type Migration struct {
	Version   string    // 20261121000000, the order of application
	Name      string    // initial
	AppliedAt time.Time // UTC; zero while pending
	// Applied of Statements have been applied, where a break left the rest: the
	// next Migrate continues, unless the refusal beside it says otherwise.
	Applied, Statements int
}

// Status lists every migration, applied and pending ones, in order. Beside a
// refusal (ErrChanged and so on) it lists what can be told.
func (db *DB) Status(ctx context.Context) ([]Migration, error) {
	plan, err := db.plan(ctx, db.SQL)
	if plan == nil {
		return nil, err
	}
	var list []Migration
	for _, r := range plan.applied {
		m := Migration{Version: r.Version, Name: r.Description, AppliedAt: r.ExecutedAt.UTC()}
		if incomplete(r) {
			m.AppliedAt, m.Applied, m.Statements = time.Time{}, r.Applied, r.Total
		}
		list = append(list, m)
	}
	for _, f := range plan.pending {
		m := Migration{Version: f.Version(), Name: f.Desc()}
		if r := plan.begun; r != nil && r.Version == m.Version {
			m.Applied, m.Statements = r.Applied, r.Total
		}
		list = append(list, m)
	}
	return list, err
}

// Pending returns nil when the database has exactly this program's migrations,
// ErrPending when some are still to be applied, and Migrate's refusals. It
// costs one or two queries.
func (db *DB) Pending(ctx context.Context) error {
	plan, err := db.plan(ctx, db.SQL)
	if err != nil {
		return err
	}
	if len(plan.pending) == 0 {
		return nil
	}
	err = fmt.Errorf("store: %w: %d, the first is %s", ErrPending, len(plan.pending), plan.pending[0].Name())
	if r := plan.begun; r != nil {
		err = fmt.Errorf("%w, of which %d of %d statements are applied", err, r.Applied, r.Total)
	}
	return err
}

// plan is what the migration files and the record in the database amount to.
type plan struct {
	dir     migrate.Dir
	applied []*migrate.Revision
	pending []migrate.File
	begun   *migrate.Revision // the first pending file, where some of its statements are applied
}

// plan compares the files with the record. Its plan is also valid beside the
// refusals, and nil beside any other error.
func (db *DB) plan(ctx context.Context, conn atlas.ExecQuerier) (*plan, error) {
	dir, files, err := open(db.files)
	if err != nil {
		return nil, err
	}
	sums, err := dir.Checksum()
	if err != nil {
		return nil, fmt.Errorf("store: migrations: %w", err)
	}
	h := history{conn, db.postgres()}
	exists, others, err := h.tables(ctx)
	if err != nil {
		return nil, err
	}
	p := &plan{dir: dir}
	var revisions []*migrate.Revision
	if exists {
		if revisions, err = h.ReadRevisions(ctx); err != nil {
			return nil, err
		}
	}
	if len(revisions) == 0 {
		p.pending = files
		if others > 0 {
			return p, fmt.Errorf("store: %w: use an empty database", ErrForeign)
		}
		return p, nil
	}

	known := map[string]migrate.File{}
	for _, f := range files {
		known[f.Version()] = f
	}
	var refusals []error
	done := map[string]bool{}
	for i, r := range revisions {
		f := known[r.Version]
		if f != nil && db.resumable(f, r) && i == len(revisions)-1 {
			p.begun = r
		} else {
			done[r.Version] = true
			p.applied = append(p.applied, r)
		}
		if f == nil {
			refusals = append(refusals, fmt.Errorf("store: %w: it has %s_%s; install the newer program", ErrNewer, r.Version, r.Description))
			continue
		}
		if incomplete(r) && p.begun != r {
			refusals = append(refusals, fmt.Errorf("store: %w: %s, %d of %d statements: %s; finish or undo it by hand", ErrHalfApplied, f.Name(), r.Applied, r.Total, r.Error))
		}
		sum, err := sums.SumByName(f.Name())
		if err != nil {
			return nil, fmt.Errorf("store: migrations: %w", err)
		}
		// A baseline set with the Atlas command line has no checksum. Checksums
		// cover all earlier files, too: the first that differs is the culprit.
		if r.Hash != "" && r.Hash != sum && !slices.ContainsFunc(refusals, changed) {
			refusals = append(refusals, fmt.Errorf("store: %w: %s is not the file that was applied", ErrChanged, f.Name()))
		}
	}
	last := revisions[len(revisions)-1].Version
	for _, f := range files {
		if done[f.Version()] {
			continue
		}
		p.pending = append(p.pending, f)
		if f.Version() < last && revisions[0].Type != migrate.RevisionTypeBaseline {
			refusals = append(refusals, fmt.Errorf("store: %w: %s", ErrOrder, f.Name()))
		}
	}
	return p, errors.Join(refusals...)
}

// incomplete reports whether statements of a migration are still to be applied.
func incomplete(r *migrate.Revision) bool { return r.Applied != r.Total || r.Error != "" }

// resumable reports whether a migration of this record broke off between its
// statements and may go on with the next one.
func (db *DB) resumable(f migrate.File, r *migrate.Revision) bool {
	return db.postgres() && incomplete(r) && transactionMode(f) == notInTransaction
}

func changed(err error) bool { return errors.Is(err, ErrChanged) }

// open reads migration files and checks them against atlas.sum.
func open(files fs.FS) (migrate.Dir, []migrate.File, error) {
	dir := &migrate.MemDir{}
	names, err := fs.Glob(files, "*")
	if err != nil {
		return nil, nil, fmt.Errorf("store: migrations: %w", err)
	}
	for _, name := range names {
		content, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, nil, fmt.Errorf("store: migrations: %w", err)
		}
		if err := dir.WriteFile(name, content); err != nil {
			return nil, nil, fmt.Errorf("store: migrations: %w", err)
		}
	}
	if err := migrate.Validate(dir); err != nil {
		var sum *migrate.ChecksumError
		if errors.As(err, &sum) {
			return nil, nil, fmt.Errorf("store: %w: %s does not match atlas.sum", ErrChanged, cmp.Or(sum.File, "the directory"))
		}
		return nil, nil, fmt.Errorf("store: %w: %w", ErrChanged, err)
	}
	list, err := dir.Files()
	if err != nil {
		return nil, nil, fmt.Errorf("store: migrations: %w", err)
	}
	return dir, list, nil
}

// transactionMode is the file's "-- atlas:txmode" directive, if it has one.
func transactionMode(file migrate.File) string {
	local, ok := file.(*migrate.LocalFile)
	if !ok {
		return ""
	}
	return strings.Join(local.Directive("txmode"), "")
}

// Atlas gives the migration engine for the database, for writing migrations.
func (db *DB) Atlas() (migrate.Driver, error) { return db.atlas(db.SQL) }

// atlas gives the Atlas engine for a connection.
func (db *DB) atlas(conn atlas.ExecQuerier) (migrate.Driver, error) {
	open := sqlite.Open
	if db.postgres() {
		open = postgres.Open
	}
	driver, err := open(conn)
	if err != nil {
		return nil, fmt.Errorf("store: inspect the database: %w", err)
	}
	return driver, nil
}
