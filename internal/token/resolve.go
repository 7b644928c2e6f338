package token

import (
	"context"
	"crypto/sha256"
	"time"

	"chairside/ent/accesstoken"
	"chairside/ent/predicate"
	"chairside/internal/apierror"
	"chairside/internal/clock"
	"chairside/internal/principal"
	"chairside/internal/store/admission"
)

// Selector selects tokens: the predicates of package ent/accesstoken.
type Selector = predicate.AccessToken

// maxLength is longer than any token; longer values are not hashed.
const maxLength = 256

// Resolve returns the principal of a token. It fails with apierror.InvalidToken for
// an unknown or revoked token, apierror.ExpiredToken, apierror.PracticeClosed, or
// apierror.AccountDisabled if its user is not active. It writes the last use, at most hourly. A failure to write
// it does not fail the request; it is returned as useErr, for the log.
//
// Requests share the principal and must not change it. Before it refuses a token,
// Resolve queries the database.
func (c *Cache) Resolve(ctx context.Context, value string) (who *principal.Principal, useErr, err error) {
	if len(value) > maxLength {
		return nil, nil, apierror.InvalidToken()
	}
	hash, now := sha256.Sum256([]byte(value)), clock.Now(ctx)
	e, _, err := c.memory.Get(ctx, hash,
		func(e *entry) bool { return e.refusal(now) == nil },
		func(ctx context.Context) (*entry, bool, error) {
			e, err := read(admission.With(ctx, admission.Tokens, "lookUp"), c.client, hash)
			return e, e != nil, err
		})
	if err != nil {
		return nil, nil, err
	}
	if err := e.refusal(now); err != nil {
		return nil, nil, err
	}
	return e.principal(now), c.noteUse(ctx, e, now), nil
}

// principal returns the token's principal: for as long as it is lifted, without the limit to a
// site.
func (e *entry) principal(now time.Time) *principal.Principal {
	if e.lifted != nil && now.Before(e.lift) {
		return e.lifted
	}
	return &e.caller
}

// refusal returns why the token is not valid now, or nil.
func (e *entry) refusal(now time.Time) error {
	switch {
	case e == nil, e.revoked:
		return apierror.InvalidToken()
	case hasExpired(e.created, e.lastUsed.Load(), e.expires, now):
		return apierror.ExpiredToken()
	case e.closes != nil && !now.Before(*e.closes):
		return apierror.PracticeClosed()
	case !e.active:
		return apierror.AccountDisabled()
	}
	return nil
}

// noteUse writes the last use if the stored one is too old. Only one of many
// concurrent requests writes: the swap decides within this process, the statement's
// condition among all processes.
func (c *Cache) noteUse(ctx context.Context, e *entry, now time.Time) error {
	stale, last := now.Add(-useResolution), e.lastUsed.Load()
	if last != nil && last.After(stale) || !e.lastUsed.CompareAndSwap(last, &now) {
		return nil
	}
	return c.client.AccessToken.Update().
		Where(accesstoken.ID(e.caller.TokenID), accesstoken.Or(accesstoken.LastUsedAtIsNil(), accesstoken.LastUsedAtLTE(stale))).
		SetLastUsedAt(now).
		Exec(principal.AsSystem(admission.With(ctx, admission.Tokens, "noteUse")))
}
