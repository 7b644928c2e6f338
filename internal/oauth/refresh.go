package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/accesstoken"
	"chairside/ent/predicate"
	"chairside/ent/refreshtoken"
	"chairside/internal/clock"
	"chairside/internal/principal"
	"chairside/internal/scope"
	"chairside/internal/store"
	"chairside/internal/token"
)

// refreshMemory is the time for which an expired refresh token is kept.
const refreshMemory = 24 * time.Hour

// refresh exchanges a refresh token for the next one and a new access token (RFC 6749,
// section 6). A second use revokes all tokens of the authorization, because one of the two
// users is a thief (RFC 9700, section 4.14.2).
func (s *Server) refresh(ctx context.Context, app *ent.Application, p params) (answer granted, err error) {
	if p["refresh_token"] == "" {
		return answer, invalidRequest("refresh_token is required.")
	}
	if !app.RefreshTokens {
		return answer, &Error{Status: http.StatusBadRequest, Code: "unauthorized_client", Description: "The application is not registered for refresh tokens."}
	}
	asked, err := scope.Parse(p["scope"])
	if err != nil {
		return answer, invalidScope("scope names an unknown scope.")
	}
	own := ownRefreshToken(app, p["refresh_token"])
	used := false
	err = s.db.Tx(principal.AsSystemWithin(ctx), func(tx *ent.Client) error {
		ctx, now := principal.AsSystemWithin(ctx), clock.Now(ctx)
		row, err := tx.RefreshToken.Query().Where(own).WithToken(withUser).Only(ctx)
		switch {
		case ent.IsNotFound(err):
			return nil
		case err != nil:
			return fmt.Errorf("find the refresh token: %w", err)
		}
		access := row.Edges.Token
		ctx = actFor(ctx, app, access.PracticeID, access.UserID)
		// The user before the token, as in lockUser. A user without access has no tokens.
		if err := store.HoldAccess(ctx, tx, access.UserID); err != nil && !errors.Is(err, store.ErrAccessEnded) {
			return err
		}
		n, err := tx.RefreshToken.Update().
			Where(own, refreshtoken.UsedAtIsNil(), refreshtoken.ExpiresAtGT(now), refreshtoken.HasTokenWith(accesstoken.RevokedAtIsNil())).
			SetUsedAt(now).
			Save(ctx)
		switch {
		case err != nil:
			return fmt.Errorf("mark the refresh token as used: %w", err)
		case n == 0:
			return revokeReused(actFor(ctx, app, access.PracticeID, 0), tx, row.ID)
		}
		used = true
		answer, err = renew(ctx, tx, app, row, asked)
		return err
	})
	if err == nil && !used {
		err = invalidGrant("The refresh token is unknown, used, revoked or expired.")
	}
	return answer, err
}

// withUser reads a token's user with it.
func withUser(q *ent.AccessTokenQuery) { q.WithUser() }

// ownRefreshToken selects a refresh token of the application by its value.
func ownRefreshToken(app *ent.Application, value string) predicate.RefreshToken {
	return refreshtoken.And(refreshtoken.Hash(token.Hash(value)), refreshtoken.HasTokenWith(accesstoken.ApplicationID(app.ID)))
}

// renew issues the next tokens for a refresh token that was just used. asked are the scopes
// of the access token; none means those that the user granted.
func renew(ctx context.Context, tx *ent.Client, app *ent.Application, row *ent.RefreshToken, asked scope.Set) (answer granted, err error) {
	access := row.Edges.Token
	if !access.Edges.User.Active {
		return answer, invalidGrant("The user is disabled.")
	}
	given := scope.Set(strings.Fields(row.Scopes))
	switch {
	case len(asked) == 0:
		asked = given
	case !given.AllowsAll(asked):
		return answer, invalidScope("scope exceeds what the user granted.")
	}
	value, renewed, err := token.Renew(ctx, tx, access, asked)
	if err != nil {
		return answer, err
	}
	scopes := token.Scopes(renewed, access.Edges.User, app).String()
	if scopes == "" {
		return answer, invalidGrant("The application or the user's role no longer allows any of these scopes.")
	}
	answer = granted{AccessToken: value, TokenType: "bearer", Scope: scopes}
	return answer, answer.addRefreshToken(ctx, tx, access.PracticeID, access.ID, given)
}

// addRefreshToken creates a refresh token for an access token. scopes are those that the user
// granted.
func (g *granted) addRefreshToken(ctx context.Context, tx *ent.Client, practice, access uuid.UUID, scopes scope.Set) error {
	now := clock.Now(ctx)
	if _, err := tx.RefreshToken.Delete().Where(refreshtoken.ExpiresAtLT(now.Add(-refreshMemory))).Exec(ctx); err != nil {
		return fmt.Errorf("delete old refresh tokens: %w", err)
	}
	value, hash := token.Mint(token.Refresh)
	err := tx.RefreshToken.Create().
		SetPracticeID(practice).
		SetTokenID(access).
		SetHash(hash).
		SetScopes(scopes.String()).
		SetCreatedAt(now).
		SetExpiresAt(now.Add(token.IdleLife)).
		Exec(ctx)
	if err != nil {
		return fmt.Errorf("store the refresh token: %w", err)
	}
	g.RefreshToken, g.ExpiresIn = value, int64(token.RefreshedLife.Seconds())
	return nil
}

// revokeReused revokes the access token of a refresh token that was used before.
func revokeReused(ctx context.Context, tx *ent.Client, id uuid.UUID) error {
	row, err := tx.RefreshToken.Get(ctx, id) // again: another exchange may have used it meanwhile
	if err != nil {
		return fmt.Errorf("read the refresh token: %w", err)
	}
	if row.UsedAt == nil {
		return nil
	}
	return token.Revoke(ctx, tx, accesstoken.ID(row.TokenID))
}
