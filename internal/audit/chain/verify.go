package chain

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
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
	Unsigned                   int         // blocks that are newer than the checkpoints; 0 without a directory of them
	UnsignedSince              time.Time   // time of the oldest of them
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
	// firstCheckpoint is how old the oldest block may be while there is no checkpoint at all. A server writes one
	// every minute. After checkpoints are turned on for an older log, Verify reports a problem until then.
	firstCheckpoint = 5 * time.Minute
)

// Verify compares every entry of the audit log with its block, every block with the one before,
// and both with the checkpoints. It leaves out practices of which a deletion has begun (package
// closure), and reports them. It changes nothing and runs while servers write.
func Verify(ctx context.Context, db *store.DB, o VerifyOptions) (*Report, error) {
	pool := db.Maintenance() // a large log takes longer than a request may
	defer pool.Close()
	v := &verification{ctx: ctx, db: db, pool: pool, options: o, heads: map[uuid.UUID]map[int64][]head{}, newest: map[uuid.UUID]int64{}, sealed: map[uuid.UUID]fingerprint{}, reads: map[uuid.UUID]fingerprint{}}
	for _, step := range []func() error{v.begin, v.checkBlocks, v.checkHeads, v.checkSealed, v.checkReads, v.countUnsealed} {
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
	newest   map[uuid.UUID]int64            // the highest number in a checkpoint
	sealed   map[uuid.UUID]fingerprint      // of the ids in blocks
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
		if b.practice != uuid.Nil { // the chain of events that belong to no practice
			v.report.Practices++
		}
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
	case before.id != 0 && b.id <= before.id:
		v.problem(b.practice, b.number, 0, "the block is out of order: its id, or that of the one before, was changed")
	case !bytes.Equal(before.hash, b.previous):
		v.problem(b.practice, b.number, 0, "the block does not follow the one before: one of them was replaced")
	}
	v.found[b.practice] = b.number
	if v.options.Checkpoints != "" && b.number > v.newest[b.practice] {
		if v.report.Unsigned++; v.report.Unsigned == 1 || b.at.Before(v.report.UnsignedSince) {
			v.report.UnsignedSince = b.at
		}
	}
	for _, h := range v.heads[b.practice][b.number] {
		if !bytes.Equal(h.Hash, b.hash) {
			v.problem(b.practice, b.number, 0, "the block is not the one of the checkpoint of %s: the chain was recomputed", h.At.UTC().Format(time.RFC3339))
		}
	}
}

// checkHeads finds blocks that a checkpoint has and the database has not.
func (v *verification) checkHeads() error {
	if v.report.Checkpoints == 0 && v.report.Unsigned > 0 && clock.Now(v.ctx).Sub(v.report.UnsignedSince) > firstCheckpoint {
		v.problem(uuid.Nil, 0, 0, "the directory has no checkpoint that a key signed: a chain that was recomputed or cut off at its end cannot be detected")
	}
	for practice, heads := range v.heads {
		highest := heads[v.newest[practice]][0]
		if found := max(v.found[practice], v.cuts[practice].number); found < highest.Number {
			v.problem(practice, found+1, 0, "blocks %d to %d are missing, which the checkpoint of %s has: the end was cut off", found+1, highest.Number, highest.At.UTC().Format(time.RFC3339))
		}
	}
	return nil
}
