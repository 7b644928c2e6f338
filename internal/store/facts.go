package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"chairside/ent/auditevent"
)

// BackupRecord is the record that the audit log names in the event of a backup, whose action is
// export.
const BackupRecord = "backup"

// Version returns the kind and the version of the database: "PostgreSQL 15.10".
func (db *DB) Version(ctx context.Context) (version string, err error) {
	if db.postgres() {
		err = db.SQL.QueryRowContext(ctx, "SELECT 'PostgreSQL ' || split_part(current_setting('server_version'), ' ', 1)").Scan(&version)
	} else {
		err = db.SQL.QueryRowContext(ctx, "SELECT 'SQLite ' || sqlite_version()").Scan(&version)
	}
	return version, wrapFact("version", err)
}

// Size returns the bytes of the database, with its indexes.
func (db *DB) Size(ctx context.Context) (bytes int64, err error) {
	query := "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
	if db.postgres() {
		query = "SELECT pg_database_size(current_database())"
	}
	err = db.SQL.QueryRowContext(ctx, query).Scan(&bytes)
	return bytes, wrapFact("size", err)
}

// Replicas are the copies of a PostgreSQL database that follow it as it changes.
type Replicas struct {
	Count   int
	Standby bool          // the database itself follows another one
	Hidden  bool          // the role may not see the lag of all of them
	Lag     time.Duration // of the slowest
}

// Replicas returns the replicas of a PostgreSQL database, and nothing for an embedded one.
func (db *DB) Replicas(ctx context.Context) (r Replicas, err error) {
	if !db.postgres() {
		return r, nil
	}
	var lag float64
	err = db.SQL.QueryRowContext(ctx, `SELECT count(*), pg_is_in_recovery(), coalesce(bool_or(state IS NULL), false), coalesce(extract(epoch FROM max(replay_lag)), 0)
		FROM pg_stat_replication WHERE state IS NULL OR state IN ('streaming', 'catchup')`).Scan(&r.Count, &r.Standby, &r.Hidden, &lag)
	r.Lag = time.Duration(lag * float64(time.Second))
	return r, wrapFact("replicas", err)
}

// IsReplica reports whether the database is a read-only copy that follows another one. A replica may be
// promoted at any time, and then is none.
func (db *DB) IsReplica(ctx context.Context) (replica bool, err error) {
	if !db.postgres() {
		return false, nil
	}
	err = db.SQL.QueryRowContext(ctx, "SELECT pg_is_in_recovery()").Scan(&replica)
	return replica, wrapFact("role in replication", err)
}

// Archive is the archive of a PostgreSQL server's write-ahead log, from which backups are restored to a
// point in time.
type Archive struct {
	On           bool
	Last, Failed time.Time // of the last segment; zero for never
}

// Archive returns the state of the archive, and nothing for an embedded database.
func (db *DB) Archive(ctx context.Context) (a Archive, err error) {
	if !db.postgres() {
		return a, nil
	}
	var last, failed sql.NullTime
	err = db.SQL.QueryRowContext(ctx, "SELECT current_setting('archive_mode') <> 'off', last_archived_time, last_failed_time FROM pg_stat_archiver").Scan(&a.On, &last, &failed)
	a.Last, a.Failed = last.Time, failed.Time
	return a, wrapFact("archive", err)
}

// LastBackup returns when an embedded database was last copied (package backup), or the zero time.
func (db *DB) LastBackup(ctx context.Context) (at time.Time, err error) {
	err = db.SQL.QueryRowContext(ctx, fmt.Sprintf("SELECT at FROM %s WHERE practice_id = $1 AND record_id = $2 AND action = 'export' ORDER BY id DESC LIMIT 1", auditevent.Table), uuid.Nil, BackupRecord).Scan(&at)
	if errors.Is(err, sql.ErrNoRows) {
		return at, nil
	}
	return at, wrapFact("last backup", err)
}

// ClockOffset returns how far the clock of a PostgreSQL server is ahead of this machine's, and how exactly
// that is known: the time of the answer is between those of the question and of its arrival. An
// embedded database has no clock of its own.
func (db *DB) ClockOffset(ctx context.Context) (offset, within time.Duration, err error) {
	if !db.postgres() {
		return 0, 0, nil
	}
	conn, err := db.SQL.Conn(ctx) // connecting must not count as the way of the question
	if err != nil {
		return 0, 0, wrapFact("clock", err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	const rounds = 3 // the shortest one is the most exact
	for i := range rounds {
		var theirs time.Time
		asked := time.Now()
		if err := conn.QueryRowContext(ctx, "SELECT clock_timestamp()").Scan(&theirs); err != nil {
			return 0, 0, wrapFact("clock", err)
		}
		if half := time.Since(asked) / 2; i == 0 || half < within {
			offset, within = theirs.Sub(asked.Add(half)), half
		}
	}
	return offset, within, nil
}

func wrapFact(what string, err error) error {
	if err != nil {
		return fmt.Errorf("store: read the database's %s: %w", what, err)
	}
	return nil
}
