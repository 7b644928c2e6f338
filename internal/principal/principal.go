// Package principal identifies the caller of a request.
//
// Every query and mutation takes the principal from its context and is confined to the
// principal's practice, and to its site if the token is limited to one. Work that belongs to
// no practice, such as finding the token of a request, uses AsSystem. A context with neither
// is refused.
package principal

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"chairside/internal/scope"
)

// Principal is the caller: the token of a request and the user that it acts for, or the
// command line.
type Principal struct {
	PracticeID uuid.UUID
	UserID     int64     // 0 for the command line
	TokenID    uuid.UUID // zero for the command line
	// ApplicationID is the application of the token; nil for personal tokens, sessions and the
	// command line.
	ApplicationID *uuid.UUID
	SiteID        *uuid.UUID      // set when the token is limited to one site
	SiteLifted    bool            // a manager has lifted the limit to a site, so SiteID is nil
	Scopes        scope.Effective // what the token may do now; empty for sessions and the command line
	Zone          *time.Location  // the practice's time zone
	Country       string          // the practice's ISO 3166 country code, for phone numbers
	UserSiteID    *uuid.UUID      // the user's own site, the default for new patients
}

// ErrNoPrincipal means that a context has no principal, which is a bug in the program.
var ErrNoPrincipal = errors.New("principal: the context has none")

type (
	principalKey struct{}
	systemKey    struct{}
	actorKey     struct{}
)

// With returns a context with the principal p.
func With(ctx context.Context, p *Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// From returns the principal of ctx, or ErrNoPrincipal.
func From(ctx context.Context) (*Principal, error) {
	if p, ok := ctx.Value(principalKey{}).(*Principal); ok && p != nil {
		return p, nil
	}
	return nil, ErrNoPrincipal
}

// Must returns the principal of a request that has passed authentication.
func Must(ctx context.Context) *Principal {
	p, err := From(ctx)
	if err != nil {
		panic(err)
	}
	return p
}

// AtEverySite returns a context whose principal is not limited to a site, for a rule that must
// see all rows of the practice.
func AtEverySite(ctx context.Context) context.Context {
	p := *Must(ctx)
	p.SiteID = nil
	return With(ctx, &p)
}

// AsSystem returns a context for work across practices: token look-up, migrations, seeding,
// administration. A test in internal/arch lists the packages that may call it.
func AsSystem(ctx context.Context) context.Context {
	return context.WithValue(ctx, systemKey{}, true)
}

// AsSystemWithin is AsSystem within a request: it removes the principal, so that rows of
// other practices, or of none, can be read. The principal remains the Actor.
func AsSystemWithin(ctx context.Context) context.Context {
	ctx = context.WithValue(ctx, actorKey{}, Actor(ctx))
	return AsSystem(context.WithValue(ctx, principalKey{}, (*Principal)(nil)))
}

// AsSystemFor is AsSystemWithin for a caller whose code, token or invitation permits the work. The Actor is p, whoever
// is signed in to the browser. p grants no rights and confines no queries. The session is dropped, so it is not checked
// that it is still open: do not use this for work that a session permits.
func AsSystemFor(ctx context.Context, p *Principal) context.Context {
	ctx = context.WithValue(ctx, sessionKey{}, nil)
	return AsSystemWithin(With(ctx, p))
}

// Actor returns the caller that the audit log of the caller's practice names: the principal, or the one that
// AsSystemWithin removed. It is nil for work that no caller asked for.
func Actor(ctx context.Context) *Principal {
	if p, err := From(ctx); err == nil {
		return p
	}
	p, _ := ctx.Value(actorKey{}).(*Principal)
	return p
}

// IsSystem reports whether ctx comes from AsSystem and has no principal.
func IsSystem(ctx context.Context) bool {
	system, _ := ctx.Value(systemKey{}).(bool)
	_, err := From(ctx)
	return system && err != nil
}
