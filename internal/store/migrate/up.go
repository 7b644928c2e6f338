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
	// migrationLock is the name the Atlas command line locks, too.
	migrationLock = "atlas_migrate_execute"
	// migrationLockTimeout is how long a second migration waits for the first.
	migrationLockTimeout = 5 * time.Minute
)

// Progress receives a sentence for the operator while Up works: the copy it
// has kept, the process it waits for.
type Progress func(sentence string)

// Up applies every pending migration in order and returns those it
// applied, also beside an error. Several processes may call it at once: one
// applies, the others wait up to five minutes and then find nothing to do.
//
// A migration that fails leaves no trace, except on PostgreSQL one marked
// "-- atlas:txmode none": the next Up continues it at the statement that
// failed. Locks are requested as locks.go describes, so that a server may
// go on working; ErrLocked reports who held one too long.
//
// Before the first change to an embedded database that is in use Up keeps a
// copy of it (keepCopy).
func Up(ctx context.Context, db *store.DB, progress ...Progress) (applied []Migration, err error) {
	return of(db).Up(ctx, progress...)
}

// Up is the function Up, with the files of m.
func (m *migrator) Up(ctx context.Context, progress ...Progress) (applied []Migration, err error) {
	pool := m.maintenance()
	defer pool.Close()
	conn, err := pool.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	defer func() { _ = conn.Close() }() // closing the pool ends it
	a := &applier{migrator: m, conn: conn, progress: progress}
	if m.postgres() {
		// The session that works also holds the lock: while one of the two
		// lasts on the server, even without its client, so does the other.
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

// lockMigrations keeps other migrations out, those of the Atlas command line
// included. On SQLite the write lock of each transaction does. It polls instead
// of waiting in the server, where a waiting statement's snapshot would hold up
// CREATE INDEX CONCURRENTLY.
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

	process  int           // of conn on the PostgreSQL server
	lockWait time.Duration // the most that a transaction waits for its locks
	copied   bool          // the embedded database, unless it was new
}

func (a *applier) report(format string, args ...any) {
	for _, p := range a.progress {
		p(fmt.Sprintf(format, args...))
	}
}

// applyNext applies the first pending migration, if there is one.
func (a *applier) applyNext(ctx context.Context) (m *Migration, err error) {
	var alone *state // its first file is applied statement by statement
	err = a.retry(ctx, a.lockWait, func() error {
		m, alone, err = a.transaction(ctx)
		return err
	})
	if err != nil || alone == nil {
		return m, err
	}
	defer func() {
		if _, resetErr := a.conn.ExecContext(ctx, "SET lock_timeout = "+milliseconds(a.lockWait)); err == nil && resetErr != nil {
			err = fmt.Errorf("migrate: %w", resetErr)
		}
	}()
	statements := &statementwise{applier: a, resumed: alone.begun != nil}
	return a.applyFile(ctx, statements, history{a.conn, true}, alone.dir, alone.pending[0])
}

// transaction applies the first pending migration in a transaction, within which
// it also decides which one that is. It returns the plan instead where the file
// must not be applied in a transaction.
func (a *applier) transaction(ctx context.Context) (_ *Migration, alone *state, err error) {
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
		conn = &bounded{Tx: tx, limit: a.lockWait}
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

// applyFile runs the statements of a file on conn and records each in h.
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
		// In a failed transaction PostgreSQL also refuses the note of the
		// failure, which says nothing: the statement's own error comes first.
		var statement *engine.StmtExecError
		if errors.As(err, &statement) {
			err = fmt.Errorf("%s: %w", headline(statement.Stmt.Text), statement.Err)
		}
		return nil, fmt.Errorf("migration %s: %w", file.Name(), err)
	}
	return &Migration{Version: file.Version(), Name: file.Desc(), AppliedAt: clock.Now(ctx)}, nil
}

// headline identifies a statement by its beginning, without the values it ends in.
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

// checkForeignKeys finds rows that point nowhere after a migration, during
// which SQLite did not look.
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
