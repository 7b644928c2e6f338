package store

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"chairside/internal/principal"
)

// Position is a place in PostgreSQL's log of writes (an LSN). A replica that has replayed a position
// shows everything that was committed before it.
type Position uint64

// newest is a position that no replica reaches.
const newest Position = math.MaxUint64

// ParsePosition reads the text of Position.String. A text that is none of these stands for a position that
// no replica reaches, so that the primary answers.
func ParsePosition(text string) Position {
	high, low, ok := strings.Cut(text, "/")
	h, err := strconv.ParseUint(high, 16, 32)
	l, lowErr := strconv.ParseUint(low, 16, 32)
	if !ok || err != nil || lowErr != nil {
		return newest
	}
	return Position(h<<32 | l)
}

// String returns the position as PostgreSQL writes it: 16/B374D848.
func (p Position) String() string {
	return fmt.Sprintf("%X/%X", uint64(p)>>32, uint64(p)&math.MaxUint32)
}

// maxClients is the most clients whose positions are kept, of about 100 bytes each.
const maxClients = 16384

// clients remembers how far each client of this process has written or read, and on which replica it read
// last. It may forget: floor then takes the place of what is lost.
type clients struct {
	mu    sync.Mutex
	known map[uuid.UUID]progress
	floor Position // of every client
	// lost is when positions were last lost or could not be read. Until the primary's position has been
	// read after that, no replica may be used; that position is then the floor.
	lost time.Time
}

// progress is how far a client has got.
type progress struct {
	after Position
	on    *replica // preferred for the next read; may be nil
}

// clientOf returns what identifies a client: its token or, for pages, its session.
func clientOf(ctx context.Context) (id uuid.UUID, ok bool) {
	if p, err := principal.From(ctx); err == nil && p.TokenID != uuid.Nil {
		return p.TokenID, true
	}
	return principal.Session(ctx)
}

// of returns the progress of a client, and false if no replica may be used yet.
func (c *clients) of(id uuid.UUID) (p progress, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p = c.known[id]
	p.after = max(p.after, c.floor)
	return p, c.lost.IsZero()
}

// reached notes that a client has seen or written a position.
func (c *clients) reached(id uuid.UUID, at Position, on *replica) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, known := c.known[id]
	if !known && len(c.known) >= maxClients {
		clear(c.known)
		c.lost = time.Now()
	}
	if p.after = max(p.after, at); on != nil {
		p.on = on
	}
	c.known[id] = p
}

// forget notes that positions were lost.
func (c *clients) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lost = time.Now()
}

// restart forgets all positions of a server whose place another one has taken.
func (c *clients) restart(at Position) {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.known)
	c.floor = at
}

// measured takes the primary's position, for which it was asked at a time, as the floor if positions were
// lost before that.
func (c *clients) measured(asked time.Time, at Position) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.lost.IsZero() && asked.After(c.lost) {
		c.floor, c.lost = max(c.floor, at), time.Time{}
	}
}
