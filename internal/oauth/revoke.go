package oauth

import (
	"context"
	"fmt"
	"net/http"

	"chairside/ent"
	"chairside/ent/accesstoken"
	"chairside/internal/principal"
	"chairside/internal/token"
)

// revoke revokes one of the application's own tokens (RFC 7009); a refresh token with its
// access token, and the other way round. The response is the same for any other value, so it
// reveals nothing about other tokens.
func (s *Server) revoke(w http.ResponseWriter, r *http.Request, p params) error {
	ctx := r.Context()
	app, err := s.authenticate(ctx, r, p)
	if err != nil {
		return err
	}
	if p["token"] == "" {
		return invalidRequest("token is required.")
	}
	err = s.db.Tx(principal.AsSystemWithin(ctx), func(tx *ent.Client) error {
		ctx := principal.AsSystemWithin(ctx)
		access, err := tx.RefreshToken.Query().Where(ownRefreshToken(app, p["token"])).QueryToken().Only(ctx)
		if ent.IsNotFound(err) {
			access, err = tx.AccessToken.Query().Where(accesstoken.Hash(token.Hash(p["token"])), accesstoken.ApplicationID(app.ID)).Only(ctx)
		}
		switch {
		case ent.IsNotFound(err):
			return nil
		case err != nil:
			return fmt.Errorf("find the token: %w", err)
		}
		return token.Revoke(actFor(ctx, app, access.PracticeID, access.UserID), tx, accesstoken.ID(access.ID))
	})
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, nil)
	return nil
}

// ownToken finds one of the application's tokens, or returns nil.
func (s *Server) ownToken(ctx context.Context, app *ent.Application, value string) (*ent.AccessToken, error) {
	row, err := s.db.Ent.AccessToken.Query().
		Where(accesstoken.Hash(token.Hash(value)), accesstoken.ApplicationID(app.ID)).
		WithUser().
		Only(principal.AsSystemWithin(ctx))
	switch {
	case ent.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("find the token: %w", err)
	}
	return row, nil
}
