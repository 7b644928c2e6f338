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

// Prefixes of what is minted here. Scanners for leaked secrets look for them.
const (
	Personal = "cs_pat_"    // a token made by a user or on the command line
	OAuth    = "cs_oat_"    // a token given to an application
	Code     = "cs_code_"   // a code that an application exchanges for a token
	Secret   = "cs_secret_" // what an application proves itself with
)

const (
	// IdleLife is how long a token lives without being used.
	IdleLife = 14 * 24 * time.Hour
	// useResolution is how exactly the last use is known.
	useResolution = time.Hour
)

// Mint makes a token of the kind that prefix names, from the system's random
// source. The value is to be shown once; the hash is to be stored.
func Mint(prefix string) (value string, hash []byte) {
	var secret [32]byte
	_, _ = rand.Read(secret[:]) // never fails: it ends the program instead
	value = prefix + base64.RawURLEncoding.EncodeToString(secret[:])
	return value, Hash(value)
}

// Hash is what is stored of a token: the SHA-256 of its text.
func Hash(value string) []byte {
	sum := sha256.Sum256([]byte(value))
	return sum[:]
}

// Grant is what a new token may do.
type Grant struct {
	Name        string // what it is for, shown in lists
	Scopes      scope.Set
	Site        *uuid.UUID // the one site it is limited to; nil for the whole practice
	ExpiresAt   *time.Time // end of its life, whatever its use; nil for none
	Application *uuid.UUID // whom it is given to; nil makes a personal token
}

// Create stores a new token that acts for user, and gives its value and its
// id. It fails with *BeyondRoleError for scopes that the user's role may not
// hold. tx is the client of a transaction.
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
		Save(principal.AsSystem(ctx))
	if err != nil {
		return "", uuid.Nil, fmt.Errorf("token: store a new token: %w", err)
	}
	return value, row.ID, nil
}

// Ends is when the token ends unless it is used before: IdleLife after its last
// use, as late as that may have been.
func Ends(row *ent.AccessToken) time.Time { return end(row.CreatedAt, row.LastUsedAt, row.ExpiresAt) }

func end(created time.Time, lastUse, expires *time.Time) time.Time {
	idle := created.Add(IdleLife)
	if lastUse != nil { // there may have been one after it that was not written
		idle = lastUse.Add(useResolution + IdleLife)
	}
	if expires != nil && expires.Before(idle) {
		return *expires
	}
	return idle
}

// over reports whether a token is past its end, or was unused for too long.
func over(created time.Time, lastUse, expires *time.Time, now time.Time) bool {
	ends := end(created, lastUse, expires)
	if lastUse == nil && (expires == nil || ends.Before(*expires)) {
		return now.After(ends) // it may be used first at the end of its fourteenth day
	}
	return !now.Before(ends) // a use useResolution after the last is written, so none was
}

// Revoke ends the tokens that where selects, at once and for good. Tokens that
// were revoked before keep their time. tx is the client of a transaction.
func Revoke(ctx context.Context, tx *ent.Client, where ...Selector) error {
	ctx = principal.AsSystem(ctx)
	ids, err := tx.AccessToken.Query().Where(append(where, accesstoken.RevokedAtIsNil())...).IDs(ctx)
	if err != nil {
		return fmt.Errorf("token: look for tokens to revoke: %w", err)
	}
	for _, id := range ids { // one by one: each leaves a record of its own
		if err := tx.AccessToken.UpdateOneID(id).SetRevokedAt(clock.Now(ctx)).Exec(ctx); err != nil {
			return fmt.Errorf("token: revoke: %w", err)
		}
	}
	return nil
}

// StateOf tells a person what has become of a token: "active", "expired" or "revoked".
func StateOf(row *ent.AccessToken, now time.Time) string {
	switch {
	case row.RevokedAt != nil:
		return "revoked"
	case over(row.CreatedAt, row.LastUsedAt, row.ExpiresAt, now):
		return "expired"
	}
	return "active"
}
