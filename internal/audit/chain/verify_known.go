package chain

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"database/sql"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
)

// begin reads the last block, the cuts and the checkpoints. Later blocks are not compared.
func (v *verification) begin() (err error) {
	// The checkpoints come first: they must not name blocks that are newer than the last one.
	if err := v.readCheckpoints(); err != nil {
		return err
	}
	err = forEach(v.ctx, v.pool, "SELECT id, through, floor FROM audit_blocks ORDER BY id DESC LIMIT 1",
		func(rows *sql.Rows) error { return rows.Scan(&v.last, &v.position.through, &v.position.floor) })
	if err != nil {
		return err
	}
	if err := v.readDeletions(); err != nil {
		return err
	}
	v.cuts, err = v.readCuts()
	return err
}

// readCheckpoints reads the heads of the signed lines, if there is a directory of checkpoints.
func (v *verification) readCheckpoints() error {
	if v.options.Checkpoints == "" {
		return nil
	}
	present, named := map[digest]bool{}, map[digest]line{} // named: by another line
	err := readCheckpoints(v.options.Checkpoints, map[string]int64{}, func(l line) {
		present[l.hash] = true
		if !l.checkpoint.valid(v.options.Public...) {
			v.problem(uuid.Nil, 0, 0, "%s: the signature does not fit", l)
			return
		}
		v.report.Checkpoints++
		for _, hash := range l.checkpoint.Previous {
			if len(hash) == sha256.Size {
				named[digest(hash)] = l
			}
		}
		for _, h := range l.checkpoint.Heads {
			if v.heads[h.Practice] == nil {
				v.heads[h.Practice] = map[int64][]head{}
			}
			v.heads[h.Practice][h.Number] = append(v.heads[h.Practice][h.Number], h)
			v.newest[h.Practice] = max(v.newest[h.Practice], h.Number)
		}
	})
	maps.DeleteFunc(named, func(hash digest, _ line) bool { return present[hash] })
	missing := slices.SortedFunc(maps.Values(named), func(a, b line) int { return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.number, b.number)) })
	for _, l := range missing {
		v.problem(uuid.Nil, 0, 0, "%s: the line before it is missing or was changed", l)
	}
	return err
}

// deletionBegan is the condition that the deletion d of a practice has begun. One of an open practice was made up.
const deletionBegan = "d.began_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM practices AS p WHERE p.id = d.id AND p.closes_at IS NULL)"

// readDeletions reads which practices have been deleted or are being deleted. A deletion that is
// recorded as complete and has left blocks was made up too: its practice is compared like any other.
func (v *verification) readDeletions() error {
	v.gone = map[uuid.UUID]bool{}
	return forEach(v.ctx, v.pool, `SELECT d.id FROM practice_deletions AS d WHERE `+deletionBegan+`
		AND (d.deleted_at IS NULL OR NOT EXISTS (SELECT 1 FROM audit_blocks AS b WHERE b.practice_id = d.id)) ORDER BY d.id`, func(rows *sql.Rows) error {
		var practice uuid.UUID
		err := rows.Scan(&practice)
		if practice != uuid.Nil { // the events of no practice are never deleted
			v.gone[practice] = true
			v.report.Deleted = append(v.report.Deleted, practice)
		}
		return err
	})
}

// readCuts returns the last valid cut of each practice.
func (v *verification) readCuts() (map[uuid.UUID]cut, error) {
	cuts := map[uuid.UUID]cut{}
	err := forEach(v.ctx, v.pool, "SELECT practice_id, number, hash, at, signature FROM audit_cuts ORDER BY practice_id, number", func(rows *sql.Rows) error {
		var c cut
		if err := rows.Scan(&c.practice, &c.number, &c.hash, &c.at, &c.signature); err != nil {
			return err
		}
		if !signed(v.options.Public, c.message(), c.signature) {
			v.problem(c.practice, c.number, 0, "the signature of the cut does not fit")
			return nil
		}
		for _, h := range v.heads[c.practice][c.number] {
			if !bytes.Equal(h.Hash, c.hash) {
				v.problem(c.practice, c.number, 0, "the cut removed another block than that of the checkpoint of %s: the chain was recomputed", h.At.UTC().Format(time.RFC3339))
			}
		}
		cuts[c.practice] = c
		return nil
	})
	v.report.Cuts = len(cuts)
	return cuts, err
}
