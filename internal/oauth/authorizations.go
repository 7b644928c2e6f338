package oauth

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/accesstoken"
	"chairside/ent/application"
	"chairside/ent/authorizationcode"
	"chairside/internal/clock"
	"chairside/internal/principal"
	"chairside/internal/scope"
	"chairside/internal/token"
)

// Authorization is an application's access to a user's account: all its tokens for
// the user together.
type Authorization struct {
	Application *ent.Application
	Owner       *ent.Practice // that registered it
	Scopes      scope.Set
	Since       time.Time
	LastUsed    *time.Time // to the hour; nil for never
}

// Authorizations lists the applications that a user of the caller's practice has
// authorised, by name.
func Authorizations(ctx context.Context, client *ent.Client, user *ent.User) ([]Authorization, error) {
	tokens, err := client.AccessToken.Query().
		Where(accesstoken.UserID(user.ID), accesstoken.ApplicationIDNotNil(), accesstoken.RevokedAtIsNil()).
		Order(accesstoken.ByCreatedAt()).
		All(ctx)
	if err != nil {
		return nil, fmt.Errorf("list authorizations: %w", err)
	}
	now := clock.Now(ctx)
	held := map[uuid.UUID][]*ent.AccessToken{} // by application
	for _, t := range tokens {
		if token.InUse(t, now) {
			held[*t.ApplicationID] = append(held[*t.ApplicationID], t)
		}
	}
	ids := slices.Collect(maps.Keys(held))
	apps, err := client.Application.Query().
		Where(application.IDIn(ids...)).
		WithOwner().
		Order(application.ByName(), application.ByID()).
		All(principal.AsSystemWithin(ctx))
	if err != nil {
		return nil, fmt.Errorf("list authorised applications: %w", err)
	}
	all := make([]Authorization, len(apps))
	for i, app := range apps {
		all[i] = summarize(app, user, held[app.ID])
	}
	return all, nil
}

// summarize joins an application's tokens for a user, given oldest first.
func summarize(app *ent.Application, user *ent.User, tokens []*ent.AccessToken) Authorization {
	a := Authorization{Application: app, Owner: app.Edges.Owner, Since: tokens[0].CreatedAt}
	for _, t := range tokens {
		a.Scopes = append(a.Scopes, token.Scopes(t, user, app).Set()...)
		if t.LastUsedAt != nil && (a.LastUsed == nil || t.LastUsedAt.After(*a.LastUsed)) {
			a.LastUsed = t.LastUsedAt
		}
	}
	slices.Sort(a.Scopes)
	a.Scopes = slices.Compact(a.Scopes)
	return a
}

// Withdraw revokes an application's access to the caller's user. tx is the client of
// a transaction.
func Withdraw(ctx context.Context, tx *ent.Client, applicationID uuid.UUID) error {
	user := principal.Must(ctx).UserID
	_, err := tx.AuthorizationCode.Delete().
		Where(authorizationcode.UserID(user), authorizationcode.ApplicationID(applicationID), authorizationcode.UsedAtIsNil()).
		Exec(ctx)
	if err != nil {
		return fmt.Errorf("delete codes: %w", err)
	}
	return token.Revoke(ctx, tx, accesstoken.UserID(user), accesstoken.ApplicationID(applicationID))
}
