package oauth

import (
	"net/http"
	"strconv"

	"chairside/internal/clock"
	"chairside/internal/token"
)

// introspection is what an application learns of its token (RFC 7662, section
// 2.2). Who the user is it asks the API, with a scope for it.
type introspection struct {
	Active    bool   `json:"active"`
	Scope     string `json:"scope,omitempty"`
	ClientID  string `json:"client_id,omitempty"`
	TokenType string `json:"token_type,omitempty"`
	ExpiresAt int64  `json:"exp,omitempty"` // if it is not used before
	IssuedAt  int64  `json:"iat,omitempty"`
	Subject   string `json:"sub,omitempty"` // the id of the user
	Issuer    string `json:"iss,omitempty"`
}

// introspect tells an application about a token of its own; any other text is
// not active. Asking is no use of the token. A public application may not ask:
// anybody could in its name.
func (s *Server) introspect(w http.ResponseWriter, r *http.Request, p params) error {
	ctx := r.Context()
	app, err := s.authenticate(ctx, r, p)
	switch {
	case err != nil:
		return err
	case app.Public:
		return &Error{Status: http.StatusUnauthorized, Code: "invalid_client", Description: "Only applications with a secret may ask about tokens."}
	case p["token"] == "":
		return invalidRequest("token is missing.")
	}
	row, err := s.ownToken(ctx, app, p["token"])
	if err != nil {
		return err
	}
	if row == nil || token.StateOf(row, clock.Now(ctx)) != "active" || !row.Edges.User.Active {
		reply(w, http.StatusOK, introspection{})
		return nil
	}
	reply(w, http.StatusOK, introspection{
		Active: true, Scope: token.Scopes(row, row.Edges.User, app).String(), ClientID: app.ID.String(), TokenType: "bearer",
		ExpiresAt: token.Ends(row).Unix(), IssuedAt: row.CreatedAt.Unix(),
		Subject: strconv.FormatInt(row.UserID, 10), Issuer: s.issuer,
	})
	return nil
}
