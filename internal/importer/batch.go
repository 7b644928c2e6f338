package importer

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"chairside/internal/store/bulk"
)

// batch is a transaction, which stores or rereads records of one file. After the first error, its
// methods neither read nor write.
type batch struct {
	*importer
	plan *plan // nil if the batch is not for a file
	tx   *sql.Tx
	bulk *bulk.Tx
	now  time.Time // of this batch: see importer.clock
	turn *turn     // nil unless it stores records
	err  error     // the first one

	rereading bool                      // only match records with the rows that they have become
	records   []*record                 // without those that were rejected before the current step
	imported  map[string]bool           // what isImported has found
	parents   map[string]map[string]row // rows that the records refer to, by column and ID
}

// inTx runs work in a transaction of its own or, in a dry run, in a savepoint of the only one. It
// rolls back if work fails.
func (im *importer) inTx(p *plan, work func(b *batch)) (err error) {
	b := &batch{importer: im, plan: p, tx: im.dryTx, now: im.clock(), imported: map[string]bool{}}
	if im.dryTx == nil {
		if b.tx, err = im.db.SQL.BeginTx(im.ctx, nil); err != nil {
			return fmt.Errorf("begin: %w", err)
		}
		defer b.tx.Rollback() // no effect after a commit
	}
	b.bulk, b.err = bulk.Join(im.ctx, im.db, b.tx)
	if im.dryTx != nil {
		b.exec("SAVEPOINT batch")
	}
	if b.err == nil {
		work(b)
	}
	switch {
	case im.dryTx == nil && b.err == nil:
		return b.tx.Commit()
	case im.dryTx == nil:
		return b.err
	case b.err == nil:
		b.exec("RELEASE SAVEPOINT batch")
		return b.err
	}
	_, rollbackErr := im.dryTx.ExecContext(im.ctx, "ROLLBACK TO SAVEPOINT batch")
	return errors.Join(b.err, rollbackErr)
}

// store takes records through all steps, writes those that are not rejected, and counts them all.
func (b *batch) store(records []*record) (counts rowCounts) {
	// References are resolved even for records with other problems, so that all are reported.
	b.records = slices.DeleteFunc(slices.Clone(records), func(r *record) bool { return r.referenceKeys == nil })
	b.resolveReferences()
	b.records = records
	b.run(b.matchByLegacyID, b.readParents, b.matchByUniqueKey, b.mergeByName, b.rejectErased, b.applyRules, b.rejectDuplicates, b.warnOfSamePatients)
	b.dropRejected()
	counts.Rejected = len(records) - len(b.records)
	if b.err == nil {
		b.write(&counts)
	}
	return counts
}

// run runs steps, each with the records that are not rejected by then.
func (b *batch) run(steps ...func()) {
	for _, step := range steps {
		b.dropRejected()
		step()
	}
}

func (b *batch) dropRejected() {
	b.records = slices.DeleteFunc(slices.Clone(b.records), (*record).rejected)
}
