package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"chairside/ent/feedchange"
	"chairside/ent/ratebucket"
	"chairside/internal/store/counters"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
)

// readyTime is how long one attempt of Ready may take. On PostgreSQL Ready tries twice, because
// the open connection may have been lost.
const readyTime = 800 * time.Millisecond

// readySettings limit how long Ready waits for a table's lock, to less than readyTime. They are sent with its statement,
// because a pooler drops the settings of connections; statements of one message are one transaction.
const readySettings = "SET LOCAL lock_timeout = '200ms'; "

// notProbed are the tables that Ready does not read.
var notProbed = []string{
	counters.ChangesTable, feedchange.Table, // slow: they begin with many dead rows
	ratebucket.Table, // unlogged, so a replica cannot read it; servers limit without it
}

// Ready returns nil if the database can be read now: all tables of the schema that are not
// locked and not in notProbed, and the history of migrations. A replica of PostgreSQL is ready: its
// server serves reads, and writes once the replica is promoted. Ready has its own connection, so
// that it does not wait behind requests, and concurrent callers share one query. It returns when
// ctx ends, whatever the database does.
func (db *DB) Ready(ctx context.Context) error {
	result := db.readiness.DoChan("", func() (any, error) {
		err := db.readTables()
		if err != nil && db.postgres() {
			err = db.readTables()
		}
		return nil, err
	})
	select {
	case r := <-result:
		return r.Err
	case <-ctx.Done():
		return fmt.Errorf("store: check that the database can be read: %w", ctx.Err())
	}
}

// readTables reads the first row of each table.
func (db *DB) readTables() error {
	ctx, cancel := context.WithTimeout(context.Background(), readyTime)
	defer cancel()
	var text strings.Builder
	if db.postgres() {
		text.WriteString(readySettings)
	}
	text.WriteString("SELECT (SELECT count(*) FROM " + MigrationsTable + ")")
	for _, t := range db.tables {
		if !slices.Contains(notProbed, t.Name) {
			text.WriteString(" + (SELECT count(*) FROM (SELECT * FROM " + t.Name + " LIMIT 1) AS row)")
		}
	}
	var rows int64
	err := db.health.QueryRowContext(ctx, text.String()).Scan(&rows)
	if pq.As(err, pqerror.LockNotAvailable) != nil {
		return nil // a locked table does not make the server unready
	}
	if err != nil {
		return fmt.Errorf("store: read the tables: %w", err)
	}
	return nil
}
