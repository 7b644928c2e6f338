package importer

import (
	"context"
	"sync"
)

// turn orders batches that are stored at the same time:
//
//	ids │ rows │ audit log, legacy ids, checkpoint, commit
//	    │ ids  │ rows    waits             │ audit log, legacy ids, checkpoint, commit
//
// Batches take their IDs and commit in the order of the rows in the file. So an interrupted
// import has stored the beginning of the file, and the result does not depend on which batch is
// faster. After a batch fails, no later batch commits.
type turn struct {
	ctx          context.Context // of all batches; cancelled when one fails
	takeOnce     sync.Once
	took         chan struct{}   // closed when this batch has its IDs
	done         chan struct{}   // closed when this batch has committed
	previousTook <-chan struct{} // the same of the previous batch
	previousDone <-chan struct{}
	retried      bool // the database has refused the batch once
}

// finishedTurn returns a turn that is over. The first batch follows it.
func finishedTurn() *turn {
	t := &turn{took: make(chan struct{}), done: make(chan struct{})}
	t.idsTaken()
	t.committed()
	return t
}

// next returns the turn that follows t.
func (t *turn) next(ctx context.Context) *turn {
	return &turn{ctx: ctx, took: make(chan struct{}), done: make(chan struct{}), previousTook: t.took, previousDone: t.done}
}

// waitForIDs waits until the previous batch has its IDs.
func (t *turn) waitForIDs() error { return t.wait(t.previousTook) }

// idsTaken lets the next batch take its IDs. A batch that is retried calls it again.
func (t *turn) idsTaken() { t.takeOnce.Do(func() { close(t.took) }) }

// waitToCommit waits until the previous batch has committed.
func (t *turn) waitToCommit() error { return t.wait(t.previousDone) }

// committed lets the next batch commit.
func (t *turn) committed() { close(t.done) }

// wait waits for the previous batch, or until a batch fails. If the previous batch is ready
// already, a failure of a later one does not matter.
func (t *turn) wait(previous <-chan struct{}) error {
	select {
	case <-previous:
		return nil
	default:
	}
	select {
	case <-previous:
		return nil
	case <-t.ctx.Done():
		return t.ctx.Err()
	}
}
