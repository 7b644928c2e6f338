package admission

import (
	"context"
	"sync/atomic"

	"github.com/google/uuid"

	"chairside/internal/principal"
)

// Kinds that are not families of operations.
const (
	// Tokens is the lookup of access tokens. It precedes every operation, so it must not
	// queue behind one of their kinds.
	Tokens = "tokens"
	// ReportTurns is the wait of a report for its turn, which comes before its wait for a connection.
	ReportTurns = "report_turns"
	// Other is the kind of a context that names none.
	Other = "other"
)

// load is what the gate knows about a request, from its context.
type load struct {
	kind, operation string
	held            atomic.Bool // whether the request has a place from Hold
}

type loadKey struct{}

// With names the kind and the operation of a request. The operation may be empty.
func With(ctx context.Context, kind, operation string) context.Context {
	return context.WithValue(ctx, loadKey{}, &load{kind: kind, operation: operation})
}

// Kind returns the kind that ctx names, or Other.
func Kind(ctx context.Context) string { return loadOf(ctx).kind }

var other = &load{kind: Other}

// loadOf returns the load of ctx, or other.
func loadOf(ctx context.Context) *load {
	if l, ok := ctx.Value(loadKey{}).(*load); ok {
		return l
	}
	return other
}

// share is what a place counts against.
type share struct {
	practice        uuid.UUID // zero if unknown
	kind, operation string
}

func shareOf(ctx context.Context, l *load) share {
	s := share{kind: l.kind, operation: l.operation}
	if c, err := principal.From(ctx); err == nil {
		s.practice = c.PracticeID
	}
	return s
}
