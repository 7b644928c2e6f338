package token

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"chairside/ent"
	"chairside/ent/accesstoken"
	"chairside/ent/predicate"
	"chairside/internal/caller"
	"chairside/internal/clock"
	"chairside/internal/fault"
	"chairside/internal/scope"
)

// Selector chooses tokens: the predicates of package ent/accesstoken.
type Selector = predicate.AccessToken

// maxLength is longer than any token; what exceeds it is not even hashed.
const maxLength = 256

// Resolve finds for whom the token with the given value acts. It fails with
// fault.InvalidToken for a token that is unknown or revoked, with
// fault.ExpiredToken for one past its end or unused for IdleLife, and with
// fault.AccountDisabled where its user is no longer active. It writes the last
// use, at most once an hour; that this could not be written does not fail the
// request, but is returned as a note for the log.
func Resolve(ctx context.Context, client *ent.Client, value string) (c *caller.Caller, unnoted, err error) {
	if len(value) > maxLength {
		return nil, nil, fault.InvalidToken()
	}
	system, now := caller.System(ctx), clock.Now(ctx)
	row, err := client.AccessToken.Query().
		Where(accesstoken.Hash(Hash(value))).
		WithUser().
		WithPractice().
		Only(system)
	switch {
	case ent.IsNotFound(err):
		return nil, nil, fault.InvalidToken()
	case err != nil:
		return nil, nil, fmt.Errorf("token: look up: %w", err)
	case row.RevokedAt != nil:
		return nil, nil, fault.InvalidToken()
	case expired(row, now):
		return nil, nil, fault.ExpiredToken()
	case !row.Edges.User.Active:
		return nil, nil, fault.AccountDisabled()
	}
	zone, err := loadZone(row.Edges.Practice.TimeZone)
	if err != nil {
		return nil, nil, err
	}
	return &caller.Caller{
		PracticeID: row.PracticeID,
		UserID:     row.UserID,
		TokenID:    row.ID,
		SiteID:     row.SiteID,
		Scopes:     scope.Set(strings.Fields(row.Scopes)),
		Zone:       zone,
		Country:    row.Edges.Practice.Country,
		UserSiteID: row.Edges.User.SiteID,
	}, noteUse(system, client, row, now), nil
}

// expired reports whether the token is past its end, or was unused for too long.
func expired(row *ent.AccessToken, now time.Time) bool {
	return now.After(Ends(row)) || row.ExpiresAt != nil && now.Equal(*row.ExpiresAt)
}

// noteUse writes the last use where what is stored is too old. The condition
// stands in the statement as well: of many requests at once, one writes.
func noteUse(ctx context.Context, client *ent.Client, row *ent.AccessToken, now time.Time) error {
	stale := now.Add(-useResolution)
	if row.LastUsedAt != nil && row.LastUsedAt.After(stale) {
		return nil
	}
	return client.AccessToken.Update().
		Where(accesstoken.ID(row.ID), accesstoken.Or(accesstoken.LastUsedAtIsNil(), accesstoken.LastUsedAtLTE(stale))).
		SetLastUsedAt(now).
		Exec(ctx)
}

// zones keeps the time zones that have been read: reading one takes longer
// than the rest of a lookup. It is bounded by the zones there are.
var zones sync.Map // name → *time.Location

func loadZone(name string) (*time.Location, error) {
	if zone, ok := zones.Load(name); ok {
		return zone.(*time.Location), nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("token: the practice's time zone: %w", err)
	}
	zones.Store(name, zone)
	return zone, nil
}
