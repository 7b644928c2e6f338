package chain

import (
	"database/sql"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
)

// checkEntries compares the entries of blocks with the log.
func (v *verification) checkEntries(blocks []block) error {
	var ids []int64
	for i := range blocks {
		for k := range blocks[i].len() {
			id, _ := blocks[i].entry(k)
			ids = append(ids, id)
		}
	}
	log := make(map[int64]entry, len(ids))
	from, to := blocks[0].at, blocks[0].at
	for i := range blocks {
		from, to = earlier(from, blocks[i].at), later(to, blocks[i].at)
	}
	// Nearly all entries are sealed within seconds. The times name the partitions of those, so that
	// PostgreSQL does not look for each entry in every month.
	if err := v.readEntries(log, ids, " AND at >= $2 AND at <= $3", from.Add(-sealedWithin), to.Add(sealedWithin)); err != nil {
		return err
	}
	if others := slices.DeleteFunc(ids, func(id int64) bool { _, ok := log[id]; return ok }); len(others) > 0 {
		if err := v.readEntries(log, others, ""); err != nil {
			return err
		}
	}
	for i := range blocks {
		b, last := &blocks[i], int64(0)
		for k := range b.len() {
			id, want := b.entry(k)
			got, ok := log[id]
			switch {
			case !ok:
				v.problem(b.practice, b.number, id, "is missing")
			case got.digest != want:
				v.problem(b.practice, b.number, id, "was changed")
			case id <= last:
				v.problem(b.practice, b.number, id, "is out of order")
			}
			last = id
			v.report.Entries++
			v.sealed[b.practice] = v.sealed[b.practice].add(id)
			for _, patient := range got.patients {
				v.reads[b.practice] = v.reads[b.practice].add(id, got.at.UnixMicro(), patient)
			}
		}
	}
	return nil
}

// sealedWithin is how long after an entry its block usually follows.
const sealedWithin = time.Hour

// entry is what the log has of an entry of a block.
type entry struct {
	digest   digest
	at       time.Time
	patients []int64
}

// readEntries reads the entries with these ids that meet a further condition.
func (v *verification) readEntries(log map[int64]entry, ids []int64, more string, args ...any) error {
	condition, list := in(v.db.Dialect, "id", 1, ids)
	return forEach(v.ctx, v.pool, "SELECT "+columns+" FROM audit_events WHERE "+condition+more, func(rows *sql.Rows) error {
		var e event
		if err := e.scan(rows); err != nil {
			v.problem(e.practice, 0, e.id, "cannot be read")
			return nil
		}
		d, buffer, err := e.digest(v.buffer)
		v.buffer = buffer
		if err != nil { // not what Chairside writes
			d = digest{}
		}
		patients, err := e.patients()
		if err != nil { // the digest differs too
			patients = nil
		}
		log[e.id] = entry{d, e.at, patients}
		return nil
	}, append([]any{list}, args...)...)
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// checkSealed finds entries that are in no block although all of their time are sealed, entries of blocks that
// count as not sealed, because of their transaction or of the last block, and ids that two entries or two
// blocks have: something else wrote them.
func (v *verification) checkSealed() error {
	sealed, have := v.position.sealed(v.db.Dialect), map[uuid.UUID]fingerprint{}
	err := forEach(v.ctx, v.pool, "SELECT practice_id, id FROM audit_events WHERE "+sealed, func(rows *sql.Rows) error {
		var practice uuid.UUID
		var id int64
		err := rows.Scan(&practice, &id)
		have[practice] = have[practice].add(id)
		return err
	})
	if err != nil || maps.Equal(have, v.sealed) {
		return err
	}
	block, err := v.practiceOfSealed()
	if err != nil {
		return err
	}
	last := int64(0)
	return forEach(v.ctx, v.pool, "SELECT practice_id, id, "+sealed+" FROM audit_events ORDER BY id", func(rows *sql.Rows) error {
		var practice uuid.UUID
		var id int64
		var isSealed bool
		if err := rows.Scan(&practice, &id, &isSealed); err != nil {
			return err
		}
		switch of, ok := block[id]; {
		case id == last: // the key of a partitioned table cannot forbid it
			v.problem(practice, 0, id, "is there twice")
		case isSealed && (!ok || of != practice):
			v.problem(practice, 0, id, "is in no block: it was not written by Chairside")
		case ok && !isSealed:
			v.problem(practice, 0, id, "is in a block, but counts as not sealed: its transaction or the order of the blocks was changed")
		}
		last = id
		return nil
	})
}

// practiceOfSealed returns the practice of each entry of the blocks.
func (v *verification) practiceOfSealed() (map[int64]uuid.UUID, error) {
	all := map[int64]uuid.UUID{}
	err := forEach(v.ctx, v.pool, "SELECT practice_id, number, entries FROM audit_blocks WHERE id <= $1 ORDER BY id", func(rows *sql.Rows) error {
		var b block
		if err := rows.Scan(&b.practice, &b.number, &b.entries); err != nil {
			return err
		}
		for i := range b.len() {
			id, _ := b.entry(i)
			if _, twice := all[id]; twice {
				v.problem(b.practice, b.number, id, "is in two blocks")
			}
			all[id] = b.practice
		}
		return nil
	}, v.last)
	return all, err
}

// countUnsealed counts the entries that the next block will have.
func (v *verification) countUnsealed() error {
	return forEach(v.ctx, v.pool, "SELECT at FROM audit_events WHERE "+v.position.unsealed(v.db.Dialect), func(rows *sql.Rows) error {
		var at time.Time
		if err := rows.Scan(&at); err != nil {
			return err
		}
		if v.report.Unsealed == 0 || at.Before(v.report.UnsealedSince) {
			v.report.UnsealedSince = at
		}
		v.report.Unsealed++
		return nil
	})
}
