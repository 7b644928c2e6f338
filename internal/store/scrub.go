package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"
	"time"

	"entgo.io/ent/dialect"
)

const (
	// scrubTime is how long Scrub tries. It waits scrubWait for readers in each attempt, because
	// writers wait meanwhile, and pauses between two attempts.
	scrubTime, scrubWait, scrubPause = 20 * time.Second, 100 * time.Millisecond, 400 * time.Millisecond
)

// ErrNotScrubbed is returned when deleted rows are gone from the tables, but an embedded database's
// write-ahead log still holds their bytes.
var ErrNotScrubbed = errors.New("the database's write-ahead log (-wal) may still hold the deleted data, because other processes use the database; it is emptied when the last of them ends")

// Scrub empties the write-ahead log (-wal) of an embedded database, which holds the bytes of rows that
// were deleted or blanked. The database file itself does not: see secure_delete. Call it after an
// erasure is committed. It waits for readers, and does nothing on PostgreSQL, where VACUUM and the
// archive's retention decide how long such bytes stay.
func (db *DB) Scrub(ctx context.Context) error {
	if db.Dialect != dialect.SQLite {
		return nil
	}
	conn, err := db.SQL.Conn(ctx)
	if err != nil {
		return fmt.Errorf("%w (%w)", ErrNotScrubbed, err)
	}
	timeout := func(d time.Duration) error {
		_, err := conn.ExecContext(context.WithoutCancel(ctx), "PRAGMA busy_timeout = "+strconv.FormatInt(d.Milliseconds(), 10))
		return err
	}
	defer func() {
		if timeout(sqliteBusyTimeout) != nil {
			_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // the pool must not use it again
		}
		_ = conn.Close() // it goes back to the pool
	}()
	if err := timeout(scrubWait); err != nil {
		return fmt.Errorf("%w (%w)", ErrNotScrubbed, err)
	}
	ctx, cancel := context.WithTimeout(ctx, scrubTime)
	defer cancel()
	for {
		var busy, size, moved int
		if err := conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &size, &moved); err != nil {
			return fmt.Errorf("%w (%w)", ErrNotScrubbed, err)
		}
		if busy == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return ErrNotScrubbed
		case <-time.After(scrubPause):
		}
	}
}
