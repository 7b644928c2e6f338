package chain

import (
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"time"

	"github.com/google/uuid"
)

// fingerprint tells apart sets of rows of numbers, in any order and with repetitions.
type fingerprint struct {
	n   int
	sum [4]uint64
}

func (f fingerprint) add(row ...int64) fingerprint {
	text := make([]byte, 0, 24)
	for _, n := range row {
		text = binary.BigEndian.AppendUint64(text, uint64(n))
	}
	d := sha256.Sum256(text)
	f.n++
	for i := range f.sum {
		f.sum[i] += binary.BigEndian.Uint64(d[8*i:])
	}
	return f
}

// readsOfSealed selects the rows of audit_reads that belong to sealed entries, or to none.
func (v *verification) readsOfSealed() string {
	return `SELECT r.practice_id, r.event_id, r.at, r.patient_id FROM audit_reads AS r LEFT JOIN
		(SELECT id AS sealed FROM audit_events WHERE ` + v.position.unsealed(v.db.Dialect) + `) AS e ON e.sealed = r.event_id WHERE e.sealed IS NULL`
}

// checkReads compares audit_reads, which finds the reads of a patient, with the entries.
func (v *verification) checkReads() error {
	have := map[uuid.UUID]fingerprint{}
	err := forEach(v.ctx, v.pool, v.readsOfSealed(), func(rows *sql.Rows) error {
		var practice uuid.UUID
		var event, patient int64
		var at time.Time
		err := rows.Scan(&practice, &event, &at, &patient)
		have[practice] = have[practice].add(event, at.UnixMicro(), patient)
		return err
	})
	if err != nil {
		return err
	}
	for practice := range v.reads {
		if _, ok := have[practice]; !ok {
			have[practice] = fingerprint{}
		}
	}
	for practice, f := range have {
		if f == v.reads[practice] {
			continue
		}
		if err := v.compareReads(practice); err != nil {
			return err
		}
	}
	return nil
}

// compareReads names the differences of one practice.
func (v *verification) compareReads(practice uuid.UUID) error {
	type row struct{ event, at, patient int64 }
	want := map[row]int{}
	err := forEach(v.ctx, v.pool, "SELECT "+columns+" FROM audit_events WHERE action = 'read' AND practice_id = $1 AND "+v.position.sealed(v.db.Dialect), func(rows *sql.Rows) error {
		var e event
		if err := e.scan(rows); err != nil { // as checkEntries has found
			return nil
		}
		patients, err := e.patients()
		if err != nil { // as checkEntries has found
			return nil
		}
		for _, patient := range patients {
			want[row{e.id, e.at.UnixMicro(), patient}]++
		}
		return nil
	}, practice)
	if err != nil {
		return err
	}
	err = forEach(v.ctx, v.pool, v.readsOfSealed()+" AND r.practice_id = $1", func(rows *sql.Rows) error {
		var r row
		var at time.Time
		if err := rows.Scan(&practice, &r.event, &at, &r.patient); err != nil {
			return err
		}
		r.at = at.UnixMicro()
		if want[r]--; want[r] < 0 {
			v.problem(practice, 0, r.event, "audit_reads has the patient %d, whom the entry does not name, or another time", r.patient)
		}
		return nil
	}, practice)
	for r, n := range want {
		if n > 0 {
			v.problem(practice, 0, r.event, "audit_reads lacks the patient %d", r.patient)
		}
	}
	return err
}
