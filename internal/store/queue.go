package store

import (
	"context"
	"slices"
	"time"
)

// longestQueue is how long a transaction waits for those before it; then it may
// wait as long again for a connection, and for a lock in the database.
const longestQueue = 2 * time.Second

// queues are where transactions of this process wait for each other's locks
// before they take a connection. In the database each would hold one while it
// waits, and those who book one practitioner at the same time would hold all:
// nobody else would be answered. Locks share queues, by their number; that the
// locks themselves are held is the database's affair, for all processes. Who
// learns from a row which locks to take (TakeLocks) waits for them in the database.
type queues [256]chan struct{}

func newQueues() *queues {
	q := &queues{}
	for i := range q {
		q[i] = make(chan struct{}, 1)
	}
	return q
}

// enter waits until it is the turn of who asks for locks, and gives what ends
// it. Every transaction enters its queues at once, in the same order, so that no
// two wait for each other.
func (q *queues) enter(ctx context.Context, locks []Lock) (leave func(), err error) {
	if len(locks) == 0 {
		return func() {}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, longestQueue)
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
