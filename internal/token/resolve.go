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

// Selector chooses tokens: the predicates of package ent/accesstoken.
type Selector = predicate.AccessToken

// maxLength is longer than any token; what exceeds it is not even hashed.
const maxLength = 256

// Resolve finds for whom the token with the given value acts. It fails with
// apierror.InvalidToken for a token that is unknown or revoked, with
// apierror.ExpiredToken for one past its end or unused for IdleLife, and with
// apierror.AccountDisabled where its user is no longer active. It writes the last
// use, at most once an hour; that this could not be written does not fail the
// request, but is returned as a note for the log.
//
// The caller is shared by requests and must not be changed. What is remembered
// only ever lets a token in: before one is refused, the database is asked.
func (c *Cache) Resolve(ctx context.Context, value string) (who *principal.Principal, unnoted, err error) {
	if len(value) > maxLength {
		return nil, nil, apierror.InvalidToken()
	}
	hash, now := sha256.Sum256([]byte(value)), clock.Now(ctx)
	h, _, err := c.memory.Get(ctx, hash,
		func(h *holder) bool { return h.refusal(now) == nil },
		func() (*holder, bool, error) {
			h, err := read(admission.With(ctx, admission.Tokens, "lookUp"), c.client, hash)
			return h, h != nil, err
		})
	if err != nil {
		return nil, nil, err
	}
	if err := h.refusal(now); err != nil {
		return nil, nil, err
	}
	return &h.caller, c.noteUse(ctx, h, now), nil
}

// refusal says why the token lets nobody in now, nil where it does.
func (h *holder) refusal(now time.Time) error {
	switch {
	case h == nil, h.revoked:
		return apierror.InvalidToken()
	case over(h.created, h.lastUsed.Load(), h.expires, now):
		return apierror.ExpiredToken()
	case !h.active:
		return apierror.AccountDisabled()
	}
	return nil
}

// noteUse writes the last use where what is stored is too old. Of many requests
// at once, one of this process writes, and because the condition stands in the
// statement as well, one of all processes.
func (c *Cache) noteUse(ctx context.Context, h *holder, now time.Time) error {
	stale, last := now.Add(-useResolution), h.lastUsed.Load()
	if last != nil && last.After(stale) || !h.lastUsed.CompareAndSwap(last, &now) {
		return nil
	}
	return c.client.AccessToken.Update().
		Where(accesstoken.ID(h.caller.TokenID), accesstoken.Or(accesstoken.LastUsedAtIsNil(), accesstoken.LastUsedAtLTE(stale))).
		SetLastUsedAt(now).
		Exec(principal.AsSystem(admission.With(ctx, admission.Tokens, "noteUse")))
}
