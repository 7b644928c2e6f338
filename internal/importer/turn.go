package importer

import (
	"context"
	"sync"
)

// turn is the place of a batch among those that are stored at the same time.
//
//	numbers │ rows │ changes, ids, progress, commit
//	        │ numbers │ rows     waits               │ changes, ids, progress, commit
//
// Ids are given out, and transactions end, in the order of the rows of the file:
// what a stopped import has stored is a beginning of it, and what comes of it
// does not depend on who was faster. After a batch that fails none ends.
type turn struct {
	work            context.Context // of all batches; over when one has failed
	numbering       sync.Once
	numbered, ended chan struct{} // closed when this one has its ids, and is stored
	before          struct{ numbered, ended <-chan struct{} }
}

// firstTurn is that of nobody, and over.
func firstTurn() *turn {
	t := &turn{numbered: make(chan struct{}), ended: make(chan struct{})}
	t.number()
	t.end()
	return t
}

// next is the turn after t.
func (t *turn) next(work context.Context) *turn {
	after := &turn{work: work, numbered: make(chan struct{}), ended: make(chan struct{})}
	after.before.numbered, after.before.ended = t.numbered, t.ended
	return after
}

// mayNumber waits until the batch before has its ids.
func (t *turn) mayNumber() error { return t.wait(t.before.numbered) }

// number says that the batch has its ids. One that is tried again gets others.
func (t *turn) number() { t.numbering.Do(func() { close(t.numbered) }) }

// mayEnd waits until the batch before is stored.
func (t *turn) mayEnd() error { return t.wait(t.before.ended) }

// end says that the batch is stored.
func (t *turn) end() { close(t.ended) }

// wait waits for the batch before, unless that will never come. What comes
// after this one does not matter.
func (t *turn) wait(before <-chan struct{}) error {
	select {
	case <-before:
		return nil
	default:
	}
	select {
	case <-before:
		return nil
	case <-t.work.Done():
		return t.work.Err()
	}
}
