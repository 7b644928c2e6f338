// Package clock gives every request one reading of the time.
//
// The server reads the clock when a request arrives and puts the reading into
// the context; everything done for that request uses that one instant. A change
// reads it once more when it holds its locks (Again), for what it checks, its
// stamps and the record of changes: what it has waited for was changed before it,
// and must not be dated after it. Tests put any instant they like into the context.
package clock

import (
	"context"
	"time"
)

// Resolution is the precision of every stored time: a shown value can be sent
// back as a filter and matches exactly (PostgreSQL would round nanoseconds).
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

// Truncate gives t in UTC with the precision that is stored.
func Truncate(t time.Time) time.Time { return t.UTC().Truncate(Resolution) }

type key struct{}

// reading is what a clock said.
type reading struct {
	of Clock
	at time.Time
}

// With returns a context with a reading of c.
func (c Clock) With(ctx context.Context) context.Context {
	return context.WithValue(ctx, key{}, reading{of: c, at: c.Now()})
}

// With returns a context whose reading of the clock is t, and stays t.
func With(ctx context.Context, t time.Time) context.Context {
	return Clock(func() time.Time { return t }).With(ctx)
}

// Refresh returns a context with a new reading of the clock of ctx. A transaction
// calls it when it holds what it waits for, so that of two changes of one record
// the later one also bears the later time, and updated_after does not miss it. A
// new row may be dated a little before its locks were had (store.DB.TxSingleStatement).
func Refresh(ctx context.Context) context.Context {
	if r, ok := ctx.Value(key{}).(reading); ok {
		return r.of.With(ctx)
	}
	return ctx
}

// Now is the reading that ctx carries, or the machine's clock where none was
// taken (the command line). UTC, truncated to Resolution.
func Now(ctx context.Context) time.Time {
	if r, ok := ctx.Value(key{}).(reading); ok {
		return r.at
	}
	return Clock(nil).Now()
}

var started = time.Now()

// Uptime is how long the program has been running. It is for measuring how much
// time has passed in fact: nobody sets it, neither whoever sets the machine's
// clock nor a test.
func Uptime() time.Duration { return time.Since(started) }

// Deadline is the machine's time after d, for deadlines of connections.
func Deadline(d time.Duration) time.Time { return time.Now().Add(d) }
