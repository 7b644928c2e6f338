package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"chairside/internal/store"
	"chairside/internal/store/storetest"
	"chairside/internal/test/localpg/pgtest"
)

func TestOpenRefusesOtherAddresses(t *testing.T) {
	for _, url := range []string{"", "chairside.db", "mysql://host/db", "sqlite", "sqlite3:x", "host=localhost dbname=x"} {
		if _, err := store.Open(t.Context(), url); err == nil {
			t.Errorf("Open(%q) succeeded", url)
		}
	}
	for _, url := range []string{"sqlite:", "sqlite::memory:", "sqlite:/no/such/directory/x.db"} {
		if _, err := store.Open(t.Context(), url); err == nil || errors.Is(err, store.ErrURL) {
			t.Errorf("Open(%q) = %v", url, err)
		}
	}
}

func TestOpenKeepsThePasswordSecret(t *testing.T) {
	for _, url := range []string{
		"postgres://user:hunter2@127.0.0.1:1/db?sslmode=disable", // no server
		"postgres://user:hunter2@127.0.0.1:1/db?sslmode=hunter2", // an invalid parameter
		"postgres://user:hun/hunter2@host/db",
		"postgres://user:hunter2#x@host/db",
		"postgres://user:%hunter2@host/db",
		"postgres://user:hunter2@host:port/db",
		"postgres://user:hunter2@host/db?statement_cache=maybe",
		"postgres://user:hunter2@host/db?pool_size=1",
		"postgres://user:hunter2@host/db?binary_parameters=yes",
	} {
		db, err := store.Open(t.Context(), url)
		if err == nil {
			db.Close()
			t.Errorf("Open(%q) succeeded", url)
		} else if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("Open(%q) reveals the password: %v", url, err)
		}
	}
}

func TestEmbeddedDatabaseIsPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "private.db")
	db := storetest.Open(t, "sqlite:"+path)
	storetest.Exec(t, db, "CREATE TABLE x (y)")
	for _, suffix := range []string{"", "-wal", "-shm"} {
		info, err := os.Stat(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if mode := info.Mode().Perm(); mode != 0o600 {
			t.Errorf("%s has the mode %o", info.Name(), mode)
		}
	}
}

func TestEmbeddedDatabaseSettings(t *testing.T) {
	db := storetest.Open(t, "sqlite:"+t.TempDir()+"/x.db")
	for name, want := range map[string]string{
		"foreign_keys": "1", "journal_mode": "wal", "synchronous": "1", "busy_timeout": "2000",
	} {
		var got string
		if err := db.SQL.QueryRowContext(t.Context(), "PRAGMA "+name).Scan(&got); err != nil || got != want {
			t.Errorf("%s = %s, %v, want %s", name, got, err, want)
		}
	}
	storetest.Exec(t, db, "CREATE TABLE times (at datetime)")
	at := time.Date(2026, 7, 1, 9, 30, 0, 123e6, time.FixedZone("", 3600))
	storetest.Exec(t, db, "INSERT INTO times VALUES (?)", at)
	var got time.Time
	var kind string
	if err := db.SQL.QueryRowContext(t.Context(), "SELECT at, typeof(at) FROM times").Scan(&got, &kind); err != nil {
		t.Fatal(err)
	}
	if !got.Equal(at) || kind != "integer" {
		t.Errorf("read %v (%s), wrote %v", got, kind, at)
	}
}

// TestServerWithoutTLS names the parameter that connects to it.
func TestServerWithoutTLS(t *testing.T) {
	url := pgtest.New(t)
	for _, parameters := range []string{"", "?sslmode=require"} {
		address, _, _ := strings.Cut(url, "?")
		_, err := store.Open(t.Context(), address+parameters)
		if err == nil || !strings.Contains(err.Error(), "add ?sslmode=disable to the database URL if the server is on this machine or in a private network") {
			t.Errorf("%s: %v", parameters, err)
		}
	}
}

func TestPostgresSession(t *testing.T) {
	setting := func(url, name string) string {
		var value string
		if err := storetest.Open(t, url).SQL.QueryRowContext(t.Context(), "SELECT current_setting($1)", name).Scan(&value); err != nil {
			t.Fatal(err)
		}
		return value
	}
	url := pgtest.New(t)
	for name, want := range map[string]string{
		"statement_timeout": "30s", "lock_timeout": "2s", "idle_in_transaction_session_timeout": "1min",
		"application_name": "chairside", "TimeZone": "UTC", "jit": "off",
	} {
		if got := setting(url, name); got != want {
			t.Errorf("%s = %s, want %s", name, got, want)
		}
	}
	given := storetest.With(url, "statement_timeout=7s&application_name=other&options=-c%20lock_timeout%3D3s&pool_size=2&statement_cache=off")
	for name, want := range map[string]string{"statement_timeout": "7s", "application_name": "other", "lock_timeout": "3s"} {
		if got := setting(given, name); got != want {
			t.Errorf("%s = %s, want the URL's %s", name, got, want)
		}
	}
}

func TestPostgresPoolIsBounded(t *testing.T) {
	db := storetest.Open(t, storetest.With(pgtest.New(t), "pool_size=3"))
	if got := db.SQL.Stats().MaxOpenConnections; got != 3 {
		t.Errorf("at most %d connections, want 3", got)
	}
}
