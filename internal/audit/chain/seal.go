package chain

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"entgo.io/ent/dialect"
	"github.com/google/uuid"

	"chairside/internal/clock"
	"chairside/internal/store"
)

const (
	// maxEntries is the most entries of one block, of 40 bytes each.
	maxEntries = 10_000
	// sealTime bounds one run, even if its connection is lost.
	sealTime = time.Minute
	// renumberedTime bounds a run that compares every entry with every block.
	renumberedTime = time.Hour
)

// position is how far entries are sealed. Blocks hash it: a lower one would let an added entry
// pass for one that is not sealed yet.
type position struct {
	through int64 // on PostgreSQL the first transaction that is not, on SQLite the last entry that is
	// floor is, on PostgreSQL, the last id of a restored database: up to there all entries are
	// sealed, whatever their transaction was called.
	floor int64
}

// sealed returns the condition that an entry is sealed, for a database of that kind.
func (p position) sealed(dialectName string) string {
	if dialectName == dialect.Postgres {
		return fmt.Sprintf("(xid IS NULL OR xid < %d OR id <= %d)", p.through, p.floor)
	}
	return fmt.Sprintf("(id <= %d)", p.through)
}

// unsealed is the opposite of sealed, in a form that an index serves.
func (p position) unsealed(dialectName string) string {
	if dialectName == dialect.Postgres {
		return fmt.Sprintf("xid >= %d AND id > %d", p.through, p.floor)
	}
	return fmt.Sprintf("id > %d", p.through)
}

// Seal seals all committed entries and returns their number. Any number of processes may call it:
// while another one seals, it does nothing. On PostgreSQL it leaves out entries of transactions
// that began after the oldest one that is still open.
func Seal(ctx context.Context, db *store.DB) (n int, err error) {
	some, renumbered, err := pending(ctx, db)
	if err != nil || !some {
		return 0, wrap(err)
	}
	limit := sealTime
	if renumbered {
		limit = renumberedTime
	}
	ctx, cancel := context.WithTimeout(clock.Refresh(ctx), limit)
	defer cancel()
	n, err = seal(ctx, db, renumbered)
	return n, wrap(err)
}

// SealRestored seals the entries that a restored or imported log has outside its blocks. The ids of
// transactions begin anew there, so it compares every entry with every block.
func SealRestored(ctx context.Context, db *store.DB) error {
	_, err := seal(clock.Refresh(ctx), db, true)
	return wrap(err)
}

func wrap(err error) error {
	if err != nil {
		return fmt.Errorf("audit: seal the log: %w", err)
	}
	return nil
}

// atLastBlock is the position of the last block.
const atLastBlock = "(SELECT coalesce(max(through), 0) AS through, coalesce(max(floor), 0) AS floor FROM (SELECT through, floor FROM audit_blocks ORDER BY id DESC LIMIT 1) AS b) AS last"

// Unsealed returns the time of the oldest entry that is not sealed yet, or the zero time.
func Unsealed(ctx context.Context, db *store.DB) (at time.Time, err error) {
	query := "SELECT e.at FROM audit_events AS e, " + atLastBlock + " WHERE e.id > last.through ORDER BY e.id LIMIT 1"
	if db.Dialect == dialect.Postgres { // few are not sealed: their order must not make the planner walk all ids
		query = "WITH unsealed AS MATERIALIZED (SELECT e.id, e.at FROM audit_events AS e, " + atLastBlock + " WHERE e.xid >= last.through AND e.id > last.floor) SELECT at FROM unsealed ORDER BY id LIMIT 1"
	}
	err = db.SQL.QueryRowContext(ctx, query).Scan(&at)
	if errors.Is(err, sql.ErrNoRows) {
		return at, nil
	}
	return at, wrap(err)
}

// pending reports whether there may be entries to seal, and whether this database is a restored copy,
// so that the last block's position means nothing here and every entry must be compared with every
// block.
// Within a database the oldest open transaction never gets older. A standby gets its blocks from the
// primary.
func pending(ctx context.Context, db *store.DB) (some, renumbered bool, err error) {
	query := `SELECT EXISTS (SELECT * FROM audit_events WHERE id > last.through), last.through > (SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'audit_events') FROM ` + atLastBlock
	if db.Dialect == dialect.Postgres {
		query = `SELECT NOT pg_is_in_recovery() AND EXISTS (SELECT * FROM audit_events WHERE xid >= last.through AND id > last.floor),
			NOT pg_is_in_recovery() AND last.through > txid_snapshot_xmin(txid_current_snapshot()) FROM ` + atLastBlock
	}
	err = db.SQL.QueryRowContext(ctx, query).Scan(&some, &renumbered)
	return some || renumbered, renumbered, err
}

// sealing is one run.
type sealing struct {
	ctx context.Context
	db  *store.DB
	tx  *sql.Tx
	to  position
	// open are the blocks that are being filled, by practice.
	open map[uuid.UUID]*block
	n    int
}

func seal(ctx context.Context, db *store.DB, whole bool) (n int, err error) {
	tx, err := db.SQL.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback() // after a commit it does nothing
	s := &sealing{ctx: ctx, db: db, tx: tx, open: map[uuid.UUID]*block{}}
	if db.Dialect == dialect.Postgres {
		if whole { // of a large log longer than a request may
			if _, err := tx.ExecContext(ctx, "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0"); err != nil {
				return 0, err
			}
		}
		var mine bool
		if err := tx.QueryRowContext(ctx, "SELECT pg_try_advisory_xact_lock(hashtext('chairside seal the audit log'))").Scan(&mine); err != nil || !mine {
			return 0, err
		}
	}
	condition, skip, err := s.plan(whole)
	if err != nil {
		return 0, err
	}
	if err := s.read(condition, skip); err != nil {
		return 0, err
	}
	if whole && len(s.open) == 0 { // an empty block, or every run would compare all entries again
		s.open[uuid.Nil] = &block{practice: uuid.Nil}
	}
	for _, practice := range s.practices() {
		if err := s.write(s.open[practice]); err != nil {
			return 0, err
		}
	}
	return s.n, tx.Commit()
}

// plan returns the condition of the entries to seal and the ids of those among them that are
// sealed already, and sets the new position.
func (s *sealing) plan(whole bool) (condition string, skip map[int64]bool, err error) {
	from, err := lastPosition(s.ctx, s.tx)
	if err != nil {
		return "", nil, err
	}
	if s.db.Dialect != dialect.Postgres {
		if err := s.tx.QueryRowContext(s.ctx, "SELECT coalesce(max(id), 0) FROM audit_events").Scan(&s.to.through); err != nil {
			return "", nil, err
		}
		if whole {
			skip, err = sealedIDs(s.ctx, s.tx)
			return "true", skip, err
		}
		return from.unsealed(s.db.Dialect), nil, nil
	}
	// Transactions below the horizon have ended, so the next statement sees their entries. No
	// transaction has begun at or above next.
	var next int64
	if err := s.tx.QueryRowContext(s.ctx, "SELECT txid_snapshot_xmin(txid_current_snapshot()), txid_snapshot_xmax(txid_current_snapshot())").Scan(&s.to.through, &next); err != nil {
		return "", nil, err
	}
	s.to.floor = from.floor
	if !whole {
		return from.unsealed(s.db.Dialect) + fmt.Sprintf(" AND xid < %d", s.to.through), nil, nil
	}
	if skip, err = sealedIDs(s.ctx, s.tx); err != nil {
		return "", nil, err
	}
	err = forEach(s.ctx, s.tx, fmt.Sprintf("SELECT id, xid FROM audit_events WHERE xid >= %d", s.to.through), func(rows *sql.Rows) error {
		var id, xid int64
		err := rows.Scan(&id, &xid)
		// The entry was restored: no transaction of this database can have written or sealed it.
		// Entries that are being written have higher ids, and wait for the next run.
		if xid >= next || skip[id] {
			s.to.floor = max(s.to.floor, id)
		}
		return err
	})
	return s.to.sealed(s.db.Dialect), skip, err
}

// lastPosition returns the position of the last block.
func lastPosition(ctx context.Context, q querier) (p position, err error) {
	err = forEach(ctx, q, "SELECT through, floor FROM audit_blocks ORDER BY id DESC LIMIT 1", func(rows *sql.Rows) error { return rows.Scan(&p.through, &p.floor) })
	return p, err
}

// sealedIDs returns the ids of all entries of all blocks.
func sealedIDs(ctx context.Context, q querier) (map[int64]bool, error) {
	all := map[int64]bool{}
	err := forEach(ctx, q, "SELECT entries FROM audit_blocks", func(rows *sql.Rows) error {
		var b block
		if err := rows.Scan(&b.entries); err != nil {
			return err
		}
		for i := range b.len() {
			id, _ := b.entry(i)
			all[id] = true
		}
		return nil
	})
	return all, err
}

// read fills the blocks.
func (s *sealing) read(condition string, skip map[int64]bool) error {
	var buffer []byte
	return forEach(s.ctx, s.tx, "SELECT "+columns+" FROM audit_events WHERE "+condition+" ORDER BY id", func(rows *sql.Rows) error {
		var e event
		if err := e.scan(rows); err != nil {
			return err
		}
		if skip[e.id] {
			return nil
		}
		var d digest
		var err error
		if d, buffer, err = e.digest(buffer); err != nil {
			return err
		}
		b := s.open[e.practice]
		if b == nil {
			b = &block{practice: e.practice}
			s.open[e.practice] = b
		}
		b.entries = appendEntry(b.entries, e.id, d)
		s.n++
		return nil
	})
}

// practices returns the practices of the blocks, in order.
func (s *sealing) practices() []uuid.UUID {
	all := make([]uuid.UUID, 0, len(s.open))
	for practice := range s.open {
		all = append(all, practice)
	}
	slices.SortFunc(all, func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) })
	return all
}

// write appends the entries to the practice's chain, in blocks of at most maxEntries.
func (s *sealing) write(whole *block) error {
	previous, number := make([]byte, sha256.Size), int64(0)
	err := forEach(s.ctx, s.tx, "SELECT number, hash FROM audit_blocks WHERE practice_id = $1 ORDER BY number DESC LIMIT 1",
		func(rows *sql.Rows) error { return rows.Scan(&number, &previous) }, whole.practice)
	if err != nil {
		return err
	}
	for rest := whole.entries; ; {
		size := min(len(rest), maxEntries*entrySize)
		number++
		b := block{practice: whole.practice, number: number, at: clock.Now(s.ctx), position: s.to, entries: rest[:size], previous: previous}
		b.hash = b.sum()
		if b.entries == nil {
			b.entries = []byte{}
		}
		_, err := s.tx.ExecContext(s.ctx, "INSERT INTO audit_blocks (practice_id, number, at, through, floor, entries, previous, hash) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
			b.practice, b.number, b.at, b.through, b.floor, b.entries, b.previous, b.hash)
		if err != nil {
			return err
		}
		previous = b.hash
		if rest = rest[size:]; len(rest) == 0 {
			return nil
		}
	}
}

// KeepPosition prepares the deletion of the blocks of a practice in tx: the last block of all, which
// says how far entries are sealed, must not be the practice's. If it is, an empty block of no
// practice follows it.
func KeepPosition(ctx context.Context, db *store.DB, tx *sql.Tx, practice uuid.UUID) error {
	if db.Dialect == dialect.Postgres {
		if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock(hashtext('chairside seal the audit log'))"); err != nil {
			return wrap(err)
		}
	}
	var last uuid.UUID
	err := forEach(ctx, tx, "SELECT practice_id FROM audit_blocks ORDER BY id DESC LIMIT 1", func(rows *sql.Rows) error { return rows.Scan(&last) })
	if err != nil || last != practice {
		return wrap(err)
	}
	s := &sealing{ctx: clock.Refresh(ctx), db: db, tx: tx}
	if s.to, err = lastPosition(ctx, tx); err != nil {
		return wrap(err)
	}
	return wrap(s.write(&block{practice: uuid.Nil}))
}
