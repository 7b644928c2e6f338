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
	"chairside/internal/caller"
	"chairside/internal/clock"
	"chairside/internal/scope"
)

// Prefixes of the kinds of token.
const (
	Personal = "cs_pat_"
	OAuth    = "cs_oat_"
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
	Name   string // what it is for, shown in lists
	Scopes scope.Set
	Site   *uuid.UUID // the one site it is limited to; nil for the whole practice
}

// Create stores a new personal token that acts for user and gives its value.
// tx is the client of a transaction.
func Create(ctx context.Context, tx *ent.Client, user *ent.User, grant Grant) (value string, err error) {
	value, hash := Mint(Personal)
	err = tx.AccessToken.Create().
		SetPracticeID(user.PracticeID).
		SetUserID(user.ID).
		SetHash(hash).
		SetName(grant.Name).
		SetScopes(grant.Scopes.String()).
		SetNillableSiteID(grant.Site).
		Exec(caller.System(ctx))
	if err != nil {
		return "", fmt.Errorf("token: store a new token: %w", err)
	}
	return value, nil
}

// Revoke ends the tokens that where selects, at once and for good. Tokens that
// were revoked before keep their time. tx is the client of a transaction.
func Revoke(ctx context.Context, tx *ent.Client, where ...Selector) error {
	ctx = caller.System(ctx)
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
	case expired(row, now):
		return "expired"
	}
	return "active"
}
