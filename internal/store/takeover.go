package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

var (
	// ErrInUse is returned by TakeOver while any program has the database open.
	ErrInUse = errors.New("a server or another program uses the database: stop it first")
	// ErrDamaged is returned by TakeOver for a file that SQLite cannot read. Nothing is locked.
	ErrDamaged = errors.New("the database cannot be read")
)

// TakeOver locks the file of an embedded database until release is called, so that nothing else can
// open it, and merges its write-ahead log into it: the file is then whole without the files beside
// it. SQLite grants this only if no other connection is open, idle ones included.
func TakeOver(ctx context.Context, path string) (release func() error, err error) {
	return takeOver(ctx, path, "PRAGMA journal_mode = DELETE")
}

// InUse returns the error that TakeOver would return now. It leaves the database as it is.
func InUse(ctx context.Context, path string) error {
	release, err := takeOver(ctx, path, "PRAGMA user_version") // read in the mode below
	if err != nil {
		return err
	}
	return release()
}

// takeOver opens the file in the mode in which SQLite keeps every lock, and runs a pragma.
func takeOver(ctx context.Context, path, pragma string) (release func() error, err error) {
	if path, err = filepath.Abs(path); err != nil { // a relative path would be the host of the URL
		return nil, err
	}
	pool, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path, RawQuery: "mode=rw&_pragma=busy_timeout(1000)&_pragma=locking_mode(EXCLUSIVE)"}).String())
	if err != nil {
		return nil, err
	}
	conn, err := pool.Conn(ctx)
	if err != nil {
		return nil, errors.Join(takeOverError(err), pool.Close())
	}
	release = func() error { return errors.Join(conn.Close(), pool.Close()) }
	var result string
	err = conn.QueryRowContext(ctx, pragma).Scan(&result)
	if err == nil && result == "wal" { // another connection is open
		err = ErrInUse
	}
	if err == nil {
		_, err = conn.ExecContext(ctx, "BEGIN EXCLUSIVE")
	}
	if err != nil {
		return nil, errors.Join(takeOverError(err), release())
	}
	return release, nil // closing rolls the transaction back
}

// takeOverError tells a database in use from a damaged one.
func takeOverError(err error) error {
	var embedded *sqlite.Error
	if !errors.As(err, &embedded) {
		return err
	}
	switch embedded.Code() & 0xff { // without the extension
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return ErrInUse
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
}
