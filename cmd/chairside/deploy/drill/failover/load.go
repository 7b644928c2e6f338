package main

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"chairside/cmd/chairside/deploy/drill/internal/drill"
)

// load is all clients, and what they have seen.
type load struct {
	servers  *servers
	follower *follower
	receiver *receiver
	stopping chan struct{}
	once     sync.Once
	group    sync.WaitGroup

	requests, unavailable, other, wrong atomic.Int64
	slowest                             atomic.Int64 // ns, since takeSlowest
	slot                                atomic.Int64

	mu     sync.Mutex
	booked []*booking
	acks   [][]ack // of each server, from clients that talk to it directly
	first  []string
}

// ack is a booking that was acknowledged.
type ack struct{ sent, received time.Time }

type counts struct{ requests, unavailable, other, wrong int64 }

func (l *load) counts() counts {
	return counts{l.requests.Load(), l.unavailable.Load(), l.other.Load(), l.wrong.Load()}
}

const (
	// bookers is the number of clients that book: half of them through HAProxy, the others at one of the
	// servers.
	bookers = 8
	readers = 3
	// pace is the pause of a client between two requests.
	pace = 30 * time.Millisecond
	// retryPause is the pause before a request is sent again.
	retryPause = 100 * time.Millisecond
)

func startLoad(ctx context.Context, s *servers) (l *load, err error) {
	l = &load{servers: s, stopping: make(chan struct{}), acks: make([][]ack, len(s.all))}
	if l.receiver, err = startReceiver(ctx, s); err != nil {
		return nil, err
	}
	tokens := make([]string, bookers+readers+1)
	for i := range tokens {
		if tokens[i], err = s.newToken(ctx); err != nil {
			return nil, err
		}
		tokens[i] = "Bearer " + tokens[i]
	}
	l.follower = &follower{load: l, token: tokens[bookers+readers], copied: map[int64]appointment{}}
	l.group.Go(func() { l.follower.run(ctx) })
	for i := range bookers {
		b := &booker{load: l, token: tokens[i], base: s.proxy, server: i % (2 * len(s.all))}
		if b.server < len(s.all) {
			b.base = s.all[b.server].url
		} else {
			b.server = -1
		}
		l.group.Go(func() { b.run(ctx) })
	}
	for i := range readers {
		l.group.Go(func() { l.read(ctx, tokens[bookers+i]) })
	}
	return l, nil
}

// stop waits until all clients have finished what they began.
func (l *load) stop() {
	l.once.Do(func() { close(l.stopping) })
	l.group.Wait()
	l.receiver.stop()
}

func (l *load) stopped(ctx context.Context) bool {
	select {
	case <-l.stopping:
		return true
	default:
		return ctx.Err() != nil
	}
}

// takeSlowest returns the slowest request since the last call.
func (l *load) takeSlowest() time.Duration { return time.Duration(l.slowest.Swap(0)) }

// send sends a request until it has a response other than the documented 503. It returns when that
// attempt was sent, and ok is false if ctx ended.
func (l *load) send(ctx context.Context, q request) (r response, sent time.Time, ok bool) {
	for ctx.Err() == nil {
		sent = time.Now()
		r, err := l.servers.send(ctx, q)
		took := int64(time.Since(sent))
		for slowest := l.slowest.Load(); took > slowest && !l.slowest.CompareAndSwap(slowest, took); slowest = l.slowest.Load() {
		}
		l.requests.Add(1)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			l.fail(&l.other, "%s %s: %v", q.method, q.path, err)
		case r.status == http.StatusServiceUnavailable && r.code == "unavailable":
			l.unavailable.Add(1)
		case r.status >= http.StatusInternalServerError || r.code == "idempotency_in_progress":
			l.fail(&l.other, "%s %s: status %d: %s", q.method, q.path, r.status, r.body)
		default:
			return r, sent, true
		}
		_ = drill.Pause(ctx, retryPause) // the loop ends with ctx
	}
	return r, sent, false
}

// maxShown is how many failures are shown.
const maxShown = 20

// fail counts a failure and keeps the first ones for the verdict.
func (l *load) fail(count *atomic.Int64, format string, arguments ...any) {
	count.Add(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.first) < maxShown {
		l.first = append(l.first, time.Now().UTC().Format("15:04:05.000 ")+fmt.Sprintf(format, arguments...))
	}
}

// firstWrite waits for the first booking that a server acknowledged to a client that sent it after a time.
func (l *load) firstWrite(ctx context.Context, server int, after time.Time) (time.Time, error) {
	for {
		l.mu.Lock()
		for _, a := range l.acks[server] {
			if a.sent.After(after) {
				l.mu.Unlock()
				return a.received, nil
			}
		}
		l.mu.Unlock()
		if err := drill.Pause(ctx, 20*time.Millisecond); err != nil {
			return time.Time{}, fmt.Errorf("server %d acknowledges no booking: %w", server+1, err)
		}
	}
}
