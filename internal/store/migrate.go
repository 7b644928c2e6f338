package store

import (
	"cmp"
	"context"
	"database/sql"
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

	"chairside/internal/clock"
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
	// ErrHalfApplied: a migration outside a transaction failed in its middle.
	// The rest of it has to be done, or what it did undone, by hand.
	ErrHalfApplied = errors.New("a migration is half applied")
	// ErrForeign: the database has tables but no record of migrations, so it
	// belongs to something else.
	ErrForeign = errors.New("the database has tables that no migration made")
	// ErrOrder: a migration is missing although later ones were applied.
	ErrOrder = errors.New("a migration has been added before applied ones")
	// ErrPending is returned by Pending and Verify where Migrate has work to do.
	ErrPending = errors.New("the database has pending migrations")
)

// Migration is one migration file and what became of it.
type Migration struct {
	Version   string    // 20261121000000, the order of application
	Name      string    // initial
	AppliedAt time.Time // UTC; zero while pending
}

const (
	// migrationLock is the name the Atlas command line locks, too.
	migrationLock = "atlas_migrate_execute"
	// migrationLockTimeout is how long a second migration waits for the first.
	migrationLockTimeout = 5 * time.Minute
	// notInTransaction is the directive of a PostgreSQL file whose statements
	// refuse to run in a transaction (CREATE INDEX CONCURRENTLY).
	notInTransaction = "none"
)

// Migrate applies every pending migration in order and returns those it
// applied, also beside an error. Several processes may call it at once: one
// applies, the others wait up to five minutes and then find nothing to do.
//
// A migration that fails leaves no trace, except on PostgreSQL one marked
// "-- atlas:txmode none", which becomes ErrHalfApplied.
func (db *DB) Migrate(ctx context.Context) ([]Migration, error) {
	pool := db.maintenance()
	defer pool.Close()
	if db.postgres() {
		unlock, err := lockPostgres(ctx, pool)
		if err != nil {
			return nil, err
		}
		defer func() { _ = unlock() }() // it ends with its connection
	}
	var applied []Migration
	for {
		m, err := db.applyNext(ctx, pool)
		if err != nil || m == nil {
			return applied, err
		}
		applied = append(applied, *m)
	}
}

// lockPostgres keeps other migrations out, those of the Atlas command line
// included. On SQLite the write lock of each transaction does.
func lockPostgres(ctx context.Context, pool *sql.DB) (unlock func() error, err error) {
	driver, err := postgres.Open(pool)
	if err != nil {
		return nil, fmt.Errorf("store: migrate: %w", err)
	}
	locker, ok := driver.(atlas.Locker)
	if !ok {
		return nil, errors.New("store: migrate: this server has no advisory locks")
	}
	release, err := locker.Lock(ctx, migrationLock, migrationLockTimeout)
	if err != nil {
		return nil, fmt.Errorf("store: wait for another migration: %w", err)
	}
	return release, nil
}

// applyNext applies the first pending migration, if there is one. Whether there
// is is decided inside the transaction that applies it.
func (db *DB) applyNext(ctx context.Context, pool *sql.DB) (_ *Migration, err error) {
	transaction, err := pool.BeginTx(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("store: migrate: %w", err)
	}
	defer transaction.Rollback() // after a commit it does nothing

	h := history{transaction, db.postgres()}
	if err := h.create(ctx); err != nil {
		return nil, err
	}
	plan, err := db.plan(ctx, transaction)
	if err != nil || len(plan.pending) == 0 {
		return nil, err
	}
	file := plan.pending[0]
	if transactionMode(file) == notInTransaction {
		if err := transaction.Commit(); err != nil { // the record of migrations
			return nil, fmt.Errorf("store: migrate: %w", err)
		}
		return db.applyFile(ctx, pool, plan.dir, file)
	}
	m, err := db.applyFile(ctx, transaction, plan.dir, file)
	if err != nil {
		return nil, err
	}
	if !db.postgres() {
		if err := checkForeignKeys(ctx, transaction); err != nil {
			return nil, fmt.Errorf("store: migration %s: %w", file.Name(), err)
		}
	}
	if err := transaction.Commit(); err != nil {
		return nil, fmt.Errorf("store: migration %s: %w", file.Name(), err)
	}
	return m, nil
}

func (db *DB) applyFile(ctx context.Context, conn atlas.ExecQuerier, dir migrate.Dir, file migrate.File) (*Migration, error) {
	driver, err := db.atlas(conn)
	if err != nil {
		return nil, err
	}
	executor, err := migrate.NewExecutor(driver, dir, history{conn, db.postgres()}, migrate.WithOperatorVersion("chairside"))
	if err != nil {
		return nil, fmt.Errorf("store: migrate: %w", err)
	}
	if err := executor.Execute(ctx, file); err != nil {
		// In a failed transaction PostgreSQL also refuses the note of the
		// failure, which says nothing: the statement's own error comes first.
		var statement *migrate.StmtExecError
		if errors.As(err, &statement) {
			err = statement.Err
		}
		return nil, fmt.Errorf("store: migration %s: %w", file.Name(), err)
	}
	return &Migration{Version: file.Version(), Name: file.Desc(), AppliedAt: clock.Now(ctx)}, nil
}

// checkForeignKeys finds rows that point nowhere after a migration, during
// which SQLite did not look.
func checkForeignKeys(ctx context.Context, conn atlas.ExecQuerier) error {
	rows, err := conn.QueryContext(ctx, "SELECT `table`, `parent`, count(*) FROM pragma_foreign_key_check GROUP BY 1, 2 ORDER BY 1, 2")
	if err != nil {
		return err
	}
	defer rows.Close()
	var broken []string
	for rows.Next() {
		var table, parent string
		var count int
		if err := rows.Scan(&table, &parent, &count); err != nil {
			return err
		}
		broken = append(broken, fmt.Sprintf("%d rows of %s point at no row of %s", count, table, parent))
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if len(broken) > 0 {
		return errors.New(strings.Join(broken, "; "))
	}
	return nil
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
		list = append(list, Migration{r.Version, r.Description, r.ExecutedAt.UTC()})
	}
	for _, f := range plan.pending {
		list = append(list, Migration{Version: f.Version(), Name: f.Desc()})
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
	if len(plan.pending) > 0 {
		return fmt.Errorf("store: %w: %d, the first is %s", ErrPending, len(plan.pending), plan.pending[0].Name())
	}
	return nil
}

// plan is what the migration files and the record in the database amount to.
type plan struct {
	dir     migrate.Dir
	applied []*migrate.Revision
	pending []migrate.File
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
	if exists {
		if p.applied, err = h.ReadRevisions(ctx); err != nil {
			return nil, err
		}
	}
	if len(p.applied) == 0 {
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
	for _, r := range p.applied {
		done[r.Version] = true
		f := known[r.Version]
		if f == nil {
			refusals = append(refusals, fmt.Errorf("store: %w: it has %s_%s; install the newer program", ErrNewer, r.Version, r.Description))
			continue
		}
		if r.Applied != r.Total || r.Error != "" {
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
	last := p.applied[len(p.applied)-1].Version
	for _, f := range files {
		if done[f.Version()] {
			continue
		}
		p.pending = append(p.pending, f)
		if f.Version() < last && p.applied[0].Type != migrate.RevisionTypeBaseline {
			refusals = append(refusals, fmt.Errorf("store: %w: %s", ErrOrder, f.Name()))
		}
	}
	return p, errors.Join(refusals...)
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
