// Package principal says on whose behalf a piece of work is done.
//
// Every query and mutation asks its context for the caller and is confined to
// the caller's practice (and site, where the token is limited to one). Work
// that belongs to no practice, such as finding the token of a request, says so
// with System; a context with neither is refused.
package principal

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"chairside/internal/scope"
)

// Principal is the token of a request and the user it acts for.
type Principal struct {
	PracticeID uuid.UUID
	UserID     int64           // 0 for the command line
	TokenID    uuid.UUID       // zero for the command line
	SiteID     *uuid.UUID      // set when the token is limited to one site
	Scopes     scope.Effective // what the token may do now; nothing for sessions and the command line
	Zone       *time.Location  // the practice's time zone
	Country    string          // the practice's ISO 3166 country code, for phone numbers
	UserSiteID *uuid.UUID      // the site the user works at, the default for new patients
}

// ErrNoPrincipal is returned for work without a caller in its context: a mistake of
// the program, never of a client.
var ErrNoPrincipal = errors.New("principal: none in the context")

type (
	callerKey struct{}
	systemKey struct{}
)

// With returns a context in which c is the caller.
func With(ctx context.Context, c *Principal) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// From gives the caller of ctx, or ErrNone.
func From(ctx context.Context) (*Principal, error) {
	if c, ok := ctx.Value(callerKey{}).(*Principal); ok && c != nil {
		return c, nil
	}
	return nil, ErrNoPrincipal
}

// Must gives the caller of a request that has passed authentication.
func Must(ctx context.Context) *Principal {
	c, err := From(ctx)
	if err != nil {
		panic(err)
	}
	return c
}

// AsSystem returns a context for work across practices: looking up tokens,
// migrating, seeding, administration. An import rule lists who may use it.
func AsSystem(ctx context.Context) context.Context {
	return context.WithValue(ctx, systemKey{}, true)
}

// AsSystemWithin is AsSystem for the middle of a caller's request: the caller is left
// behind, so that rows of other practices, or of none, can be reached.
func AsSystemWithin(ctx context.Context) context.Context {
	return AsSystem(context.WithValue(ctx, callerKey{}, (*Principal)(nil)))
}

// IsSystem reports whether ctx carries the mark of AsSystem and no caller.
func IsSystem(ctx context.Context) bool {
	system, _ := ctx.Value(systemKey{}).(bool)
	_, err := From(ctx)
	return system && err != nil
}
