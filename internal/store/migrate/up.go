package migrate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	engine "ariga.io/atlas/sql/migrate"
	"ariga.io/atlas/sql/postgres"
	atlas "ariga.io/atlas/sql/schema"
	entsql "entgo.io/ent/dialect/sql"

	"chairside/internal/clock"
	"chairside/internal/store"
)

const (
	// migrationLock is the name of the lock that the Atlas command line also takes.
	migrationLock = "atlas_migrate_execute"
	// migrationLockTimeout is how long a second migration waits for the first.
	migrationLockTimeout = 5 * time.Minute
)

// Progress receives messages for the operator while Up runs, such as the name of the copy or the
// process that holds a lock.
type Progress func(sentence string)

// Up applies all pending migrations in order and returns those that it applied, even if a later
// one fails. Several processes may call it at once: one applies the migrations, the others wait
// up to five minutes and then have nothing to do.
//
// A migration that fails is rolled back. The exception, on PostgreSQL, is one marked
// "-- atlas:txmode none": the next Up continues it at the statement that failed. Up waits for
// locks as locks.go describes, so that servers can continue to work. ErrLocked reports which
// process held a lock for too long.
//
// Before Up changes an embedded database that has data, it copies it (keepCopy).
func Up(ctx context.Context, db *store.DB, progress ...Progress) (applied []Migration, err error) {
	return of(db).Up(ctx, progress...)
}

// Up is the package's function Up for the files of m.
func (m *migrator) Up(ctx context.Context, progress ...Progress) (applied []Migration, err error) {
	pool := m.maintenance()
	defer pool.Close()
	if m.postgres() {
		if err := m.checkVersion(ctx, pool); err != nil {
			return nil, err
		}
	}
	conn, err := pool.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	defer func() { _ = conn.Close() }() // closing the pool ends it
	a := &applier{migrator: m, conn: conn, progress: progress}
	if m.postgres() {
		// The session that applies migrations also holds the lock: if the client dies, the
		// lock lasts as long as the session still works.
		unlock, err := lockMigrations(ctx, conn)
		if err != nil {
			return nil, err
		}
		defer func() { _ = unlock() }() // it also ends with the connection
		if err := a.readLimits(ctx); err != nil {
			return nil, err
		}
		if a.observer, err = pool.Conn(ctx); err != nil {
			return nil, fmt.Errorf("migrate: %w", err)
		}
		defer func() { _ = a.observer.Close() }()
	}
	for {
		next, err := a.applyNext(ctx)
		if err != nil || next == nil {
			return applied, err
		}
		applied = append(applied, *next)
	}
}

// lockMigrations excludes other migrations, including those by the Atlas command line. (On SQLite
// the write lock of each transaction does.) It polls, because the snapshot of a statement that
// waits in the server would block CREATE INDEX CONCURRENTLY.
func lockMigrations(ctx context.Context, conn *sql.Conn) (unlock func() error, err error) {
	driver, err := postgres.Open(conn)
	if err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	locker, ok := driver.(atlas.Locker)
	if !ok {
		return nil, errors.New("migrate: this server has no advisory locks")
	}
	release, err := locker.Lock(ctx, migrationLock, migrationLockTimeout)
	if err != nil {
		return nil, fmt.Errorf("wait for another migration: %w", err)
	}
	return release, nil
}

// applier applies migrations on one connection.
type applier struct {
	*migrator
	conn     *sql.Conn
	observer *sql.Conn // a second connection to a PostgreSQL server
	progress []Progress

	process  int           // PostgreSQL's process of conn
	lockWait time.Duration // how long a transaction waits for its locks
	copied   bool          // the embedded database has been copied, or was new
}

func (a *applier) report(format string, args ...any) {
	for _, p := range a.progress {
		p(fmt.Sprintf(format, args...))
	}
}

// applyNext applies the first pending migration, if there is one.
func (a *applier) applyNext(ctx context.Context) (m *Migration, err error) {
	var outside *state // if set, its first file is applied outside a transaction
	err = a.retry(ctx, a.lockWait, func() error {
		m, outside, err = a.transaction(ctx)
		return err
	})
	if err != nil || outside == nil {
		return m, err
	}
	defer func() {
		if _, resetErr := a.conn.ExecContext(ctx, "SET lock_timeout = "+milliseconds(a.lockWait)); err == nil && resetErr != nil {
			err = fmt.Errorf("migrate: %w", resetErr)
		}
	}()
	statements := &statementwise{applier: a, resumed: outside.begun != nil}
	return a.applyFile(ctx, statements, history{a.conn, true}, outside.dir, outside.pending[0])
}

// transaction applies the first pending migration. The same transaction also reads which one that
// is. If the file must be applied outside a transaction, it returns the state instead.
func (a *applier) transaction(ctx context.Context) (_ *Migration, outside *state, err error) {
	tx, err := a.conn.BeginTx(ctx, nil)
	if err != nil {
		return nil, nil, fmt.Errorf("migrate: %w", err)
	}
	defer tx.Rollback() // after a commit it does nothing

	h := history{tx, a.postgres()}
	if err := h.create(ctx); err != nil {
		return nil, nil, err
	}
	s, err := a.state(ctx, tx)
	if err != nil || len(s.pending) == 0 {
		return nil, nil, err
	}
	file := s.pending[0]
	if a.postgres() && Repeatable(file) {
		if err := tx.Commit(); err != nil { // the record of migrations
			return nil, nil, fmt.Errorf("migrate: %w", err)
		}
		return nil, s, nil
	}
	var conn atlas.ExecQuerier = tx
	if a.postgres() {
		conn = &lockLimitedTx{Tx: tx, limit: a.lockWait}
	} else if err := a.keepCopy(ctx, s); err != nil {
		return nil, nil, err
	}
	m, err := a.applyFile(ctx, conn, h, s.dir, file)
	if err != nil {
		return nil, nil, err
	}
	if !a.postgres() {
		if err := checkForeignKeys(ctx, tx); err != nil {
			return nil, nil, fmt.Errorf("migration %s: %w", file.Name(), err)
		}
	}
	if err := tx.Commit(); err != nil {
		return nil, nil, fmt.Errorf("migration %s: %w", file.Name(), err)
	}
	return m, nil, nil
}

// applyFile runs the statements of a file on conn and records progress in h.
func (m *migrator) applyFile(ctx context.Context, conn atlas.ExecQuerier, h history, dir engine.Dir, file engine.File) (*Migration, error) {
	driver, err := DriverOn(conn, m.db.Dialect)
	if err != nil {
		return nil, err
	}
	executor, err := engine.NewExecutor(driver, dir, h, engine.WithOperatorVersion("chairside"))
	if err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	if err := executor.Execute(ctx, file); err != nil {
		// In a failed transaction PostgreSQL also refuses to record the failure. That error
		// says nothing, so it is replaced by the statement's own.
		var statement *engine.StmtExecError
		if errors.As(err, &statement) {
			err = fmt.Errorf("%s: %w", headline(statement.Stmt.Text), statement.Err)
		}
		return nil, fmt.Errorf("migration %s: %w", file.Name(), err)
	}
	return &Migration{Version: file.Version(), Name: file.Desc(), AppliedAt: clock.Now(ctx)}, nil
}

// headline returns the beginning of a statement, which identifies it, without the values that
// follow.
func headline(statement string) string {
	const longest = 80
	line, rest, _ := strings.Cut(strings.TrimSpace(statement), "\n")
	if len(line) > longest {
		line, rest = strings.ToValidUTF8(line[:longest], ""), "cut"
	}
	if rest != "" {
		line += " …"
	}
	return line
}

// checkForeignKeys finds rows with broken references after a migration, during which SQLite does
// not check foreign keys.
func checkForeignKeys(ctx context.Context, conn atlas.ExecQuerier) error {
	const query = "SELECT count(*) || ' rows of ' || `table` || ' point at no row of ' || `parent` FROM pragma_foreign_key_check GROUP BY `table`, `parent` ORDER BY `table`, `parent`"
	rows, err := conn.QueryContext(ctx, query) //nolint:rowserrcheck // ScanSlice returns it
	if err != nil {
		return err
	}
	defer rows.Close()
	var broken []string
	if err := entsql.ScanSlice(rows, &broken); err != nil {
		return err
	}
	if len(broken) > 0 {
		return errors.New(strings.Join(broken, "; "))
	}
	return nil
}
