package store

import (
	"context"
	"slices"
	"time"
)

// maxQueueWait is how long a transaction waits for transactions of this process. After that it
// may wait as long again for a connection, and for a lock in the database.
const maxQueueWait = 2 * time.Second

// queues are where transactions of this process wait for each other's locks before they take a
// connection. If they waited in the database, each would hold a connection while it waits, and
// clients booking the same practitioner would soon hold all of them. Several locks share a
// queue. The locks themselves are in the database, where they exclude other processes too.
// Transactions that learn their locks from a row (TakeLocks) wait in the database.
type queues [256]chan struct{}

func newQueues() *queues {
	q := &queues{}
	for i := range q {
		q[i] = make(chan struct{}, 1)
	}
	return q
}

// enter waits until no other transaction of this process holds one of the locks; leave lets the
// next one in. Every transaction enters all of its queues in one call, in the same order, so
// that none of them deadlock.
func (q *queues) enter(ctx context.Context, locks []Lock) (leave func(), err error) {
	if len(locks) == 0 {
		return func() {}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, maxQueueWait)
	defer cancel()
	var places []int
	for _, l := range locks {
		places = append(places, int(uint64(l)%uint64(len(q))))
	}
	slices.Sort(places)
	places = slices.Compact(places)
	for i, place := range places {
		select {
		case q[place] <- struct{}{}:
		case <-ctx.Done():
			q.leave(places[:i])
			return nil, ctx.Err()
		}
	}
	return func() { q.leave(places) }, nil
}

func (q *queues) leave(places []int) {
	for _, place := range places {
		<-q[place]
	}
}
