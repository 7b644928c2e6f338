package oauth

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/accesstoken"
	"chairside/ent/application"
	"chairside/ent/authorizationcode"
	"chairside/internal/caller"
	"chairside/internal/clock"
	"chairside/internal/scope"
	"chairside/internal/token"
)

// Authorization is what a user has allowed an application: all the tokens it
// holds of that user together.
type Authorization struct {
	Application *ent.Application
	Owner       *ent.Practice // who registered it
	Scopes      scope.Set
	Since       time.Time
	LastUsed    *time.Time // exact to the hour; nil for never
}

// Authorizations lists what the caller's user has allowed and not taken back,
// by the name of the application.
func Authorizations(ctx context.Context, client *ent.Client) ([]Authorization, error) {
	tokens, err := client.AccessToken.Query().
		Where(accesstoken.UserID(caller.Must(ctx).UserID), accesstoken.ApplicationIDNotNil(), accesstoken.RevokedAtIsNil()).
		Order(accesstoken.ByCreatedAt()).
		All(ctx)
	if err != nil {
		return nil, fmt.Errorf("oauth: list authorizations: %w", err)
	}
	now := clock.Now(ctx)
	tokens = slices.DeleteFunc(tokens, func(t *ent.AccessToken) bool { return token.StateOf(t, now) != "active" })
	byApplication := map[uuid.UUID]*Authorization{}
	for _, t := range tokens {
		a := byApplication[*t.ApplicationID]
		if a == nil {
			a = &Authorization{Since: t.CreatedAt}
			byApplication[*t.ApplicationID] = a
		}
		a.Scopes = append(a.Scopes, strings.Fields(t.Scopes)...)
		if t.LastUsedAt != nil && (a.LastUsed == nil || t.LastUsedAt.After(*a.LastUsed)) {
			a.LastUsed = t.LastUsedAt
		}
	}
	var ids []uuid.UUID
	for id := range byApplication {
		ids = append(ids, id)
	}
	apps, err := client.Application.Query().
		Where(application.IDIn(ids...)).
		WithOwner().
		Order(application.ByName(), application.ByID()).
		All(caller.Across(ctx))
	if err != nil {
		return nil, fmt.Errorf("oauth: list authorized applications: %w", err)
	}
	all := make([]Authorization, len(apps))
	for i, app := range apps {
		all[i] = *byApplication[app.ID]
		all[i].Application, all[i].Owner = app, app.Edges.Owner
		slices.Sort(all[i].Scopes)
		all[i].Scopes = slices.Compact(all[i].Scopes)
	}
	return all, nil
}

// Withdraw takes back what the caller's user has allowed an application. tx is
// the client of a transaction.
func Withdraw(ctx context.Context, tx *ent.Client, applicationID uuid.UUID) error {
	user := caller.Must(ctx).UserID
	_, err := tx.AuthorizationCode.Delete().
		Where(authorizationcode.UserID(user), authorizationcode.ApplicationID(applicationID), authorizationcode.UsedAtIsNil()).
		Exec(ctx)
	if err != nil {
		return fmt.Errorf("oauth: delete codes: %w", err)
	}
	return token.Revoke(ctx, tx, accesstoken.UserID(user), accesstoken.ApplicationID(applicationID))
}
