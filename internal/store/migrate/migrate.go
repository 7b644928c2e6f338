package migrate

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	engine "ariga.io/atlas/sql/migrate"
	"ariga.io/atlas/sql/postgres"
	atlas "ariga.io/atlas/sql/schema"
	"ariga.io/atlas/sql/sqlite"
	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql/schema"

	"chairside/internal/store"
)

// Up, Status, Check and Verify refuse to work with these errors. Each is wrapped in a text with
// the name of the migration or table and what to do.
var (
	// ErrChanged: a migration file does not match its checksum, or is not the file that was
	// applied to the database.
	ErrChanged = errors.New("a migration has been changed")
	// ErrNewer: the database has a migration that this program does not have, so a newer
	// program has migrated it.
	ErrNewer = errors.New("the database is newer than this program")
	// ErrHalfApplied: another program has applied a part of a migration that belongs in a
	// transaction, or has applied later ones after it. Complete or undo it by hand.
	ErrHalfApplied = errors.New("a migration is half applied")
	// ErrForeign: the database has tables but no history of migrations, so it belongs to
	// another program.
	ErrForeign = errors.New("the database has tables that no migration made")
	// ErrOrder: a migration is missing although later ones were applied.
	ErrOrder = errors.New("a migration has been added before applied ones")
	// ErrPending: Check and Verify return it if Up has migrations to apply.
	ErrPending = errors.New("the database has pending migrations")
	// ErrLocked: during all attempts, other transactions held a lock that a migration needs.
	// Run Up again once they have ended.
	ErrLocked = errors.New("a lock was not released in time")
	// ErrNoCopy: an embedded database could not be copied, so nothing was migrated.
	ErrNoCopy = errors.New("the database could not be copied before migrating it")
	// ErrTooOld means that the PostgreSQL server is older than Chairside supports.
	ErrTooOld = errors.New("the PostgreSQL server is too old")
)

// Migration is a migration file and whether it is applied.
type Migration struct {
	Version   string    // 20261121000000, the order of application
	Name      string    // initial
	AppliedAt time.Time // UTC; zero while pending
	// Applied of Statements have been applied, if the migration was interrupted. The next Up
	// continues it, unless the error of Status says otherwise.
	Applied, Statements int
}

// migrator migrates one database.
type migrator struct {
	db          *store.DB
	files       fs.FS
	tables      []*schema.Table // the tables that the files must result in
	maintenance func() *sql.DB  // store.DB.Maintenance
	lockRetry   time.Duration   // see retryFor
	oldest      int             // see oldestPostgres
}

func of(db *store.DB) *migrator {
	return &migrator{db, Files(db.Dialect), store.Tables(db.Dialect), db.Maintenance, retryFor, oldestPostgres}
}

// Status lists all migrations, applied and pending, in order. If it also returns one of the
// errors above, the list has the migrations that it could read.
func Status(ctx context.Context, db *store.DB) ([]Migration, error) { return of(db).Status(ctx) }

// Check returns nil if the database has exactly this program's migrations, ErrPending if some are
// still to be applied, or another error of Up. It takes one or two queries.
func Check(ctx context.Context, db *store.DB) error { return of(db).Check(ctx) }

// Status is the package's function Status for the files of m.
func (m *migrator) Status(ctx context.Context) ([]Migration, error) {
	s, err := m.state(ctx, m.db.SQL)
	if s == nil {
		return nil, err
	}
	var list []Migration
	for _, r := range s.applied {
		m := Migration{Version: r.Version, Name: r.Description, AppliedAt: r.ExecutedAt.UTC()}
		if incomplete(r) {
			m.AppliedAt, m.Applied, m.Statements = time.Time{}, r.Applied, r.Total
		}
		list = append(list, m)
	}
	for _, f := range s.pending {
		m := Migration{Version: f.Version(), Name: f.Desc()}
		if r := s.begun; r != nil && r.Version == m.Version {
			m.Applied, m.Statements = r.Applied, r.Total
		}
		list = append(list, m)
	}
	return list, err
}

// Check is the package's function Check for the files of m.
func (m *migrator) Check(ctx context.Context) error {
	s, err := m.state(ctx, m.db.SQL)
	if err != nil {
		return err
	}
	if len(s.pending) == 0 {
		return nil
	}
	err = fmt.Errorf("%w: %d, the first is %s", ErrPending, len(s.pending), s.pending[0].Name())
	if r := s.begun; r != nil {
		err = fmt.Errorf("%w, of which %d of %d statements are applied", err, r.Applied, r.Total)
	}
	return err
}

// state is the result of comparing the migration files with the history in the database.
type state struct {
	dir     engine.Dir
	applied []*engine.Revision
	pending []engine.File
	begun   *engine.Revision // the first pending file, if some of its statements are applied
}

// state compares the files with the history. It returns a valid state together with the errors
// above, and nil with any other error.
func (m *migrator) state(ctx context.Context, conn atlas.ExecQuerier) (*state, error) {
	dir, files, err := open(m.files)
	if err != nil {
		return nil, err
	}
	sums, err := dir.Checksum()
	if err != nil {
		return nil, fmt.Errorf("migrations: %w", err)
	}
	h := history{conn, m.postgres()}
	exists, others, err := h.tables(ctx)
	if err != nil {
		return nil, err
	}
	s := &state{dir: dir}
	var revisions []*engine.Revision
	if exists {
		if revisions, err = h.ReadRevisions(ctx); err != nil {
			return nil, err
		}
	}
	if len(revisions) == 0 {
		s.pending = files
		if others > 0 {
			return s, fmt.Errorf("%w: use an empty database", ErrForeign)
		}
		return s, nil
	}

	known := map[string]engine.File{}
	for _, f := range files {
		known[f.Version()] = f
	}
	var refusals []error
	done := map[string]bool{}
	for i, r := range revisions {
		f := known[r.Version]
		if f != nil && m.resumable(f, r) && i == len(revisions)-1 {
			s.begun = r
		} else {
			done[r.Version] = true
			s.applied = append(s.applied, r)
		}
		if f == nil {
			refusals = append(refusals, fmt.Errorf("%w: it has %s_%s; install the newer program", ErrNewer, r.Version, r.Description))
			continue
		}
		if incomplete(r) && s.begun != r {
			refusals = append(refusals, fmt.Errorf("%w: %s, %d of %d statements: %s; finish or undo it by hand", ErrHalfApplied, f.Name(), r.Applied, r.Total, r.Error))
		}
		sum, err := sums.SumByName(f.Name())
		if err != nil {
			return nil, fmt.Errorf("migrations: %w", err)
		}
		// A baseline set with the Atlas command line has no checksum. A checksum also covers
		// all earlier files, so only the first difference is reported.
		if r.Hash != "" && r.Hash != sum && !slices.ContainsFunc(refusals, changed) {
			refusals = append(refusals, fmt.Errorf("%w: %s is not the file that was applied", ErrChanged, f.Name()))
		}
	}
	last := revisions[len(revisions)-1].Version
	for _, f := range files {
		if done[f.Version()] {
			continue
		}
		s.pending = append(s.pending, f)
		if f.Version() < last && revisions[0].Type != engine.RevisionTypeBaseline {
			refusals = append(refusals, fmt.Errorf("%w: %s", ErrOrder, f.Name()))
		}
	}
	return s, errors.Join(refusals...)
}

// incomplete reports whether statements of a migration are still to be applied.
func incomplete(r *engine.Revision) bool { return r.Applied != r.Total || r.Error != "" }

// resumable reports whether a migration was interrupted between two statements and can continue
// with the next one.
func (m *migrator) resumable(f engine.File, r *engine.Revision) bool {
	return m.postgres() && incomplete(r) && Repeatable(f)
}

func changed(err error) bool { return errors.Is(err, ErrChanged) }

// open reads migration files and checks them against atlas.sum.
func open(files fs.FS) (engine.Dir, []engine.File, error) {
	dir := &engine.MemDir{}
	names, err := fs.Glob(files, "*")
	if err != nil {
		return nil, nil, fmt.Errorf("migrations: %w", err)
	}
	for _, name := range names {
		content, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, nil, fmt.Errorf("migrations: %w", err)
		}
		if err := dir.WriteFile(name, content); err != nil {
			return nil, nil, fmt.Errorf("migrations: %w", err)
		}
	}
	if err := engine.Validate(dir); err != nil {
		var sum *engine.ChecksumError
		if errors.As(err, &sum) {
			return nil, nil, fmt.Errorf("%w: %s does not match atlas.sum", ErrChanged, cmp.Or(sum.File, "the directory"))
		}
		return nil, nil, fmt.Errorf("%w: %w", ErrChanged, err)
	}
	list, err := dir.Files()
	if err != nil {
		return nil, nil, fmt.Errorf("migrations: %w", err)
	}
	return dir, list, nil
}

// NotInTransaction is the first line, followed by an empty one, of a PostgreSQL file whose
// statements are applied one by one (CREATE INDEX CONCURRENTLY, backfills).
const NotInTransaction = "-- atlas:txmode none"

// Repeatable reports whether a file is applied outside a transaction, each statement by
// itself.
func Repeatable(f engine.File) bool {
	local, ok := f.(*engine.LocalFile)
	return ok && slices.Equal(local.Directive("txmode"), []string{"none"})
}

// postgres reports whether the database is a PostgreSQL database.
func (m *migrator) postgres() bool { return m.db.Dialect == dialect.Postgres }

// Driver returns Atlas's driver for the database, for writing migrations.
func Driver(db *store.DB) (engine.Driver, error) { return DriverOn(db.SQL, db.Dialect) }

// DriverOn returns Atlas's driver for a connection.
func DriverOn(conn atlas.ExecQuerier, dialectName string) (engine.Driver, error) {
	open := sqlite.Open
	if dialectName == dialect.Postgres {
		open = postgres.Open
	}
	driver, err := open(conn)
	if err != nil {
		return nil, fmt.Errorf("inspect the database: %w", err)
	}
	return driver, nil
}
