package server

import (
	"container/list"
	"net/http"
	"sync"
	"time"

	"chairside/internal/clock"
)

const (
	// maxUnsent is the maximum size of all responses in memory that clients have not read.
	maxUnsent = 32 << 20
	// minUnsent is the size from which a response is counted, in bytes.
	minUnsent = 16 << 10
	// sendPart is the size of the parts in which a response is sent, in bytes.
	sendPart = 64 << 10
	// stallTime is how long a client may take to read one part.
	stallTime = 30 * time.Second
)

// unsent limits the memory of responses that clients read slowly. The operating system
// buffers a part of a response; the rest waits here. A client that reads no part for
// stallTime is disconnected. If more than maxUnsent waits in total, the clients that have
// been reading for longest are disconnected.
type unsent struct {
	max   int64
	stall time.Duration

	mu      sync.Mutex
	bytes   int64
	dropped int64
	answers *list.List // of *sending, the oldest first
}

type sending struct {
	left       int64
	last       time.Time // deadline for the whole response
	cutOff     bool
	controller *http.ResponseController
}

func newUnsent(limit int64) *unsent {
	return &unsent{max: limit, stall: stallTime, answers: list.New()}
}

// write writes a response, or a piece of one, in parts.
func (u *unsent) write(w http.ResponseWriter, b []byte) (written int, err error) {
	if len(b) < minUnsent {
		return w.Write(b)
	}
	entry := u.begin(w, len(b))
	defer u.end(entry)
	for len(b) > 0 && err == nil {
		u.extend(entry)
		n := 0
		n, err = w.Write(b[:min(len(b), sendPart)])
		b, written = b[n:], written+n
		u.sent(entry, n)
	}
	return written, err
}

func (u *unsent) begin(w http.ResponseWriter, size int) *list.Element {
	s := &sending{left: int64(size), last: clock.Deadline(writeTime), controller: http.NewResponseController(w)}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.bytes += s.left
	entry := u.answers.PushBack(s)
	for e, over := u.answers.Front(), u.bytes-u.max; e != entry && over > 0; e = e.Next() {
		if old := e.Value.(*sending); !old.cutOff {
			old.cutOff = true
			u.dropped++
			_ = old.controller.SetWriteDeadline(time.Unix(1, 0)) // its write fails at once
		}
		over -= e.Value.(*sending).left
	}
	return entry
}

// extend sets the deadline for the next part, at most writeTime after the first. It holds mu
// so that the response has not ended and the connection is still its own.
func (u *unsent) extend(entry *list.Element) {
	u.mu.Lock()
	defer u.mu.Unlock()
	s := entry.Value.(*sending)
	if s.cutOff {
		return
	}
	until := clock.Deadline(u.stall)
	if s.last.Before(until) {
		until = s.last
	}
	_ = s.controller.SetWriteDeadline(until) // fails for a test's recorder
}

func (u *unsent) sent(entry *list.Element, n int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	entry.Value.(*sending).left -= int64(n)
	u.bytes -= int64(n)
}

func (u *unsent) end(entry *list.Element) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.bytes -= entry.Value.(*sending).left
	u.answers.Remove(entry)
}

// usage returns the bytes that wait now and the number of clients disconnected for others.
func (u *unsent) usage() (bytes, dropped int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.bytes, u.dropped
}
