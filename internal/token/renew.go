package token

import (
	"context"
	"fmt"
	"time"

	"chairside/ent"
	"chairside/internal/clock"
	"chairside/internal/principal"
	"chairside/internal/scope"
)

// RefreshedLife is the life of an access token that can be refreshed.
const RefreshedLife = time.Hour

// Refreshable returns grant for an application with refresh tokens: the access token
// expires after an hour, and can be refreshed for IdleLife.
func (grant Grant) Refreshable(now time.Time) Grant {
	expires, until := now.Add(RefreshedLife), now.Add(IdleLife)
	grant.ExpiresAt, grant.RefreshableUntil = &expires, &until
	return grant
}

// Renew replaces the value of an access token that can be refreshed; the old value stops
// working. The token keeps its id, and with it its rate limit and whatever revokes it. scopes
// must be among those granted; the user's role and the application limit them when they are
// used. tx is the client of a transaction.
func Renew(ctx context.Context, tx *ent.Client, row *ent.AccessToken, scopes scope.Set) (value string, renewed *ent.AccessToken, err error) {
	now := clock.Now(ctx)
	value, hash := Mint(OAuth)
	renewed, err = tx.AccessToken.UpdateOne(row).
		SetHash(hash).
		SetScopes(scope.Granted(scopes.String())).
		SetExpiresAt(now.Add(RefreshedLife)).
		SetRefreshableUntil(now.Add(IdleLife)).
		SetLastUsedAt(now).
		Save(principal.AsSystem(ctx))
	if err != nil {
		return "", nil, fmt.Errorf("renew the token: %w", err)
	}
	return value, renewed, nil
}

// InUse reports whether a token works, or can be refreshed.
func InUse(row *ent.AccessToken, now time.Time) bool {
	refreshable := row.RevokedAt == nil && row.RefreshableUntil != nil && now.Before(*row.RefreshableUntil)
	return refreshable || StateOf(row, now) == "active"
}
