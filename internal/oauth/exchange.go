package oauth

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/accesstoken"
	"chairside/ent/authorizationcode"
	"chairside/internal/clock"
	"chairside/internal/principal"
	"chairside/internal/scope"
	"chairside/internal/store"
	"chairside/internal/token"
)

// granted is the token response (RFC 6749, section 5.1). Without a refresh token it has no
// expires_in, because every use extends the token.
type granted struct {
	AccessToken  string `json:"access_token"`
	TokenType    string `json:"token_type"`
	Scope        string `json:"scope"`
	ExpiresIn    int64  `json:"expires_in,omitempty"` // seconds
	RefreshToken string `json:"refresh_token,omitempty"`
}

// token exchanges a code or a refresh token for an access token.
func (s *Server) token(w http.ResponseWriter, r *http.Request, p params) error {
	ctx := r.Context()
	app, err := s.authenticate(ctx, r, p)
	if err != nil {
		return err
	}
	var answer granted
	switch p["grant_type"] {
	case "authorization_code":
		answer, err = s.exchange(ctx, app, p)
	case "refresh_token":
		answer, err = s.refresh(ctx, app, p)
	case "":
		err = invalidRequest("grant_type is required.")
	default:
		err = &Error{Status: http.StatusBadRequest, Code: "unsupported_grant_type", Description: "grant_type must be authorization_code or refresh_token."}
	}
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, answer)
	return nil
}

// verifier matches a code_verifier (RFC 7636, section 4.1).
var verifier = regexp.MustCompile(`^[A-Za-z0-9._~-]{43,128}$`)

// exchange marks the code as used, once, and creates the token.
func (s *Server) exchange(ctx context.Context, app *ent.Application, p params) (answer granted, err error) {
	for _, name := range []string{"code", "redirect_uri"} {
		if p[name] == "" {
			return answer, invalidRequest(name + " is required.")
		}
	}
	challenge := ""
	if sent := p["code_verifier"]; sent != "" {
		if !verifier.MatchString(sent) {
			return answer, invalidGrant("code_verifier must be 43 to 128 letters, digits or -._~.")
		}
		challenge = challengeOf(sent)
	}
	hash := token.Hash(p["code"])
	refused := invalidGrant("The code is unknown, used or expired, or redirect_uri or code_verifier does not match the authorization request.")
	used := false
	err = s.db.Tx(principal.AsSystemWithin(ctx), func(tx *ent.Client) error {
		ctx, now := principal.AsSystemWithin(ctx), clock.Now(ctx)
		if err := lockUser(ctx, tx, hash); err != nil {
			return err
		}
		if !slices.Contains(app.RedirectUris, p["redirect_uri"]) { // not registered, or no longer
			return revokeReplayed(ctx, tx, app, hash)
		}
		n, err := tx.AuthorizationCode.Update().
			Where(
				authorizationcode.Hash(hash),
				authorizationcode.UsedAtIsNil(),
				authorizationcode.ExpiresAtGT(now),
				authorizationcode.ApplicationID(app.ID),
				authorizationcode.RedirectURI(p["redirect_uri"]),
				authorizationcode.Challenge(challenge),
			).
			SetUsedAt(now).
			Save(ctx)
		switch {
		case err != nil:
			return fmt.Errorf("mark the code as used: %w", err)
		case n == 0:
			return revokeReplayed(ctx, tx, app, hash)
		}
		used = true
		answer, err = grant(ctx, tx, app, hash)
		return err
	})
	if err == nil && !used {
		err = refused
	}
	return answer, err
}

// lockUser locks a code's user before the code. Events that end a user's access lock
// in the same order, so there is no deadlock.
func lockUser(ctx context.Context, tx *ent.Client, hash []byte) error {
	code, err := tx.AuthorizationCode.Query().Where(authorizationcode.Hash(hash)).Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("find the code: %w", err)
	}
	err = store.HoldAccess(ctx, tx, code.UserID)
	if errors.Is(err, store.ErrAccessEnded) {
		return nil // refused below, where a second use is handled too
	}
	return err
}

// challengeOf returns a verifier's code_challenge by method S256.
func challengeOf(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// grant creates the token for a code that was just used.
func grant(ctx context.Context, tx *ent.Client, app *ent.Application, hash []byte) (answer granted, err error) {
	code, err := tx.AuthorizationCode.Query().Where(authorizationcode.Hash(hash)).WithUser().Only(ctx)
	if err != nil {
		return answer, fmt.Errorf("read the code: %w", err)
	}
	ctx = actFor(ctx, app, code.PracticeID, code.UserID)
	if !code.Edges.User.Active {
		return answer, invalidGrant("The user is disabled.")
	}
	// The application and the user's role may have changed since the authorization.
	scopes := scope.Set(strings.Fields(code.Scopes)).Within(strings.Fields(app.Scopes))
	if len(scopes) == 0 {
		return answer, invalidGrant("The application is no longer registered for these scopes.")
	}
	scopes = scopes.Within(code.Edges.User.Role.PermissionLevel().MayHold())
	if len(scopes) == 0 {
		return answer, invalidGrant("The user's role no longer allows any of these scopes.")
	}
	access := token.Grant{Name: app.Name, Scopes: scopes, Application: &app.ID}
	if app.RefreshTokens {
		access = access.Refreshable(clock.Now(ctx))
	}
	value, id, err := token.Create(ctx, tx, code.Edges.User, access)
	if err != nil {
		return answer, err
	}
	if err := tx.AuthorizationCode.UpdateOne(code).SetTokenID(id).Exec(ctx); err != nil {
		return answer, fmt.Errorf("store the code's token: %w", err)
	}
	answer = granted{AccessToken: value, TokenType: "bearer", Scope: scopes.String()}
	if app.RefreshTokens {
		err = answer.addRefreshToken(ctx, tx, code.PracticeID, id, scopes)
	}
	return answer, err
}

// revokeReplayed revokes the token of a used code of the application: a second use means
// that the code has leaked (RFC 6749, section 4.1.2).
func revokeReplayed(ctx context.Context, tx *ent.Client, app *ent.Application, hash []byte) error {
	code, err := tx.AuthorizationCode.Query().
		Where(authorizationcode.Hash(hash), authorizationcode.ApplicationID(app.ID), authorizationcode.TokenIDNotNil()).
		Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("read the code: %w", err)
	}
	return token.Revoke(actFor(ctx, app, code.PracticeID, 0), tx, accesstoken.ID(*code.TokenID))
}

// actFor returns a context for what an application does for a user, so that the audit log names both. user is 0 if
// someone else may hold the code or token; the log then names the application alone.
func actFor(ctx context.Context, app *ent.Application, practice uuid.UUID, user int64) context.Context {
	return principal.AsSystemFor(ctx, &principal.Principal{PracticeID: practice, UserID: user, ApplicationID: &app.ID})
}
