// Package clock gives every request one reading of the time.
//
// The server reads the clock when a request arrives and puts the reading into the context;
// everything in that request uses it. A write reads the clock again once it holds its locks
// (Refresh), so that it is never dated before a change that it has waited for. Tests put a
// time of their own into the context.
package clock

import (
	"context"
	"time"
)

// Resolution is the precision of every stored time. A time in a response, sent back as a
// filter, then matches exactly (PostgreSQL would round nanoseconds).
const Resolution = time.Millisecond

// Clock reads the current time. The zero value reads the machine's clock.
type Clock func() time.Time

// Now reads c in UTC, truncated to Resolution.
func (c Clock) Now() time.Time {
	if c == nil {
		return Truncate(time.Now())
	}
	return Truncate(c())
}

// Truncate returns t in UTC, truncated to Resolution.
func Truncate(t time.Time) time.Time { return t.UTC().Truncate(Resolution) }

type key struct{}

// reading is one reading of a clock.
type reading struct {
	clock Clock
	at    time.Time
}

// With returns a context with a reading of c.
func (c Clock) With(ctx context.Context) context.Context {
	return context.WithValue(ctx, key{}, reading{clock: c, at: c.Now()})
}

// With returns a context whose clock always reads t.
func With(ctx context.Context, t time.Time) context.Context {
	return Clock(func() time.Time { return t }).With(ctx)
}

// Refresh returns a context with a new reading of the clock of ctx. A transaction calls it
// once it holds its locks, so that the later of two changes to a record also has the later
// time, and a client that polls with updated_after does not miss it. Only a new row may be
// dated shortly before its locks were taken (store.DB.TxSingleStatement).
func Refresh(ctx context.Context) context.Context {
	if r, ok := ctx.Value(key{}).(reading); ok {
		return r.clock.With(ctx)
	}
	return ctx
}

// Now returns the reading in ctx, or reads the machine's clock if ctx has none, as on the
// command line. It is in UTC, truncated to Resolution.
func Now(ctx context.Context) time.Time {
	if r, ok := ctx.Value(key{}).(reading); ok {
		return r.at
	}
	return Clock(nil).Now()
}

var started = time.Now()

// Uptime returns how long the program has been running, on a clock that neither tests nor
// the machine's administrator can set. Use it to measure elapsed time.
func Uptime() time.Duration { return time.Since(started) }

// Deadline returns the machine's time d from now. Deadlines of connections need the real
// time, not that of a test.
func Deadline(d time.Duration) time.Time { return time.Now().Add(d) }
