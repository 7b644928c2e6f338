package oauth

import (
	"context"
	"crypto/subtle"
	"fmt"
	"net/http"
	"net/url"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/application"
	"chairside/internal/principal"
	"chairside/internal/token"
)

// authenticate authenticates the application that sends a request (RFC 6749, section
// 2.3.1): a confidential one by its secret, in the header or in the body but not in
// both; a public one by its id.
func (s *Server) authenticate(ctx context.Context, r *http.Request, p params) (*ent.Application, error) {
	id, secret := p["client_id"], p["client_secret"]
	refused := &Error{Status: http.StatusUnauthorized, Code: "invalid_client", Description: "The application is unknown, or its secret is incorrect."}
	if headers := r.Header.Values("Authorization"); len(headers) > 0 {
		refused.basic = true
		if secret != "" || len(headers) > 1 {
			return nil, invalidRequest("Send the client secret either in the header or in the body.")
		}
		named := id
		var ok bool
		if id, secret, ok = basic(r); !ok || secret == "" {
			return nil, refused
		}
		if named != "" && named != id {
			return nil, invalidRequest("client_id differs from the Authorization header.")
		}
	}
	if id == "" {
		return nil, refused
	}
	app, err := s.application(ctx, id)
	switch {
	case err != nil:
		return nil, err
	case app == nil || !secretMatches(app, secret):
		return nil, refused
	}
	return app, nil
}

// basic parses the Authorization header. In OAuth both parts are form-encoded (RFC
// 6749, section 2.3.1).
func basic(r *http.Request) (id, secret string, ok bool) {
	id, secret, ok = r.BasicAuth()
	id, wrongID := url.QueryUnescape(id)
	secret, wrongSecret := url.QueryUnescape(secret)
	return id, secret, ok && wrongID == nil && wrongSecret == nil
}

// secretMatches reports whether the secret is the application's. A public application must
// send none.
func secretMatches(app *ent.Application, secret string) bool {
	if app.Public {
		return secret == ""
	}
	return app.SecretHash != nil && subtle.ConstantTimeCompare(token.Hash(secret), *app.SecretHash) == 1
}

// application finds an application by its client ID in canonical form, or returns nil.
func (s *Server) application(ctx context.Context, clientID string) (*ent.Application, error) {
	id, err := uuid.Parse(clientID)
	if err != nil || id.String() != clientID {
		return nil, nil
	}
	app, err := s.db.Ent.Application.Query().
		Where(application.ID(id), application.DeletedAtIsNil()).
		WithOwner().
		Only(principal.AsSystemWithin(ctx))
	switch {
	case ent.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("find the application: %w", err)
	}
	return app, nil
}
