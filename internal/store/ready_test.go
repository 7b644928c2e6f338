package store_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"chairside/internal/store/storetest"
)

// TestReadyReadsTheTables checks that Ready fails without a table, and that it does not wait for
// the pool.
func TestReadyReadsTheTables(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		db := migrated(t, url)
		db.SQL.SetMaxOpenConns(1)
		busy, err := db.SQL.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Ready(t.Context()); err != nil {
			t.Errorf("while the pool is busy: %v", err)
		}
		if err := busy.Close(); err != nil {
			t.Fatal(err)
		}
		storetest.Exec(t, db, "ALTER TABLE patients RENAME TO away")
		if err := db.Ready(t.Context()); err == nil {
			t.Error("ready without a table")
		}
		storetest.Exec(t, db, "ALTER TABLE away RENAME TO patients")
		if err := db.Ready(t.Context()); err != nil {
			t.Errorf("with all tables: %v", err)
		}
		gone, leave := context.WithCancel(t.Context())
		leave()
		if err := db.Ready(gone); err == nil {
			t.Error("ready although the context has ended")
		}
	})
}

// TestReadyOfADamagedFile overwrites the file of an embedded database while it is open.
func TestReadyOfADamagedFile(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/x.db"
	db := migrated(t, "sqlite:"+path)
	if err := db.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	storetest.Exec(t, db, "PRAGMA wal_checkpoint(TRUNCATE)")
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteAt([]byte(strings.Repeat("damage ", int(info.Size()-4096)/7)), 4096); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := db.Ready(ctx); err == nil {
		t.Error("ready with a damaged file")
	}
}
