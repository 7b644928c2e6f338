package store_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"modernc.org/sqlite"

	"chairside/internal/store"
)

// countingConnector is a driver.Connector that counts its connections.
type countingConnector struct {
	driver.Connector
	opened *atomic.Int64
}

func (c countingConnector) Connect(ctx context.Context) (driver.Conn, error) {
	c.opened.Add(1)
	return c.Connector.Connect(ctx)
}

// TestSQLiteInterrupted checks that cancelling statements at any moment, on all connections at
// once, harms neither other statements nor the file. Before the first row, which for a count is
// the end, the driver interrupts SQLite; after it, database/sql closes the rows.
func TestSQLiteInterrupted(t *testing.T) {
	t.Parallel()
	connector, err := sqlite.NewConnector(store.SQLiteDSN(t.TempDir()+"/test.db", store.SQLiteBusyTimeout, true))
	if err != nil {
		t.Fatal(err)
	}
	var opened atomic.Int64
	db := sql.OpenDB(countingConnector{connector, &opened})
	defer db.Close()
	const connections, clients, each = 4, 12, 40
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE visits (id integer NOT NULL PRIMARY KEY, note text NOT NULL)"); err != nil {
		t.Fatal(err)
	}
	giveUp := func(text string, after time.Duration) {
		ctx, cancel := context.WithTimeout(t.Context(), after)
		defer cancel()
		rows, err := db.QueryContext(ctx, text, "")
		if err != nil {
			return
		}
		defer rows.Close()
		for rows.Next() {
			var note string
			if err := rows.Scan(&note); err == nil && !strings.HasPrefix(note, "client ") {
				t.Errorf("read %q", note)
			}
		}
	}
	var all sync.WaitGroup
	for client := range clients {
		all.Go(func() {
			for i := range each {
				note := fmt.Sprint("client ", client, " visit ", i)
				if _, err := db.ExecContext(t.Context(), "INSERT INTO visits (note) VALUES ($1)", note); err != nil {
					t.Error(err)
					return
				}
				soon := time.Duration(i) * 50 * time.Microsecond
				giveUp("SELECT a.note FROM visits a, visits b WHERE a.note >= $1", soon)
				giveUp("SELECT 'client ' || count(*) FROM visits a, visits b, visits c WHERE a.note >= $1", soon)
				var got string
				if err := db.QueryRowContext(t.Context(), "SELECT note FROM visits WHERE note = $1", note).Scan(&got); err != nil || got != note {
					t.Errorf("%q, %v; want %q", got, err, note)
				}
			}
		})
	}
	all.Wait()
	if opened.Load() <= connections { // an interrupted connection is not reused
		t.Errorf("%d connections opened: nothing was interrupted", opened.Load())
	}
	var rows int
	if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM visits").Scan(&rows); err != nil || rows != clients*each {
		t.Errorf("%d visits, %v; want %d", rows, err, clients*each)
	}
	var sound string
	if err := db.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&sound); err != nil || sound != "ok" {
		t.Errorf("the file: %s, %v", sound, err)
	}
}
