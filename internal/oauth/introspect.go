package oauth

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"chairside/ent"
	"chairside/internal/clock"
	"chairside/internal/principal"
	"chairside/internal/scope"
	"chairside/internal/token"
)

// introspection is the introspection response (RFC 7662, section 2.2). It does not
// describe the user; the API does, to a token with scope user.
type introspection struct {
	Active    bool   `json:"active"`
	Scope     string `json:"scope,omitempty"`
	ClientID  string `json:"client_id,omitempty"`
	TokenType string `json:"token_type,omitempty"`
	ExpiresAt int64  `json:"exp,omitempty"` // if it is not used again
	IssuedAt  int64  `json:"iat,omitempty"`
	Subject   string `json:"sub,omitempty"` // the user's id
	Issuer    string `json:"iss,omitempty"`
}

// introspect describes one of the application's own tokens; any other value is not
// active. Introspection does not count as use. Public applications may not call it,
// because anyone could in their name.
func (s *Server) introspect(w http.ResponseWriter, r *http.Request, p params) error {
	ctx := r.Context()
	app, err := s.authenticate(ctx, r, p)
	switch {
	case err != nil:
		return err
	case app.Public:
		return &Error{Status: http.StatusUnauthorized, Code: "invalid_client", Description: "Only confidential applications can introspect tokens."}
	case p["token"] == "":
		return invalidRequest("token is required.")
	}
	row, err := s.ownToken(ctx, app, p["token"])
	if err != nil {
		return err
	}
	if row == nil {
		answer, err := s.introspectRefresh(ctx, app, p["token"])
		if err != nil {
			return err
		}
		writeJSON(w, http.StatusOK, answer)
		return nil
	}
	if token.StateOf(row, clock.Now(ctx)) != "active" || !row.Edges.User.Active {
		writeJSON(w, http.StatusOK, introspection{})
		return nil
	}
	writeJSON(w, http.StatusOK, introspection{
		Active: true, Scope: token.Scopes(row, row.Edges.User, app).String(), ClientID: app.ID.String(), TokenType: "bearer",
		ExpiresAt: token.Ends(row).Unix(), IssuedAt: row.CreatedAt.Unix(),
		Subject: strconv.FormatInt(row.UserID, 10), Issuer: s.issuer,
	})
	return nil
}

// introspectRefresh describes one of the application's own refresh tokens; any other value is
// not active.
func (s *Server) introspectRefresh(ctx context.Context, app *ent.Application, value string) (introspection, error) {
	row, err := s.db.Ent.RefreshToken.Query().Where(ownRefreshToken(app, value)).WithToken(withUser).Only(principal.AsSystemWithin(ctx))
	switch {
	case ent.IsNotFound(err):
		return introspection{}, nil
	case err != nil:
		return introspection{}, fmt.Errorf("find the refresh token: %w", err)
	}
	access := row.Edges.Token
	if row.UsedAt != nil || !clock.Now(ctx).Before(row.ExpiresAt) || access.RevokedAt != nil || !access.Edges.User.Active || !app.RefreshTokens {
		return introspection{}, nil
	}
	scopes := scope.Set(strings.Fields(row.Scopes)).Within(strings.Fields(app.Scopes)).Within(access.Edges.User.Role.PermissionLevel().MayHold())
	return introspection{
		Active: true, Scope: scopes.String(), ClientID: app.ID.String(),
		ExpiresAt: row.ExpiresAt.Unix(), IssuedAt: row.CreatedAt.Unix(),
		Subject: strconv.FormatInt(access.UserID, 10), Issuer: s.issuer,
	}, nil
}
