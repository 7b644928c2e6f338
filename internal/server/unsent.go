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

// unsentLimiter limits the memory of responses that clients read slowly. The operating system
// buffers the beginning of a response; the rest waits here. A client that reads nothing
// for stallTime is disconnected. If more than maxUnsent waits in total, the clients that have
// been reading for longest are disconnected.
type unsentLimiter struct {
	max   int64
	stall time.Duration

	mu      sync.Mutex
	bytes   int64
	dropped int64
	sending *list.List // of *pendingResponse, the oldest first
}

// pendingResponse is a response that its client has not read completely.
type pendingResponse struct {
	left       int64     // bytes not sent yet
	deadline   time.Time // for the whole response
	cutOff     bool      // disconnected to free memory
	controller *http.ResponseController
}

func newUnsentLimiter(limit int64) *unsentLimiter {
	return &unsentLimiter{max: limit, stall: stallTime, sending: list.New()}
}

// write writes a response, or a piece of one, in parts.
func (u *unsentLimiter) write(w http.ResponseWriter, b []byte) (written int, err error) {
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

// begin registers a response, and disconnects the oldest ones if too many bytes wait.
func (u *unsentLimiter) begin(w http.ResponseWriter, size int) *list.Element {
	s := &pendingResponse{left: int64(size), deadline: clock.Deadline(writeTime), controller: http.NewResponseController(w)}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.bytes += s.left
	entry := u.sending.PushBack(s)
	for e, over := u.sending.Front(), u.bytes-u.max; e != entry && over > 0; e = e.Next() {
		if old := e.Value.(*pendingResponse); !old.cutOff {
			old.cutOff = true
			u.dropped++
			_ = old.controller.SetWriteDeadline(time.Unix(1, 0)) // its write fails at once
		}
		over -= e.Value.(*pendingResponse).left
	}
	return entry
}

// extend sets the deadline for the next part, at most writeTime after the first part. It holds
// mu, so that begin cannot cut the response off at the same time and have its deadline undone.
func (u *unsentLimiter) extend(entry *list.Element) {
	u.mu.Lock()
	defer u.mu.Unlock()
	s := entry.Value.(*pendingResponse)
	if s.cutOff {
		return
	}
	until := clock.Deadline(u.stall)
	if s.deadline.Before(until) {
		until = s.deadline
	}
	_ = s.controller.SetWriteDeadline(until) // fails for a test's recorder
}

// sent counts n bytes as sent.
func (u *unsentLimiter) sent(entry *list.Element, n int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	entry.Value.(*pendingResponse).left -= int64(n)
	u.bytes -= int64(n)
}

// end removes a response, sent or failed.
func (u *unsentLimiter) end(entry *list.Element) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.bytes -= entry.Value.(*pendingResponse).left
	u.sending.Remove(entry)
}

// usage returns the bytes that wait to be sent, and how many clients were ever disconnected
// to free memory.
func (u *unsentLimiter) usage() (bytes, dropped int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.bytes, u.dropped
}
