package principal

import (
	"context"

	"github.com/google/uuid"
)

type sessionKey struct{}

// WithSession returns a context for the work of a signed-in browser. Once the session has
// ended, package store refuses writes that grant access, even in a request that began before.
func WithSession(ctx context.Context, session uuid.UUID) context.Context {
	return context.WithValue(ctx, sessionKey{}, session)
}

// Session returns the session of ctx, if it has one.
func Session(ctx context.Context) (session uuid.UUID, ok bool) {
	session, ok = ctx.Value(sessionKey{}).(uuid.UUID)
	return session, ok
}
