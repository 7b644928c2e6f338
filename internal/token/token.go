package token

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"time"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/accesstoken"
	"chairside/internal/clock"
	"chairside/internal/principal"
	"chairside/internal/scope"
)

// The prefixes of tokens and secrets. Scanners for leaked secrets look for them.
const (
	Personal = "cs_pat_"    // personal access token
	OAuth    = "cs_oat_"    // an application's token
	Refresh  = "cs_ort_"    // refresh token
	Code     = "cs_code_"   // authorization code
	Secret   = "cs_secret_" // client secret
)

const (
	// IdleLife is the longest life of a token without use.
	IdleLife = 14 * 24 * time.Hour
	// useResolution is the resolution of the stored last use.
	useResolution = time.Hour
)

// Mint generates a token with a prefix. Show the value once and store the hash.
func Mint(prefix string) (value string, hash []byte) {
	var secret [32]byte
	_, _ = rand.Read(secret[:]) // never fails: a broken random source ends the program
	value = prefix + base64.RawURLEncoding.EncodeToString(secret[:])
	return value, Hash(value)
}

// Hash returns the stored form of a token: the SHA-256 of its text.
func Hash(value string) []byte {
	sum := sha256.Sum256([]byte(value))
	return sum[:]
}

// Grant describes a token to create.
type Grant struct {
	Name        string // shown in lists
	Scopes      scope.Set
	Site        *uuid.UUID // limits the token to a site; nil for the whole practice
	ExpiresAt   *time.Time // expiry regardless of use; nil for none
	Application *uuid.UUID // nil for a personal token

	RefreshableUntil *time.Time // expiry of its refresh token; nil without one
}

// Create stores a new token for user and returns its value and id. It fails with
// *BeyondRoleError for scopes beyond the user's role. tx is the client of a
// transaction.
func Create(ctx context.Context, tx *ent.Client, user *ent.User, grant Grant) (value string, id uuid.UUID, err error) {
	if err := CheckRole(user, grant.Scopes); err != nil {
		return "", uuid.Nil, err
	}
	prefix := Personal
	if grant.Application != nil {
		prefix = OAuth
	}
	value, hash := Mint(prefix)
	row, err := tx.AccessToken.Create().
		SetPracticeID(user.PracticeID).
		SetUserID(user.ID).
		SetHash(hash).
		SetName(grant.Name).
		SetScopes(scope.Granted(grant.Scopes.String())).
		SetNillableSiteID(grant.Site).
		SetNillableExpiresAt(grant.ExpiresAt).
		SetNillableApplicationID(grant.Application).
		SetNillableRefreshableUntil(grant.RefreshableUntil).
		Save(principal.AsSystem(ctx))
	if err != nil {
		return "", uuid.Nil, fmt.Errorf("store the token: %w", err)
	}
	return value, row.ID, nil
}

// Ends returns when the token expires if it is not used again: IdleLife after its
// last possible use.
func Ends(row *ent.AccessToken) time.Time { return end(row.CreatedAt, row.LastUsedAt, row.ExpiresAt) }

// end is Ends for the times of a token; lastUse and expires may be nil.
func end(created time.Time, lastUse, expires *time.Time) time.Time {
	idle := created.Add(IdleLife)
	if lastUse != nil { // later uses within useResolution are not written
		idle = lastUse.Add(useResolution + IdleLife)
	}
	if expires != nil && expires.Before(idle) {
		return *expires
	}
	return idle
}

// hasExpired reports whether a token has expired.
func hasExpired(created time.Time, lastUse, expires *time.Time, now time.Time) bool {
	ends := end(created, lastUse, expires)
	if lastUse == nil && (expires == nil || ends.Before(*expires)) {
		return now.After(ends) // the first use may come at the very end of IdleLife
	}
	return !now.Before(ends) // a later use would have been written by now
}

// Revoke revokes the selected tokens. Tokens that are already revoked keep their
// time. tx is the client of a transaction.
func Revoke(ctx context.Context, tx *ent.Client, where ...Selector) error {
	ctx = principal.AsSystem(ctx)
	ids, err := tx.AccessToken.Query().Where(append(where, accesstoken.RevokedAtIsNil())...).IDs(ctx)
	if err != nil {
		return fmt.Errorf("find the tokens to revoke: %w", err)
	}
	for _, id := range ids { // one by one: each gets its own audit entry
		if err := tx.AccessToken.UpdateOneID(id).SetRevokedAt(clock.Now(ctx)).Exec(ctx); err != nil {
			return fmt.Errorf("revoke the token: %w", err)
		}
	}
	return nil
}

// StateOf returns a token's state: "active", "expired" or "revoked".
func StateOf(row *ent.AccessToken, now time.Time) string {
	switch {
	case row.RevokedAt != nil:
		return "revoked"
	case hasExpired(row.CreatedAt, row.LastUsedAt, row.ExpiresAt, now):
		return "expired"
	}
	return "active"
}
