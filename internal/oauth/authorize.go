package oauth

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"chairside/ent"
	"chairside/ent/accesstoken"
	"chairside/ent/authorizationcode"
	"chairside/internal/caller"
	"chairside/internal/clock"
	"chairside/internal/token"
)

const (
	// CodeLife is how long a code can be exchanged.
	CodeLife = 10 * time.Minute
	// codeMemory is how long after its end a code is kept at least. It stays for
	// as long as the token it gave is in use, so that a second use is noticed.
	codeMemory = token.IdleLife
)

// Allow records that the caller's user allows what q asks for, and gives the
// address that brings the code to the application.
func (s *Server) Allow(ctx context.Context, q *Request) (address string, err error) {
	c, now := caller.Must(ctx), clock.Now(ctx)
	value, hash := token.Mint(token.Code)
	err = s.db.Tx(ctx, func(tx *ent.Client) error {
		if err := forget(ctx, tx, now); err != nil {
			return err
		}
		err := tx.AuthorizationCode.Create().
			SetHash(hash).
			SetPracticeID(c.PracticeID).
			SetApplicationID(q.Application.ID).
			SetUserID(c.UserID).
			SetRedirectURI(q.RedirectURI).
			SetScopes(q.Scopes.String()).
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
