package store

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"chairside/internal/principal"
)

// lsn is a place in PostgreSQL's write-ahead log (a log sequence number). A replica on the same timeline that
// has replayed it shows everything that was committed before it.
type lsn uint64

// newest is a place that no replica reaches.
const newest lsn = math.MaxUint64

// String returns the place as PostgreSQL writes it: 16/B374D848.
func (l lsn) String() string { return fmt.Sprintf("%X/%X", uint64(l)>>32, uint64(l)&math.MaxUint32) }

// Scan implements sql.Scanner.
func (l *lsn) Scan(value any) error {
	n, ok := value.(int64)
	if !ok || n < 0 || n == math.MaxInt64 {
		return errors.New("store: not a position")
	}
	*l = lsn(n)
	return nil
}

// Position is a place in the write-ahead log of a timeline. Each failover begins a new timeline, which goes on
// where the new primary was: what the old one wrote beyond has the same places, and is lost.
type Position struct {
	timeline int64
	at       lsn
}

// ParsePosition reads the text of Position.String. A text that is none of these stands for a position that
// no replica reaches, so that the primary answers.
func ParsePosition(text string) Position {
	timeline, place, _ := strings.Cut(text, ":")
	high, low, ok := strings.Cut(place, "/")
	t, err := strconv.ParseInt(timeline, 10, 32)
	h, highErr := strconv.ParseUint(high, 16, 32)
	l, lowErr := strconv.ParseUint(low, 16, 32)
	if !ok || err != nil || highErr != nil || lowErr != nil || t < 1 {
		return Position{at: newest}
	}
	return Position{timeline: t, at: lsn(h<<32 | l)}
}

// String returns the position as clients send it: 2:16/B374D848.
func (p Position) String() string { return strconv.FormatInt(p.timeline, 10) + ":" + p.at.String() }

// errOldTimeline is the error of reading the position of a primary that another one has replaced.
var errOldTimeline = errors.New("store: another primary has taken the place of this one")

// maxClients is the most clients whose positions are kept, of about 100 bytes each.
const maxClients = 16384

// clients remembers how far each client of this process has written or read, and on which replica it read
// last. It may forget: floor then takes the place of what is lost.
type clients struct {
	mu       sync.Mutex
	timeline int64 // of the primary, and of all places below; 0 until it is known
	known    map[uuid.UUID]progress
	floor    lsn // of every client
	// lost is when positions were last lost or could not be read. Until the primary's position has been
	// read after that, no replica may be used; that position is then the floor.
	lost time.Time
}

// progress is how far a client has got.
type progress struct {
	after lsn // what a replica must have replayed that the client has not read from
	// on is the replica that it read from last, preferred for the next read; nil for none. That server cannot
	// show less later, so it needs to have replayed only what the client has seen elsewhere.
	on          *replica
	incarnation int64
	shown       lsn // replayed there for certain
	elsewhere   lsn // seen on the primary, on other replicas or through other processes
}

// clientOf returns what identifies a client: its token or, for pages, its session.
func clientOf(ctx context.Context) (id uuid.UUID, ok bool) {
	if p, err := principal.From(ctx); err == nil && p.TokenID != uuid.Nil {
		return p.TokenID, true
	}
	return principal.Session(ctx)
}

// of returns the progress of a client and its timeline, and false if no replica may be used yet.
func (c *clients) of(id uuid.UUID) (p progress, timeline int64, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p = c.known[id]
	p.after, p.elsewhere = max(p.after, c.floor), max(p.elsewhere, c.floor)
	return p, c.timeline, c.timeline != 0 && c.lost.IsZero()
}

// reached notes that a client has seen on the primary, or written, what is before a place. If a failover is
// noticed meanwhile, the place is one of the timeline before, and holds the client to the primary for longer
// than it needs.
func (c *clients) reached(id uuid.UUID, at lsn) {
	c.update(id, func(p *progress) {
		p.after, p.elsewhere = max(p.after, at), max(p.elsewhere, at)
	})
}

// showed notes that a client has read from a replica that had replayed a place, and may have seen what is
// before another one.
func (c *clients) showed(id uuid.UUID, replayed, within lsn, on *replica, incarnation int64) {
	c.update(id, func(p *progress) {
		if p.on != on || p.incarnation != incarnation {
			*p = progress{after: p.after, on: on, incarnation: incarnation, elsewhere: max(p.elsewhere, p.after)}
		}
		p.after, p.shown = max(p.after, within), max(p.shown, replayed)
	})
}

func (c *clients) update(id uuid.UUID, change func(*progress)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, known := c.known[id]
	if !known && len(c.known) >= maxClients {
		clear(c.known)
		c.lost = time.Now()
	}
	change(&p)
	c.known[id] = p
}

// forget notes that positions were lost.
func (c *clients) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lost = time.Now()
}

// see notes the timeline of the primary, before anybody learns of its position, and returns the timeline
// before. On a new one it forgets all places, which are those of the old one. It refuses an older timeline.
func (c *clients) see(at Position) (before int64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before = c.timeline
	switch {
	case at.timeline < before:
		return before, errOldTimeline
	case at.timeline > before:
		clear(c.known)
		c.timeline, c.floor = at.timeline, at.at
	}
	return before, nil
}

// current returns the timeline of the primary; 0 until it is known.
func (c *clients) current() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.timeline
}

// restart forgets all positions of a database whose place another one has taken.
func (c *clients) restart(at Position) {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.known)
	c.timeline, c.floor = at.timeline, at.at
}

// measured takes the primary's position, for which it was asked at a time, as the floor if positions were
// lost before that.
func (c *clients) measured(asked time.Time, at lsn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.lost.IsZero() && asked.After(c.lost) {
		c.floor, c.lost = max(c.floor, at), time.Time{}
	}
}
