package chain

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"chairside/internal/audit"
	"chairside/internal/clock"
	"chairside/internal/store"
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

// pruneBlocks is the most blocks of one transaction.
const pruneBlocks = 500

// Prune deletes the blocks that were sealed before a time, with their entries, and records each cut
// with a signature, so that Verify finds the rest complete. It returns the number of entries. It
// deletes up to 500 blocks per transaction and always keeps each practice's last block. Deleted
// entries cannot be restored: keep an export or a backup if you may need them.
func Prune(ctx context.Context, db *store.DB, key *audit.Key, before time.Time) (entries int, err error) {
	type chain struct {
		practice uuid.UUID
		last     int64
	}
	var chains []chain
	err = forEach(ctx, db.SQL, "SELECT practice_id, max(number) FROM audit_blocks GROUP BY practice_id ORDER BY practice_id", func(rows *sql.Rows) error {
		var c chain
		err := rows.Scan(&c.practice, &c.last)
		chains = append(chains, c)
		return err
	})
	for _, c := range chains {
		total := 0
		for n := -1; n != 0 && err == nil; total += n {
			n, err = prunePiece(ctx, db, key, c.practice, c.last, before, total)
		}
		entries += total
	}
	if err != nil {
		return entries, fmt.Errorf("audit: prune the log: %w", err)
	}
	return entries, nil
}

// prunePiece deletes the practice's oldest blocks and returns the number of their entries. It
// appends an entry about the cut.
func prunePiece(ctx context.Context, db *store.DB, key *audit.Key, practice uuid.UUID, last int64, before time.Time, done int) (n int, err error) {
	tx, err := db.SQL.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback() // after a commit it does nothing
	c, ids := cut{practice: practice, at: clock.Now(clock.Refresh(ctx))}, []int64{}
	err = forEach(ctx, tx, fmt.Sprintf(`SELECT number, hash, at, entries FROM (SELECT number, hash, at, entries FROM audit_blocks WHERE practice_id = $1 AND number < $2 ORDER BY number LIMIT %d) AS oldest
		WHERE at < $3 ORDER BY number`, pruneBlocks), func(rows *sql.Rows) error {
		var b block
		if err := rows.Scan(&c.number, &c.hash, &b.at, &b.entries); err != nil {
			return err
		}
		for i := range b.len() {
			id, _ := b.entry(i)
			ids = append(ids, id)
		}
		return nil
	}, practice, last, before)
	if err != nil || c.number == 0 {
		return 0, err
	}
	if err := deleteReads(ctx, db, tx, practice, ids); err != nil {
		return 0, err
	}
	c.signature = key.Sign(c.message())
	condition, list := in(db.Dialect, "id", 2, ids)
	details, err := json.Marshal(map[string]int64{"through_block": c.number, "entries": int64(len(ids) + done)})
	if err != nil {
		return 0, err
	}
	for _, step := range []struct {
		query string
		args  []any
	}{
		{"DELETE FROM audit_events WHERE practice_id = $1 AND " + condition, []any{practice, list}},
		{"DELETE FROM audit_blocks WHERE practice_id = $1 AND number <= $2", []any{practice, c.number}},
		{"INSERT INTO audit_cuts (practice_id, number, hash, at, signature) VALUES ($1, $2, $3, $4, $5)", []any{practice, c.number, c.hash, c.at, c.signature}},
		{"INSERT INTO audit_events (practice_id, at, action, fields, details) VALUES ($1, $2, 'prune', '[]', $3)", []any{practice, c.at, string(details)}},
	} {
		if _, err := tx.ExecContext(ctx, step.query, step.args...); err != nil {
			return 0, err
		}
	}
	return max(len(ids), 1), tx.Commit()
}

// deleteReads deletes the rows of audit_reads of entries.
func deleteReads(ctx context.Context, db *store.DB, tx *sql.Tx, practice uuid.UUID, ids []int64) error {
	condition, list := in(db.Dialect, "id", 2, ids)
	var patients []int64
	err := forEach(ctx, tx, "SELECT "+columns+" FROM audit_events WHERE action = 'read' AND practice_id = $1 AND "+condition, func(rows *sql.Rows) error {
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
	ofPatients, names := in(db.Dialect, "patient_id", 2, patients)
	ofEvents, events := in(db.Dialect, "event_id", 3, ids)
	_, err = tx.ExecContext(ctx, "DELETE FROM audit_reads WHERE practice_id = $1 AND "+ofPatients+" AND "+ofEvents, practice, names, events)
	return err
}
