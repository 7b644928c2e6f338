package admission

import (
	"context"
	"sync/atomic"

	"github.com/google/uuid"

	"chairside/internal/caller"
)

// Kinds that are not families of operations.
const (
	// Tokens is the look-up of tokens. It comes before any operation, so it must
	// not wait behind one kind of them.
	Tokens = "tokens"
	// Other is work whose context names no kind.
	Other = "other"
)

// load is what a context says of its work.
type load struct {
	kind, operation string
	held            atomic.Bool // whether Hold has a place for all of it
}

type loadKey struct{}

// With says what the work of ctx is. An empty operation is the kind's only one.
func With(ctx context.Context, kind, operation string) context.Context {
	return context.WithValue(ctx, loadKey{}, &load{kind: kind, operation: operation})
}

// Kind is the kind of the work of ctx.
func Kind(ctx context.Context) string { return of(ctx).kind }

var other = &load{kind: Other}

func of(ctx context.Context) *load {
	if l, ok := ctx.Value(loadKey{}).(*load); ok {
		return l
	}
	return other
}

// share names what the places of some work count against.
type share struct {
	practice        uuid.UUID // zero where the practice is not known
	kind, operation string
}

func shareOf(ctx context.Context, l *load) share {
	s := share{kind: l.kind, operation: l.operation}
	if c, err := caller.From(ctx); err == nil {
		s.practice = c.PracticeID
	}
	return s
}
