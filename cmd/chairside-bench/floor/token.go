package floor

import (
	"crypto/sha256"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// caller is a request's user.
type caller struct {
	practice pgtype.UUID
	token    pgtype.UUID
	user     int64
	scopes   string
	zone     *time.Location
}

// may reports whether the token has a scope such as "patient:read", or its bare family.
func (c *caller) may(scope string) bool {
	family, _, _ := strings.Cut(scope, ":")
	for held := range strings.FieldsSeq(c.scopes) {
		if held == scope || held == family {
			return true
		}
	}
	return false
}

const (
	idleLife      = 14 * 24 * time.Hour // life of an unused token
	useResolution = time.Hour           // resolution of the last use
)

const (
	findToken = `SELECT t.id, t.practice_id, t.user_id, t.scopes, t.created_at, t.last_used_at, t.expires_at, u.active, p.time_zone
		FROM access_tokens t JOIN users u ON u.id = t.user_id JOIN practices p ON p.id = t.practice_id
		WHERE t.hash = $1 AND t.revoked_at IS NULL`
	noteUse = `UPDATE access_tokens SET last_used_at = $2 WHERE id = $1`
)

var (
	invalidToken    = failure{http.StatusUnauthorized, "authentication_error", "invalid_token"}
	accountDisabled = failure{http.StatusForbidden, "invalid_access_error", "account_disabled"}
)

// caller looks up the request's token.
func (s *Server) caller(r *http.Request) (*caller, error) {
	value, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		return nil, invalidToken
	}
	hash, now := sha256.Sum256([]byte(value)), time.Now()
	var (
		c             caller
		created       time.Time
		used, expires *time.Time
		active        bool
		zone          string
	)
	err := s.db.QueryRow(r.Context(), findToken, hash[:]).
		Scan(&c.token, &c.practice, &c.user, &c.scopes, &created, &used, &expires, &active, &zone)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, invalidToken
	}
	if err != nil {
		return nil, err
	}
	last := created
	if used != nil {
		last = used.Add(useResolution) // later uses within useResolution are not written
	}
	switch {
	case now.After(last.Add(idleLife)) || expires != nil && !now.Before(*expires):
		return nil, invalidToken
	case !active:
		return nil, accountDisabled
	}
	if used == nil || now.Sub(*used) > useResolution {
		if _, err := s.db.Exec(r.Context(), noteUse, c.token, now); err != nil {
			return nil, err
		}
	}
	c.zone, err = loadZone(zone)
	return &c, err
}

// zones caches time zones.
var zones sync.Map // name → *time.Location

// loadZone is time.LoadLocation with a cache.
func loadZone(name string) (*time.Location, error) {
	if zone, ok := zones.Load(name); ok {
		return zone.(*time.Location), nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, err
	}
	zones.Store(name, zone)
	return zone, nil
}
