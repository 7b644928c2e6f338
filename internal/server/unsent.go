package server

import (
	"container/list"
	"net/http"
	"sync"
	"time"

	"chairside/internal/clock"
)

const (
	// maxUnsent is the most bytes of answers that wait in memory for their readers.
	maxUnsent = 32 << 20
	// minUnsent is the least size of an answer that is counted, in bytes.
	minUnsent = 16 << 10
	// sendPart is how much of an answer is sent at once, in bytes.
	sendPart = 64 << 10
	// stallTime is how long a reader may take for one part.
	stallTime = 30 * time.Second
)

// unsent bounds the memory of answers that are written faster than they are read. The
// system takes some of an answer for its reader; the rest waits here. A reader
// who takes no part for stallTime is cut off, and where readers together leave more
// than maxUnsent, those who have been reading for longest are.
type unsent struct {
	most  int64
	stall time.Duration

	mu      sync.Mutex
	bytes   int64
	dropped int64
	answers *list.List // of *sending, the oldest first
}

type sending struct {
	left       int64
	last       time.Time // when all of it has to be sent
	cutOff     bool
	controller *http.ResponseController
}

func newUnsent(most int64) *unsent { return &unsent{most: most, stall: stallTime, answers: list.New()} }

// write writes an answer, or a part of one, in parts.
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
	for e, over := u.answers.Front(), u.bytes-u.most; e != entry && over > 0; e = e.Next() {
		if old := e.Value.(*sending); !old.cutOff {
			old.cutOff = true
			u.dropped++
			_ = old.controller.SetWriteDeadline(time.Unix(1, 0)) // its write fails at once
		}
		over -= e.Value.(*sending).left
	}
	return entry
}

// extend gives the reader time for the next part, but not beyond writeTime for all
// of the answer. The answer is still one that its handler writes, so the
// connection is its own; that is why all of this is done with mu held.
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
	_ = s.controller.SetWriteDeadline(until) // of a test's recorder there is none
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

// usage is how many bytes wait now, and how many readers were cut off for others.
func (u *unsent) usage() (bytes, dropped int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.bytes, u.dropped
}
