package feed

import (
	"context"
	"sync"
	"time"

	"chairside/internal/store/feedlog"
)

// watchEvery is how often the feed is looked at while somebody waits.
const watchEvery = 100 * time.Millisecond

// hub lets any number of callers wait for changes while one goroutine looks at the database.
type hub struct {
	mu       sync.Mutex
	waiting  int           // callers
	watching bool          // whether watch runs
	last     int64         // the last seq that watch saw
	changed  chan struct{} // closed when last changes, or the feed closes
	closed   bool
}

func newHub() hub { return hub{changed: make(chan struct{})} }

// Wait returns once the feed may have changes behind a page, ctx ends, or the feed closes. It
// holds no connection.
func (f *Feed) Wait(ctx context.Context, p Page) {
	h := &f.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waiting++
	if !h.watching {
		h.watching = true
		go f.watch()
	}
	for h.last <= p.end && !h.closed && ctx.Err() == nil {
		changed := h.changed
		h.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
		h.mu.Lock()
	}
	h.waiting--
}

// Close makes all waiting callers return, now and later.
func (f *Feed) Close() {
	f.hub.mu.Lock()
	defer f.hub.mu.Unlock()
	f.hub.closed = true
	f.hub.wake()
}

// wake wakes all callers that wait; the caller holds mu.
func (h *hub) wake() {
	close(h.changed)
	h.changed = make(chan struct{})
}

// watch polls the feed while callers wait. After an error it polls again, so callers wait longer.
func (f *Feed) watch() {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		last, err := f.last(context.Background())
		f.hub.mu.Lock()
		if err == nil && last != f.hub.last {
			f.hub.last = last
			f.hub.wake()
		}
		f.hub.watching = f.hub.waiting > 0
		watching := f.hub.watching
		f.hub.mu.Unlock()
		if !watching {
			return
		}
		<-tick.C
	}
}

// last numbers what is committed, as Read does, and returns the last seq.
func (f *Feed) last(ctx context.Context) (seq int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if _, err := feedlog.SequenceSome(ctx, f.db.SQL, f.db.Dialect); err != nil {
		return 0, err
	}
	return seq, f.db.SQL.QueryRowContext(ctx, "SELECT last_seq FROM feed_state").Scan(&seq)
}
