package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql/schema"
	"golang.org/x/sync/singleflight"

	"chairside/ent"
	"chairside/ent/migrate"
	_ "chairside/ent/runtime" // registers the schema's hooks and defaults
	"chairside/internal/audit"
	"chairside/internal/seal"
	"chairside/internal/store/admission"
	"chairside/internal/store/counters"
	"chairside/internal/store/rowsecurity"
)

// DB is an open database. It is safe for concurrent use.
type DB struct {
	// SQL is the pool of connections, for statements that Ent cannot express. It bypasses the
	// gate (gated.go), so it is only for commands, probes and background work. Where
	// row-level security is on, it is the system role's.
	SQL *sql.DB
	// Ent is the generated client on the same pool.
	Ent *ent.Client
	// Dialect is dialect.Postgres or dialect.SQLite, Ent's names.
	Dialect string
	// File is the path of an embedded database, empty for PostgreSQL.
	File string
	// Counters maintains the counts of rows that lists show.
	Counters *counters.Counters
	// Maintenance opens a small pool without the time limits of a request, for migrations,
	// counters and the audit log as a whole. On SQLite it does not enforce foreign keys, because altering a table means
	// rebuilding it.
	Maintenance func() *sql.DB

	// AuditKey makes the hashes of sensitive values in the audit log; without it, none are kept.
	// It is set before the database is used.
	AuditKey *audit.Key
	// Keys seal and open sealed columns; without them, writing one fails. They are set before the
	// database is used.
	Keys *seal.Keys

	health     *sql.DB // one connection, only for Ready
	readiness  singleflight.Group
	roundTrips atomic.Int64
	queues     *queues         // where transactions wait for each other's locks
	running    running         // locks of TxOnce
	gate       *admission.Gate // in front of the pool, for Ent, Tx and View
	serving    *sql.DB         // pool for work with a principal: SQL, or that of the serving role
	systemGate *admission.Gate // in front of SQL: gate, unless serving is another pool
	reports    *admission.Gate // turns of ViewForReport
	front      *DB             // opened serving; nil if it is SQL
	replicas   *replicas       // nil without UseReplicas
	// servingAccess is how serving connects; replicas are reached in the same way.
	servingAccess access
	pooled        bool // a pooler is between us and the server
	limitSilence  func(time.Duration)
	unconfined    string          // why it is SQL; "" if it is not
	tables        []*schema.Table // Tables of its dialect
}

// LimitSilence sets how long a connection waits for a PostgreSQL that sends nothing and does not say why, because it
// is frozen, unreachable or behind a pooler. At first it is an hour, for migrations and imports. A server's
// statements without a deadline take at most 30 s, so there a minute of silence means that the connection is lost. Behind a
// pooler a statement with a deadline has until then.
func (db *DB) LimitSilence(d time.Duration) {
	for _, each := range []*DB{db, db.front} {
		if each != nil && each.limitSilence != nil {
			each.limitSilence(d)
		}
	}
}

// Pools returns the pools of connections: "chairside" for requests and, where row-level security is on,
// "background" for work without a caller.
func (db *DB) Pools() map[string]*sql.DB {
	if db.serving == db.SQL {
		return map[string]*sql.DB{"chairside": db.SQL}
	}
	return map[string]*sql.DB{"chairside": db.serving, "background": db.SQL}
}

// ErrURL is returned by Open for a URL with an unknown scheme.
var ErrURL = errors.New("store: the database URL must be sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE")

// Open connects to the database at url (the package documentation describes the forms and limits)
// and checks that it responds. It creates the file of an embedded database, but no tables (see
// package migrate). Its errors never contain the URL's password.
func Open(ctx context.Context, url string) (*DB, error) { return openDB(ctx, url, creating) }

// ErrNoDatabase is returned by OpenExisting for an embedded database whose file
// is missing.
var ErrNoDatabase = errors.New("there is no database")

// OpenExisting is Open for commands that only read: it creates no file.
func OpenExisting(ctx context.Context, url string) (*DB, error) { return openDB(ctx, url, existing) }

// OpenReadOnly is OpenExisting for commands that must not change the file of an embedded database:
// a copy keeps its checksum. Every write to it fails.
func OpenReadOnly(ctx context.Context, url string) (*DB, error) { return openDB(ctx, url, readOnly) }

// opening is how the file of an embedded database is opened.
type opening int

const (
	existing opening = iota
	creating
	readOnly
)

func openDB(ctx context.Context, url string, how opening) (*DB, error) {
	var (
		db  *DB
		err error
	)
	switch scheme, rest, _ := strings.Cut(url, ":"); scheme {
	case "sqlite":
		db, err = openSQLite(rest, how)
	case "postgres", "postgresql":
		db, err = openPostgres(ctx, url, access{})
	default:
		return nil, ErrURL
	}
	if err != nil {
		return nil, err
	}
	before, err := db.identity()
	if err != nil {
		return nil, errors.Join(err, db.SQL.Close(), db.health.Close())
	}
	if err := db.assemble(ctx); err != nil {
		return nil, err
	}
	// From here on an open connection keeps TakeOver from replacing the file.
	after, err := db.identity()
	if err == nil && db.File != "" && !os.SameFile(before, after) {
		err = errors.New("store: the database was replaced while it was opened: try again")
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// identity identifies the file of an embedded database; it is nil for PostgreSQL.
func (db *DB) identity() (fs.FileInfo, error) {
	if db.File == "" {
		return nil, nil
	}
	info, err := os.Stat(db.File)
	if err != nil {
		return nil, fmt.Errorf("store: open the database: %w", err)
	}
	return info, nil
}

// assemble completes a database whose pools are set. It closes them if it fails.
func (db *DB) assemble(ctx context.Context) error {
	db.tables, db.queues = Tables(db.Dialect), newQueues()
	db.Counters = counters.New(db.SQL, db.Dialect, db.tables, db.Maintenance)
	db.health.SetMaxOpenConns(1)
	driver := newGated(db.Dialect, db.SQL)
	db.systemGate, db.reports = driver.gate, newReportTurns()
	if db.gate = db.systemGate; db.serving != nil {
		driver.serving = newGated(db.Dialect, db.serving)
		db.gate = driver.serving.gate
	} else {
		db.serving = db.SQL
	}
	db.Ent = ent.NewClient(ent.Driver(driver))
	db.Ent.Use(db.auditWrites)
	protectAccounts(db.Ent)
	db.Ent.Note.Use(db.keepNoteText)
	db.Ent.Intercept(auditReads())
	for _, pool := range []*sql.DB{db.SQL, db.serving} {
		if err := pool.PingContext(ctx); err != nil {
			return errors.Join(fmt.Errorf("store: connect to the database: %w", err), db.Close())
		}
	}
	return nil
}

// MigrationsTable records the applied migrations (package migrate). It is not an entity.
const MigrationsTable = rowsecurity.MigrationsTable

// Tables returns the tables of a database in Ent's form: those that the schema describes,
// and those of counters.
func Tables(dialectName string) []*schema.Table {
	return slices.Concat(migrate.Tables, counters.Tables(dialectName))
}

// RoundTrips returns how many statements this process has sent, including BEGIN, COMMIT and
// ROLLBACK. Migrations, and the round trips in which lib/pq prepares a statement, do not count.
func (db *DB) RoundTrips() int64 {
	trips := db.roundTrips.Load() + db.replicas.roundTrips()
	if db.front != nil {
		trips += db.front.roundTrips.Load()
	}
	return trips
}

// Close ends all connections.
func (db *DB) Close() error {
	err := errors.Join(db.replicas.close(), db.SQL.Close(), db.health.Close())
	if db.front != nil {
		err = errors.Join(err, db.front.SQL.Close(), db.front.health.Close())
	}
	return err
}

// postgres reports whether db is a PostgreSQL database.
func (db *DB) postgres() bool { return db.Dialect == dialect.Postgres }
