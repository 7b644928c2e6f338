// Package clock gives every request one reading of the time.
//
// The server reads the clock once when a request arrives and puts the reading
// into the context; everything done for that request (stamps, the record of
// changes, "must be in the future") uses that one instant. Tests put any
// instant they like into the context.
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

// With returns a context whose reading of the clock is t.
func With(ctx context.Context, t time.Time) context.Context {
	return context.WithValue(ctx, key{}, Truncate(t))
}

// Now is the reading that ctx carries, or the machine's clock where none was
// taken (the command line). UTC, truncated to Resolution.
func Now(ctx context.Context) time.Time {
	if t, ok := ctx.Value(key{}).(time.Time); ok {
		return t
	}
	return Clock(nil).Now()
}

var started = time.Now()

// Uptime is how long the program has been running. It is for measuring how much
// time has passed in fact: nobody sets it, neither whoever sets the machine's
// clock nor a test.
func Uptime() time.Duration { return time.Since(started) }
