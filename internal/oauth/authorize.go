package oauth

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"chairside/ent"
	"chairside/ent/accesstoken"
	"chairside/ent/authorizationcode"
	"chairside/internal/clock"
	"chairside/internal/principal"
	"chairside/internal/scope"
	"chairside/internal/token"
)

const (
	// CodeLife is the life of a code.
	CodeLife = 10 * time.Minute
	// codeMemory is how long an expired code is kept at least. It stays while its
	// token is in use, so that a second use is detected.
	codeMemory = token.IdleLife
)

// Offer is an authorization request's scopes, split by the user's role.
type Offer struct {
	Granted scope.Set // scopes that the role allows
	LeftOut scope.Set // requested scopes beyond the role
}

// Offer splits the requested scopes by the user's role.
func (q *Request) Offer(user *ent.User) Offer {
	limit := user.Role.PermissionLevel().MayHold()
	return Offer{Granted: q.Scopes.Within(limit), LeftOut: q.Scopes.Beyond(limit)}
}

// Allow stores a code for the scopes that q offers to the caller's user, and returns
// the URL that delivers it to the application. If the offer is empty, the URL delivers
// a refusal.
func (s *Server) Allow(ctx context.Context, q *Request, user *ent.User) (address string, err error) {
	offer := q.Offer(user)
	if len(offer.Granted) == 0 {
		return s.redirection(q, "access_denied", "The user's role allows none of these scopes.").Address, nil
	}
	c, now := principal.Must(ctx), clock.Now(ctx)
	value, hash := token.Mint(token.Code)
	err = s.db.Tx(ctx, func(tx *ent.Client) error {
		if err := deleteOldCodes(ctx, tx, now); err != nil {
			return err
		}
		err := tx.AuthorizationCode.Create().
			SetHash(hash).
			SetPracticeID(c.PracticeID).
			SetApplicationID(q.Application.ID).
			SetUserID(user.ID).
			SetRedirectURI(q.RedirectURI).
			SetScopes(offer.Granted.String()).
			SetChallenge(q.sent["code_challenge"]).
			SetExpiresAt(now.Add(CodeLife)).
			Exec(ctx)
		if err != nil {
			return fmt.Errorf("store the code: %w", err)
		}
		return nil
	})
	return s.responseURL(q, url.Values{"code": {value}}), err
}

// deleteOldCodes deletes old codes whose tokens are no longer in use.
func deleteOldCodes(ctx context.Context, tx *ent.Client, now time.Time) error {
	inUse := authorizationcode.HasTokenWith(accesstoken.RevokedAtIsNil(), accesstoken.LastUsedAtGTE(now.Add(-token.IdleLife)))
	_, err := tx.AuthorizationCode.Delete().
		Where(
			authorizationcode.ExpiresAtLT(now.Add(-codeMemory)),
			authorizationcode.Or(authorizationcode.TokenIDIsNil(), authorizationcode.Not(inUse)),
		).
		Exec(ctx)
	if err != nil {
		return fmt.Errorf("delete old codes: %w", err)
	}
	return nil
}

// Deny returns the URL that delivers the user's refusal to the application.
func (s *Server) Deny(q *Request) (address string) {
	return s.redirection(q, "access_denied", "The user denied the request.").Address
}
