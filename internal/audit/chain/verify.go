package chain

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"chairside/internal/audit"
	"chairside/internal/clock"
	"chairside/internal/store"
)

// Problem is a sign of tampering.
type Problem struct {
	Practice uuid.UUID // zero for events of no practice
	Block    int64     // 0 if the problem is in no block
	Event    int64     // id of the entry; 0 if it is not about one
	Text     string
}

// String returns the problem with its place: "practice …, block 7, entry 1042: was changed".
func (p Problem) String() string {
	s := "practice " + p.Practice.String()
	if p.Block != 0 {
		s += fmt.Sprintf(", block %d", p.Block)
	}
	if p.Event != 0 {
		s += fmt.Sprintf(", entry %d", p.Event)
	}
	return s + ": " + p.Text
}

// Report is the result of Verify.
type Report struct {
	Practices, Blocks, Entries int
	Checkpoints                int         // signed lines that were compared
	Cuts                       int         // practices whose oldest blocks were pruned
	Unsealed                   int         // entries that no block has yet
	UnsealedSince              time.Time   // time of the oldest of them
	Problems                   []Problem   // at most maxProblems
	More                       bool        // there are further problems
	Deleted                    []uuid.UUID // practices that are deleted, or are being deleted: their events are not compared
}

// VerifyOptions are what Verify compares the log with.
type VerifyOptions struct {
	// Public checks signatures: each must be of one of these keys, because the audit key may have
	// changed. Without any, neither checkpoints nor cuts can be checked: a cut is then a problem.
	Public []audit.PublicKey
	// Checkpoints is the directory of checkpoints; "" for none. Without them, Verify cannot find
	// a chain that was recomputed from its beginning, nor one whose end was cut off.
	Checkpoints string
}

const (
	maxProblems = 1000
	// pageEntries is about how many entries are compared at once.
	pageEntries = 5_000
	pageBlocks  = 200
)

// Verify compares every entry of the audit log with its block, every block with the one before,
// and both with the checkpoints. It leaves out practices of which a deletion has begun (package
// closure), and reports them. It changes nothing and runs while servers write.
func Verify(ctx context.Context, db *store.DB, o VerifyOptions) (*Report, error) {
	pool := db.Maintenance() // a large log takes longer than a request may
	defer pool.Close()
	v := &verification{ctx: ctx, db: db, pool: pool, options: o, heads: map[uuid.UUID]map[int64][]head{}, counts: map[uuid.UUID]int{}, reads: map[uuid.UUID]fingerprint{}}
	for _, step := range []func() error{v.begin, v.checkBlocks, v.checkHeads, v.checkCounts, v.checkReads, v.countUnsealed} {
		if err := step(); err != nil {
			return nil, fmt.Errorf("audit: verify the log: %w", err)
		}
	}
	return &v.report, nil
}

type verification struct {
	ctx     context.Context
	db      *store.DB
	pool    *sql.DB
	options VerifyOptions
	report  Report

	position position // of the last block
	last     int64    // its id
	cuts     map[uuid.UUID]cut
	heads    map[uuid.UUID]map[int64][]head // of the checkpoints, by number
	found    map[uuid.UUID]int64            // number of the last block of each practice
	counts   map[uuid.UUID]int              // of entries in blocks
	reads    map[uuid.UUID]fingerprint
	gone     map[uuid.UUID]bool // practices whose rows are deleted, or are being deleted
	buffer   []byte
}

func (v *verification) problem(practice uuid.UUID, block, event int64, format string, a ...any) {
	if v.gone[practice] {
		return
	}
	if len(v.report.Problems) == maxProblems {
		v.report.More = true
		return
	}
	v.report.Problems = append(v.report.Problems, Problem{practice, block, event, fmt.Sprintf(format, a...)})
}

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
		}
	})
	maps.DeleteFunc(named, func(hash digest, _ line) bool { return present[hash] })
	missing := slices.SortedFunc(maps.Values(named), func(a, b line) int { return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.number, b.number)) })
	for _, l := range missing {
		v.problem(uuid.Nil, 0, 0, "%s: the line before it is missing or was changed", l)
	}
	return err
}

// readDeletions reads which practices have been deleted or are being deleted. A deletion that is
// recorded as complete and has left blocks was made up: its practice is compared like any other.
func (v *verification) readDeletions() error {
	v.gone = map[uuid.UUID]bool{}
	return forEach(v.ctx, v.pool, `SELECT d.id FROM practice_deletions AS d WHERE d.due_at <= $1
		AND (d.deleted_at IS NULL OR NOT EXISTS (SELECT 1 FROM audit_blocks AS b WHERE b.practice_id = d.id)) ORDER BY d.id`, func(rows *sql.Rows) error {
		var practice uuid.UUID
		err := rows.Scan(&practice)
		if practice != uuid.Nil { // the events of no practice are never deleted
			v.gone[practice] = true
			v.report.Deleted = append(v.report.Deleted, practice)
		}
		return err
	}, clock.Now(v.ctx))
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
		cuts[c.practice] = c
		return nil
	})
	v.report.Cuts = len(cuts)
	return cuts, err
}

// checkBlocks compares the blocks of all practices, page by page.
func (v *verification) checkBlocks() error {
	v.found = map[uuid.UUID]int64{}
	var before *block
	for after := (block{}); ; {
		page, err := v.page(after.practice, after.number)
		if err != nil || len(page) == 0 {
			return err
		}
		for size, start, i := 0, 0, 0; i < len(page); i++ {
			if size += page[i].len(); size >= pageEntries || i == len(page)-1 {
				if err := v.checkEntries(page[start : i+1]); err != nil {
					return err
				}
				start, size = i+1, 0
			}
		}
		for i := range page {
			v.checkLink(before, &page[i])
			before = &page[i]
		}
		after = page[len(page)-1]
	}
}

// page returns the next blocks, in the order of practices and numbers.
func (v *verification) page(practice uuid.UUID, number int64) (page []block, err error) {
	err = forEach(v.ctx, v.pool, fmt.Sprintf("SELECT id, practice_id, number, at, through, floor, entries, previous, hash FROM audit_blocks WHERE id <= $1 AND (practice_id, number) > ($2, $3) ORDER BY practice_id, number LIMIT %d", pageBlocks),
		func(rows *sql.Rows) error {
			var b block
			err := rows.Scan(&b.id, &b.practice, &b.number, &b.at, &b.through, &b.floor, &b.entries, &b.previous, &b.hash)
			page = append(page, b)
			return err
		}, v.last, practice, number)
	return page, err
}

// checkLink compares a block with its hash and with the block before it, which may be of another
// practice.
func (v *verification) checkLink(before, b *block) {
	v.report.Blocks++
	if !bytes.Equal(b.sum(), b.hash) {
		v.problem(b.practice, b.number, 0, "the block was changed: its hash does not fit its content")
	}
	if before == nil || before.practice != b.practice {
		v.report.Practices++
		number, hash := int64(0), make([]byte, sha256.Size)
		if c, ok := v.cuts[b.practice]; ok {
			number, hash = c.number, c.hash
		}
		before = &block{practice: b.practice, number: number, hash: hash}
	}
	switch {
	case b.number > before.number+1:
		v.problem(b.practice, before.number+1, 0, "blocks %d to %d are missing", before.number+1, b.number-1)
	case b.number < before.number+1:
		v.problem(b.practice, b.number, 0, "the block is older than the last cut, which removed it")
	case !bytes.Equal(before.hash, b.previous):
		v.problem(b.practice, b.number, 0, "the block does not follow the one before: one of them was replaced")
	}
	v.found[b.practice] = b.number
	for _, h := range v.heads[b.practice][b.number] {
		if !bytes.Equal(h.Hash, b.hash) {
			v.problem(b.practice, b.number, 0, "the block is not the one of the checkpoint of %s: the chain was recomputed", h.At.UTC().Format(time.RFC3339))
		}
	}
}

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
			v.counts[b.practice]++
			v.reads[b.practice] = v.reads[b.practice].add(id, got.at, got.patients)
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
		if _, twice := log[e.id]; twice {
			v.problem(e.practice, 0, e.id, "is there twice")
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

// checkHeads finds blocks that a checkpoint has and the database has not.
func (v *verification) checkHeads() error {
	for practice, heads := range v.heads {
		highest := heads[slices.Max(slices.Collect(maps.Keys(heads)))][0]
		if found := max(v.found[practice], v.cuts[practice].number); found < highest.Number {
			v.problem(practice, found+1, 0, "blocks %d to %d are missing, which the checkpoint of %s has: the end was cut off", found+1, highest.Number, highest.At.UTC().Format(time.RFC3339))
		}
	}
	return nil
}

// checkCounts finds entries that are in no block although all of their time are sealed: they were
// added later, by something else.
func (v *verification) checkCounts() error {
	sealed, have := v.position.sealed(v.db.Dialect), map[uuid.UUID]int{}
	err := forEach(v.ctx, v.pool, "SELECT practice_id, count(*) FROM audit_events WHERE "+sealed+" GROUP BY practice_id", func(rows *sql.Rows) error {
		var practice uuid.UUID
		var n int
		err := rows.Scan(&practice, &n)
		have[practice] = n
		return err
	})
	if err != nil {
		return err
	}
	same := len(v.report.Problems) == 0
	for practice, n := range have {
		same = same && n == v.counts[practice]
	}
	if same {
		return nil
	}
	inBlocks, err := sealedIDs(v.ctx, v.pool)
	if err != nil {
		return err
	}
	return forEach(v.ctx, v.pool, "SELECT practice_id, id FROM audit_events WHERE "+sealed+" ORDER BY id", func(rows *sql.Rows) error {
		var practice uuid.UUID
		var id int64
		if err := rows.Scan(&practice, &id); err != nil {
			return err
		}
		if !inBlocks[id] {
			v.problem(practice, 0, id, "is in no block: it was not written by Chairside")
		}
		return nil
	})
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

// fingerprint tells apart sets of rows of an entry, its time and a patient, in any order.
type fingerprint struct {
	n   int
	sum [4]uint64
}

func (f fingerprint) add(event int64, at time.Time, patients []int64) fingerprint {
	for _, patient := range patients {
		var row [24]byte
		binary.BigEndian.PutUint64(row[:8], uint64(event))
		binary.BigEndian.PutUint64(row[8:16], uint64(patient))
		binary.BigEndian.PutUint64(row[16:], uint64(at.UnixMicro()))
		d := sha256.Sum256(row[:])
		f.n++
		for i := range f.sum {
			f.sum[i] += binary.BigEndian.Uint64(d[8*i:])
		}
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
		have[practice] = have[practice].add(event, at, []int64{patient})
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
