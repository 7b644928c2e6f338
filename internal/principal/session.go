package principal

import (
	"context"

	"github.com/google/uuid"
)

type sessionKey struct{}

// WithSession returns a context for work on behalf of a signed-in browser. What
// gives access is refused once the session has ended, even by a request that
// began before (package store).
func WithSession(ctx context.Context, session uuid.UUID) context.Context {
	return context.WithValue(ctx, sessionKey{}, session)
}

// Session returns the session of ctx, if it has one.
func Session(ctx context.Context) (session uuid.UUID, ok bool) {
	session, ok = ctx.Value(sessionKey{}).(uuid.UUID)
	return session, ok
}
