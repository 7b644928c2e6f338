package chain

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"chairside/internal/audit"
	"chairside/internal/clock"
	"chairside/internal/store"
	"chairside/internal/store/migrate"
)

// cut records that the blocks of a practice up to a number were deleted.
type cut struct {
	practice  uuid.UUID
	number    int64
	hash      []byte // of the last deleted block
	at        time.Time
	signature []byte
}

// message returns what is signed.
func (c cut) message() []byte {
	return fmt.Appendf(nil, "chairside audit cut 1\n%s\n%d\n%x\n%d\n", c.practice, c.number, c.hash, c.at.UnixMicro())
}

const (
	// pruneBlocks is the most blocks of one transaction that deletes row by row.
	pruneBlocks = 500
	// pruneIDs is the most entries of one DELETE.
	pruneIDs = 5_000
)

// pruning is one run of Prune. Its pool has no time limits.
type pruning struct {
	ctx  context.Context
	db   *store.DB
	pool *sql.DB
	key  *audit.Key

	unverified bool // the log was not verified first
}

// ErrProblems means that Verify finds problems.
var ErrProblems = errors.New("the audit log was changed")

// Prune deletes the blocks that were sealed before the month of a time, with their entries, and records
// each cut with a signature, so that Verify finds the rest complete. It returns the number of entries.
// What it signs must be right, so it verifies the log first: if that finds a problem, Prune returns
// ErrProblems and deletes nothing. Without options it does not verify.
// Whole months go at once: on PostgreSQL it drops their partitions (month.go), and deletes row by
// row only what is in none. It always keeps each practice's last block. Deleted entries cannot be
// restored: keep an export or a backup if you may need them.
func Prune(ctx context.Context, db *store.DB, key *audit.Key, before time.Time, o *VerifyOptions) (entries int, err error) {
	if o != nil {
		switch r, err := Verify(ctx, db, *o); {
		case err != nil:
			return 0, err
		case len(r.Problems) > 0:
			return 0, fmt.Errorf("audit: prune the log: %w: %s", ErrProblems, r.Problems[0])
		}
	}
	p := &pruning{ctx: ctx, db: db, pool: db.Maintenance(), key: key, unverified: o == nil}
	defer p.pool.Close()
	months, err := migrate.Months(ctx, db)
	if err != nil {
		return 0, fmt.Errorf("audit: prune the log: %w", err)
	}
	end := migrate.MonthOf(before).Start
	for _, m := range months {
		if err != nil || m.End().After(end) {
			break
		}
		var older, n int
		if older, err = p.pieces(m.Start); err == nil {
			n, err = p.month(m)
		}
		entries += older + n
	}
	if err == nil {
		var n int
		n, err = p.pieces(end)
		entries += n
	}
	if err != nil {
		return entries, fmt.Errorf("audit: prune the log: %w", err)
	}
	return entries, nil
}

// pieces deletes the blocks that were sealed before a time, and their entries, row by row.
func (p *pruning) pieces(before time.Time) (entries int, err error) {
	type chain struct {
		practice uuid.UUID
		last     int64
	}
	var chains []chain
	err = forEach(p.ctx, p.pool, "SELECT practice_id, max(number) FROM audit_blocks GROUP BY practice_id ORDER BY practice_id", func(rows *sql.Rows) error {
		var c chain
		err := rows.Scan(&c.practice, &c.last)
		chains = append(chains, c)
		return err
	})
	for _, c := range chains {
		total := 0
		for more := true; more && err == nil; {
			var n int
			n, more, err = p.piece(c.practice, c.last, before, total)
			total += n
		}
		entries += total
	}
	return entries, err
}

// piece deletes the practice's oldest blocks and returns the number of their entries, and whether
// there were any blocks. It appends an entry about the cut.
func (p *pruning) piece(practice uuid.UUID, last int64, before time.Time, done int) (n int, some bool, err error) {
	tx, err := p.pool.BeginTx(p.ctx, nil)
	if err != nil {
		return 0, false, err
	}
	defer tx.Rollback() // after a commit it does nothing
	c, ids, young := cut{practice: practice}, []int64{}, false
	err = forEach(p.ctx, tx, fmt.Sprintf("SELECT number, hash, at, entries FROM audit_blocks WHERE practice_id = $1 AND number < $2 ORDER BY number LIMIT %d", pruneBlocks), func(rows *sql.Rows) error {
		var b block
		if err := rows.Scan(&b.number, &b.hash, &b.at, &b.entries); err != nil {
			return err
		}
		// Servers' clocks differ: a younger block may come before an older one, and stays with it.
		if young = young || !b.at.Before(before); young {
			return nil
		}
		c.number, c.hash = b.number, b.hash
		for i := range b.len() {
			id, _ := b.entry(i)
			ids = append(ids, id)
		}
		return nil
	}, practice, last)
	if err != nil || c.number == 0 {
		return 0, false, err
	}
	if err := p.deleteEntries(tx, practice, ids); err != nil {
		return 0, false, err
	}
	if _, err := tx.ExecContext(p.ctx, "DELETE FROM audit_blocks WHERE practice_id = $1 AND number <= $2", practice, c.number); err != nil {
		return 0, false, err
	}
	if err := p.record(tx, c, len(ids)+done); err != nil {
		return 0, false, err
	}
	return len(ids), true, tx.Commit()
}

// record signs and stores a cut, and appends an entry about it.
func (p *pruning) record(tx *sql.Tx, c cut, entries int) error {
	c.at = clock.Now(clock.Refresh(p.ctx))
	c.signature = p.key.Sign(c.message())
	noted := map[string]any{"through_block": c.number, "entries": entries}
	if p.unverified {
		noted["unverified"] = true
	}
	details, err := json.Marshal(noted)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(p.ctx, "INSERT INTO audit_cuts (practice_id, number, hash, at, signature) VALUES ($1, $2, $3, $4, $5)", c.practice, c.number, c.hash, c.at, c.signature); err != nil {
		return err
	}
	_, err = tx.ExecContext(p.ctx, "INSERT INTO audit_events (practice_id, at, action, fields, details) VALUES ($1, $2, 'prune', '[]', $3)", c.practice, c.at, string(details))
	return err
}

// deleteEntries deletes entries of a practice, and the rows that find them by patient.
func (p *pruning) deleteEntries(tx *sql.Tx, practice uuid.UUID, all []int64) error {
	for len(all) > 0 {
		ids := all[:min(len(all), pruneIDs)]
		all = all[len(ids):]
		if err := p.deleteReads(tx, practice, ids); err != nil {
			return err
		}
		condition, list := in(p.db.Dialect, "id", 2, ids)
		if _, err := tx.ExecContext(p.ctx, "DELETE FROM audit_events WHERE practice_id = $1 AND "+condition, practice, list); err != nil {
			return err
		}
	}
	return nil
}

// deleteReads deletes the rows of audit_reads of entries.
func (p *pruning) deleteReads(tx *sql.Tx, practice uuid.UUID, ids []int64) error {
	condition, list := in(p.db.Dialect, "id", 2, ids)
	var patients []int64
	err := forEach(p.ctx, tx, "SELECT "+columns+" FROM audit_events WHERE action = 'read' AND practice_id = $1 AND "+condition, func(rows *sql.Rows) error {
		var e event
		if err := e.scan(rows); err != nil {
			return err
		}
		named, err := e.patients()
		patients = append(patients, named...)
		return err
	}, practice, list)
	if err != nil || len(patients) == 0 {
		return err
	}
	ofPatients, names := in(p.db.Dialect, "patient_id", 2, patients)
	ofEvents, events := in(p.db.Dialect, "event_id", 3, ids)
	_, err = tx.ExecContext(p.ctx, "DELETE FROM audit_reads WHERE practice_id = $1 AND "+ofPatients+" AND "+ofEvents, practice, names, events)
	return err
}
