package importer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"entgo.io/ent/dialect/sql/sqlgraph"
	"golang.org/x/sync/errgroup"
)

// batchRows is the number of rows that a batch stores.
const batchRows = 2500

// load stores the rows of all files, one file after the other.
func (im *importer) load() error {
	if im.checkpoint.Stage != stageLoad {
		return nil
	}
	for i, p := range im.plans {
		if im.checkpoint.Files[i].Done {
			continue
		}
		l := fileLoad{importer: im, index: i, plan: p}
		if err := l.run(); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return im.startStage(stageTotals)
}

// fileLoad stores the rows of one file.
type fileLoad struct {
	*importer
	index   int // of the plan in importer.plans, and of the file in the checkpoint
	plan    *plan
	rejects *csvLog
}

// run opens the files and prepares what the importer remembers while it loads one.
func (l *fileLoad) run() (err error) {
	s, err := l.plan.open()
	if err != nil {
		return err
	}
	defer s.close()
	l.rejects, err = openCSVLog(filepath.Join(l.outDir, l.plan.rejects), l.checkpoint.Files[l.index].RejectsBytes, slices.Concat(rejectsHeader, l.plan.header))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.rejects.close()) }()
	if _, err := l.rejects.write(); err != nil { // the header
		return err
	}
	if err := l.startWritten(l.plan); err != nil {
		return err
	}
	l.forgetNames() // the previous file may have added some
	if err := l.checkFirstImport(); err != nil {
		return err
	}
	defer l.firstImport.Store(false)
	return l.storeChunks(s)
}

// storeChunks stores the chunks of the file while it reads the next ones.
func (l *fileLoad) storeChunks(s *sourceReader) error {
	reading, ctx := errgroup.WithContext(l.ctx)
	storing, ctx := errgroup.WithContext(ctx)
	storing.SetLimit(l.concurrency())
	chunks := make(chan chunk)
	reading.Go(func() error {
		defer close(chunks)
		return l.readChunks(ctx, s, chunks)
	})
	previous := finishedTurn()
	for c := range chunks {
		turn := previous.next(ctx)
		previous = turn
		storing.Go(func() error { return l.storeChunk(ctx, c, turn) })
	}
	storeErr, readErr := storing.Wait(), reading.Wait()
	if errors.Is(readErr, context.Canceled) { // because storing failed
		return cmp.Or(storeErr, readErr)
	}
	return cmp.Or(readErr, storeErr)
}

func (l *fileLoad) storeChunk(ctx context.Context, c chunk, turn *turn) error {
	if err := ctx.Err(); err != nil { // an earlier chunk has failed
		return err
	}
	if err := l.store(c.records, c.last, turn); err != nil {
		return err
	}
	l.reportProgress(l.plan.name, c.offset, l.plan.size)
	if err := l.analyze(len(c.records), c.last); err != nil {
		return err
	}
	turn.committed()
	return nil
}

// concurrency returns how many batches are stored at a time: two, for a second processor of the
// database, if the rows are new and independent of each other.
func (l *fileLoad) concurrency() int {
	if l.postgres() && l.dryTx == nil && l.firstImport.Load() && l.plan.isIndependent() {
		return 2
	}
	return 1
}

// checkFirstImport sets firstImport. Records then need not be looked up in imported_records,
// because within the files duplicates are rejected.
func (l *fileLoad) checkFirstImport() error {
	return l.inTx(nil, func(b *batch) {
		var imported bool
		b.queryRow("SELECT EXISTS (SELECT 1 FROM imported_records WHERE practice_id = $1 AND source = $2 AND resource = $3)",
			[]any{l.practice.id, l.system, l.plan.entity.Name}, &imported)
		l.firstImport.Store(!imported)
	})
}

// createdAlong names the table that gets rows together with those of another table.
var createdAlong = map[string]string{"patients": "accounts", "invoices": "invoice_items", "payments": explanationTable}

// analyze updates PostgreSQL's statistics when the tables have grown to four times what they
// were, and at the end of a file if they have doubled. Otherwise it would plan queries for a few
// rows.
func (l *fileLoad) analyze(rows int, last bool) error {
	l.unanalyzed += rows
	threshold := 3 * l.analyzed
	if last {
		threshold = l.analyzed + 1
		defer func() { l.analyzed, l.unanalyzed = 0, 0 }()
	}
	if !l.postgres() || l.unanalyzed < threshold {
		return nil
	}
	tables := []string{"imported_records", l.plan.entity.Name}
	if more := createdAlong[l.plan.entity.Name]; more != "" {
		tables = append(tables, more)
	}
	l.analyzed, l.unanalyzed = l.analyzed+l.unanalyzed, 0
	return l.inTx(nil, func(b *batch) { b.fail(b.bulk.Analyze(l.ctx, tables...)) })
}

// store stores records and the checkpoint in one transaction, and commits in its turn. If the
// database refuses a record, it tries again with fewer.
func (l *fileLoad) store(records []*record, last bool, turn *turn) error {
	var next checkpoint
	err := l.inTx(l.plan, func(b *batch) {
		b.turn = turn
		counts := b.store(records)
		if b.fail(turn.waitToCommit()); b.err != nil {
			return
		}
		next = l.checkpoint.clone()
		file := &next.Files[l.index]
		file.Rows += len(records)
		file.rowCounts.add(counts)
		file.Done = last
		l.writeOutcome(b, &next, records)
		b.saveCheckpoint(next)
	})
	switch {
	case err == nil:
		l.checkpoint = next
		l.rememberWritten(records)
		return nil
	case !sqlgraph.IsConstraintError(err) || len(records) == 0 || l.ctx.Err() != nil:
		return err
	}
	l.firstImport.Store(false) // another process may import the same records
	return l.storeInParts(records, last, turn, err)
}

// storeInParts stores records after the database has refused one of them. It halves them until
// that one is alone, and rejects it.
func (l *fileLoad) storeInParts(records []*record, last bool, turn *turn, refusal error) error {
	again := make([]*record, len(records))
	for i, r := range records {
		again[i] = l.plan.parseAgain(r)
	}
	if len(again) == 1 {
		again[0].reject("", constraintMessage(refusal))
		return l.store(again, last, turn)
	}
	turn.retried = true
	if err := turn.waitToCommit(); err != nil {
		return err
	}
	half := len(again) / 2
	if err := l.store(again[:half], false, turn); err != nil {
		return err
	}
	return l.store(again[half:], last, turn)
}

// writeOutcome writes the rejects and warnings of records to their files, and their sizes to the
// checkpoint.
func (l *fileLoad) writeOutcome(b *batch, next *checkpoint, records []*record) {
	var rejects [][]string
	var findings []finding
	for _, r := range records {
		if r.rejected() {
			rejects = append(rejects, rejectLine(r))
			continue
		}
		for _, f := range r.warnings {
			f.file, f.line, f.legacyID, f.kind = l.plan.name, r.source.line, r.legacyID, warning
			findings = append(findings, f)
		}
	}
	var err error
	next.Files[l.index].RejectsBytes, err = l.rejects.write(rejects...)
	b.fail(err)
	b.writeFindings(next, findings)
}

// constraintMessage describes which constraint of the database a row violates, without its
// values.
func constraintMessage(err error) string {
	switch {
	case sqlgraph.IsUniqueConstraintError(err):
		return "another record has a value that must be unique"
	case sqlgraph.IsForeignKeyConstraintError(err):
		return "refers to a record that does not exist"
	}
	return "violates a constraint of the database"
}
