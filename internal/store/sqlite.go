package store

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"entgo.io/ent/dialect"
	"modernc.org/sqlite"

	"chairside/internal/store/dbconn"
)

const (
	// sqliteSpare is the number of connections reserved for other kinds of requests, other
	// practices, and probes (package admission).
	sqliteSpare = 3
	// sqliteBusyTimeout is how long a write waits for that of another process or connection.
	// SQLite does not stop waiting when the request's context ends.
	sqliteBusyTimeout = 2 * time.Second
	// sqliteMigrationTimeout is how long a second migration waits for the first.
	sqliteMigrationTimeout = 5 * time.Minute
	// sqliteCache is each connection's page cache, in KiB.
	sqliteCache = 8 << 10
	// sqliteMapped is how much of the file, from its beginning, is mapped into memory for
	// reading, in bytes. In this build of SQLite the page caches of all connections share a
	// lock, which mapped pages bypass.
	sqliteMapped = 128 << 20
)

func openSQLite(path string, how opening) (*DB, error) {
	if path == "" || path == ":memory:" {
		return nil, errors.New("store: an embedded database needs a file: sqlite:PATH")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	// SQLite would create the file readable by everyone. It gives the files
	// beside it (-wal, -shm) the same mode.
	flags := map[opening]int{existing: os.O_RDWR, creating: os.O_RDWR | os.O_CREATE, readOnly: os.O_RDONLY}[how]
	file, err := os.OpenFile(path, flags, 0o600)
	if how != creating && errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s is missing (--database-url); \"chairside migrate up\" creates it", ErrNoDatabase, path)
	}
	if err != nil {
		return nil, fmt.Errorf("store: open the database: %w", err)
	}
	if err := file.Close(); err != nil {
		return nil, fmt.Errorf("store: open the database: %w", err)
	}
	dsn, maintenanceDSN := sqliteDSN(path, sqliteBusyTimeout, true), sqliteDSN(path, sqliteMigrationTimeout, false)
	if how == readOnly {
		dsn = readOnlyDSN(path)
		maintenanceDSN = dsn
	}
	connector, err := sqlite.NewConnector(dsn)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	maintenanceConnector, err := sqlite.NewConnector(maintenanceDSN)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}

	db := &DB{Dialect: dialect.SQLite, File: path}
	db.SQL = sql.OpenDB(dbconn.CachedSQLite(connector, &db.roundTrips, statementNames(db.Dialect)))
	db.health = sql.OpenDB(connector)
	// Readers run side by side; writers queue at BEGIN IMMEDIATE however many
	// connections there are.
	connections := max(4, 2*runtime.GOMAXPROCS(0)) + sqliteSpare
	db.SQL.SetMaxOpenConns(connections)
	db.SQL.SetMaxIdleConns(connections)
	db.Maintenance = func() *sql.DB {
		pool := sql.OpenDB(maintenanceConnector)
		pool.SetMaxOpenConns(1) // a second connection would wait for the first one for ever
		return pool
	}
	return db, nil
}

// sqliteDSN returns the driver's URL for a file.
//
// Times are stored as microseconds since 1970, because times as text do not compare correctly
// across zones. Transactions take the write lock when they begin: one that took it after
// reading would fail if another transaction has written meanwhile.
func sqliteDSN(path string, busyTimeout time.Duration, foreignKeys bool) string {
	enforce := 0
	if foreignKeys {
		enforce = 1
	}
	u := url.URL{Scheme: "file", Path: path, RawQuery: url.Values{
		"_pragma": {
			pragma("busy_timeout", int(busyTimeout.Milliseconds())), // first: the next ones may have to wait
			"journal_mode(WAL)",
			"synchronous(NORMAL)",
			pragma("foreign_keys", enforce),
			pragma("cache_size", -sqliteCache),
			pragma("mmap_size", sqliteMapped),
			"secure_delete(ON)", // overwrites what is deleted with zeros; FAST would leave it in free pages
		},
		"_txlock":              {"immediate"},
		"_inttotime":           {"1"},
		"_time_integer_format": {"unix_micro"},
		"_dqs":                 {"0"}, // "x" is a name, never a string
	}.Encode()}
	return u.String()
}

// readOnlyDSN is sqliteDSN for a file that is not changed, not even in the mode of its journal.
func readOnlyDSN(path string) string {
	u := url.URL{Scheme: "file", Path: path, RawQuery: url.Values{
		"mode":                 {"ro"},
		"_pragma":              {pragma("busy_timeout", int(sqliteBusyTimeout.Milliseconds())), pragma("cache_size", -sqliteCache)},
		"_inttotime":           {"1"},
		"_time_integer_format": {"unix_micro"},
		"_dqs":                 {"0"},
	}.Encode()}
	return u.String()
}

// pragma sets a pragma in a URL of the driver.
func pragma(name string, value int) string { return name + "(" + strconv.Itoa(value) + ")" }
