package oauth

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"chairside/ent"
	"chairside/ent/authorizationcode"
	"chairside/internal/caller"
	"chairside/internal/clock"
	"chairside/internal/token"
)

const (
	// CodeLife is how long a code can be exchanged.
	CodeLife = 10 * time.Minute
	// codeMemory is how long after its end a code is kept, so that a second use
	// is noticed while the token it gave may live.
	codeMemory = token.IdleLife
)

// Allow records that the caller's user allows what q asks for, and gives the
// address that brings the code to the application.
func (s *Server) Allow(ctx context.Context, q *Request) (address string, err error) {
	c, now := caller.Must(ctx), clock.Now(ctx)
	value, hash := token.Mint(token.Code)
	err = s.db.Tx(ctx, func(tx *ent.Client) error {
		_, err := tx.AuthorizationCode.Delete().Where(authorizationcode.ExpiresAtLT(now.Add(-codeMemory))).Exec(ctx)
		if err != nil {
			return fmt.Errorf("oauth: forget old codes: %w", err)
		}
		err = tx.AuthorizationCode.Create().
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

// Deny gives the address that tells the application that the user does not
// allow it.
func (s *Server) Deny(q *Request) (address string) {
	return s.redirection(q, "access_denied", "The user did not allow it.").Address
}
