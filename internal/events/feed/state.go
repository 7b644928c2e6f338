package feed

import (
	"fmt"
	"os"

	"entgo.io/ent/dialect"

	"chairside/internal/apierror"
	"chairside/internal/store"
)

// identityPostgres describes a PostgreSQL database: its cluster, its own number, that of the
// table, which pg_restore renews, the timeline, which a failover renews, and the epoch. A standby
// has the identity of its primary.
const identityPostgres = `s.epoch || ' ' || (SELECT system_identifier FROM pg_control_system())
	|| ' ' || (SELECT oid FROM pg_database WHERE datname = current_database()) || ' ' || CAST('feed_state' AS regclass)::oid
	|| ' ' || CASE WHEN pg_is_in_recovery() THEN ` + store.FollowedTimeline + `
		ELSE CAST(CAST('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AS bit(32)) AS int) END`

// stateColumns returns the SQL columns of a state, from feed_state AS s.
func stateColumns(db *store.DB) string {
	identity, standby := identityPostgres, "pg_is_in_recovery()"
	if db.Dialect == dialect.SQLite {
		identity, standby = "s.epoch", "false" // the identity is completed by fileNumber
	}
	return "s.last_seq, s.swept_seq, " + standby + ", " + identity
}

// state is where the feed of a database begins and ends.
type state struct {
	last, swept int64
	standby     bool // so last may be behind the primary's
	identity    [8]byte
	description string // scanned; complete sets identity
}

func (s *state) columns() []any { return []any{&s.last, &s.swept, &s.standby, &s.description} }

// complete sets the identity once the columns are scanned.
func (s *state) complete(db *store.DB) error {
	if db.Dialect == dialect.SQLite {
		file, err := os.Stat(db.File)
		if err != nil {
			return fmt.Errorf("feed: identify the database: %w", err)
		}
		s.description += fmt.Sprint(" ", fileNumber(file))
	}
	s.identity = identityOf(s.description)
	return nil
}

// check returns apierror.CursorExpired for a cursor that this database cannot go on from. A standby goes on from
// one of its primary that it has not reached yet.
func (s *state) check(c cursor) error {
	if c.identity != s.identity || c.seq < s.swept || c.seq > s.last && !s.standby {
		return apierror.CursorExpired()
	}
	return nil
}

// end returns the later one of the feed's end and a cursor that check accepts: a standby may be behind it.
func (s *state) end(c cursor) int64 { return max(s.last, c.seq) }

// cursor returns the cursor behind a seq.
func (s *state) cursor(seq int64) string { return cursor{s.identity, seq}.String() }
