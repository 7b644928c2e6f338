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
	// CodeLife is how long a code can be exchanged.
	CodeLife = 10 * time.Minute
	// codeMemory is how long after its end a code is kept at least. It stays for
	// as long as the token it gave is in use, so that a second use is noticed.
	codeMemory = token.IdleLife
)

// Offer is what a user can allow of an authorization request.
type Offer struct {
	Granted scope.Set // what the application gets
	LeftOut scope.Set // what it asks for beyond the user's role, and does not get
}

// Offer splits the requested scopes by what the user's role may hold.
func (q *Request) Offer(user *ent.User) Offer {
	limit := user.Role.PermissionLevel().MayHold()
	return Offer{Granted: q.Scopes.Within(limit), LeftOut: q.Scopes.Beyond(limit)}
}

// Allow records that the user, who is the caller's, allows what q offers, and
// gives the address that brings the code to the application. Where nothing is
// offered, the address brings a refusal.
func (s *Server) Allow(ctx context.Context, q *Request, user *ent.User) (address string, err error) {
	offer := q.Offer(user)
	if len(offer.Granted) == 0 {
		return s.redirection(q, "access_denied", "The user's role allows none of these scopes.").Address, nil
	}
	c, now := principal.Must(ctx), clock.Now(ctx)
	value, hash := token.Mint(token.Code)
	err = s.db.Tx(ctx, func(tx *ent.Client) error {
		if err := forget(ctx, tx, now); err != nil {
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
			return fmt.Errorf("oauth: store a code: %w", err)
		}
		return nil
	})
	return s.answer(q, url.Values{"code": {value}}), err
}

// forget removes the codes of which nothing is left to be ended.
func forget(ctx context.Context, tx *ent.Client, now time.Time) error {
	inUse := authorizationcode.HasTokenWith(accesstoken.RevokedAtIsNil(), accesstoken.LastUsedAtGTE(now.Add(-token.IdleLife)))
	_, err := tx.AuthorizationCode.Delete().
		Where(
			authorizationcode.ExpiresAtLT(now.Add(-codeMemory)),
			authorizationcode.Or(authorizationcode.TokenIDIsNil(), authorizationcode.Not(inUse)),
		).
		Exec(ctx)
	if err != nil {
		return fmt.Errorf("oauth: forget old codes: %w", err)
	}
	return nil
}

// Deny gives the address that tells the application that the user does not
// allow it.
func (s *Server) Deny(q *Request) (address string) {
	return s.redirection(q, "access_denied", "The user did not allow it.").Address
}
