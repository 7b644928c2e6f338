package token

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"entgo.io/ent/dialect/sql"
	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/accesstoken"
	"chairside/ent/application"
	"chairside/ent/practice"
	"chairside/ent/user"
	"chairside/internal/principal"
	"chairside/internal/scope"
	"chairside/schema"
)

// entry is a cached token with its principal.
type entry struct {
	caller   principal.Principal
	lifted   *principal.Principal // caller without the limit to a site; nil if that was never lifted
	lift     time.Time            // until when it is lifted
	active   bool                 // the user is active
	created  time.Time
	lastUsed atomic.Pointer[time.Time] // nil before the first use
	expires  *time.Time
	revoked  bool       // or its application was deleted
	closes   *time.Time // when the practice closes; nil for never
}

// row is a row of read's query.
type row struct {
	ID         uuid.UUID  `sql:"id"`
	Role       string     `sql:"role"`
	PracticeID uuid.UUID  `sql:"practice_id"`
	UserID     int64      `sql:"user_id"`
	SiteID     *uuid.UUID `sql:"site_id"`
	SiteLifted *time.Time `sql:"site_lifted_until"`
	Scopes     string     `sql:"scopes"`
	CreatedAt  time.Time  `sql:"created_at"`
	LastUsedAt *time.Time `sql:"last_used_at"`
	ExpiresAt  *time.Time `sql:"expires_at"`
	RevokedAt  *time.Time `sql:"revoked_at"`
	UserActive bool       `sql:"user_active"`
	UserSiteID *uuid.UUID `sql:"user_site_id"`
	TimeZone   string     `sql:"time_zone"`
	Country    string     `sql:"country"`
	ClosesAt   *time.Time `sql:"closes_at"`

	ApplicationID *uuid.UUID `sql:"application_id"`
	Registered    *string    `sql:"registered"` // scopes of the application
	DeletedAt     *time.Time `sql:"deleted_at"` // of the application
}

// read queries a token with its user, practice and application. The entry is nil if there
// is no such token.
func read(ctx context.Context, client *ent.Client, hash [sha256.Size]byte) (*entry, error) {
	var rows []row
	err := client.AccessToken.Query().Where(accesstoken.Hash(hash[:])).Modify(func(s *sql.Selector) {
		u, p, a := sql.Table(user.Table), sql.Table(practice.Table), sql.Table(application.Table)
		s.Join(u).On(s.C(accesstoken.FieldUserID), u.C(user.FieldID))
		s.Join(p).On(s.C(accesstoken.FieldPracticeID), p.C(practice.FieldID))
		s.LeftJoin(a).On(s.C(accesstoken.FieldApplicationID), a.C(application.FieldID))
		s.Select(s.Columns(accesstoken.FieldID, accesstoken.FieldPracticeID, accesstoken.FieldUserID, accesstoken.FieldSiteID, accesstoken.FieldSiteLiftedUntil, accesstoken.FieldScopes,
			accesstoken.FieldCreatedAt, accesstoken.FieldLastUsedAt, accesstoken.FieldExpiresAt, accesstoken.FieldRevokedAt,
			accesstoken.FieldApplicationID)...).
			AppendSelect(u.C(user.FieldRole)).
			AppendSelectAs(u.C(user.FieldActive), "user_active").
			AppendSelectAs(u.C(user.FieldSiteID), "user_site_id").
			AppendSelect(p.C(practice.FieldTimeZone), p.C(practice.FieldCountry), p.C(practice.FieldClosesAt)).
			AppendSelectAs(a.C(application.FieldScopes), "registered").
			AppendSelect(a.C(application.FieldDeletedAt))
	}).Scan(principal.AsSystem(ctx), &rows)
	if err != nil {
		return nil, fmt.Errorf("look up the token: %w", err)
	}
	if len(rows) == 0 {
		return nil, nil
	}
	r := rows[0]
	zone, err := loadZone(r.TimeZone)
	if err != nil {
		return nil, err
	}
	e := &entry{
		caller: principal.Principal{
			PracticeID:    r.PracticeID,
			UserID:        r.UserID,
			TokenID:       r.ID,
			ApplicationID: r.ApplicationID,
			SiteID:        r.SiteID,
			Scopes:        limit(scope.Granted(r.Scopes), schema.Role(r.Role), r.ApplicationID, r.Registered),
			Zone:          zone,
			Country:       r.Country,
			UserSiteID:    r.UserSiteID,
		},
		active:  r.UserActive,
		created: r.CreatedAt,
		expires: r.ExpiresAt,
		revoked: r.RevokedAt != nil || r.DeletedAt != nil,
		closes:  r.ClosesAt,
	}
	if r.SiteLifted != nil {
		lifted := e.caller
		lifted.SiteID, lifted.SiteLifted = nil, true
		e.lifted, e.lift = &lifted, *r.SiteLifted
	}
	e.lastUsed.Store(r.LastUsedAt)
	return e, nil
}

// zones caches time zones: loading one takes longer than the rest of a lookup. The
// number of zones bounds it.
var zones sync.Map // name → *time.Location

// loadZone returns a time zone by its IANA name.
func loadZone(name string) (*time.Location, error) {
	if zone, ok := zones.Load(name); ok {
		return zone.(*time.Location), nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("load the practice's time zone: %w", err)
	}
	zones.Store(name, zone)
	return zone, nil
}
