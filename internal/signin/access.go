package signin

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/accesstoken"
	"chairside/ent/authorizationcode"
	"chairside/ent/passkey"
	"chairside/ent/session"
	"chairside/internal/clock"
	"chairside/internal/principal"
	"chairside/internal/token"
)

// Kinds is a set of kinds of access to a user's account.
type Kinds uint8

// The kinds of access.
const (
	BySession     Kinds = 1 << iota // browser sessions
	ByToken                         // personal access tokens
	ByApplication                   // applications' tokens, and codes that they can exchange for one
	ByPasskey                       // passkeys, with which the user signs in

	// byAnything is all access that exists. A passkey is like a password: it gets new access.
	byAnything = BySession | ByToken | ByApplication
)

// grant is a table whose rows give access to a user's account.
type grant struct {
	table string
	// end ends the access by a user's rows of the given kinds, except the session keep.
	end func(ctx context.Context, tx *ent.Client, userID int64, kinds Kinds, keep uuid.UUID) error
}

// grants lists all such tables. A test fails for a table that references users, holds
// a secret and is not listed. Codes end before tokens, because a code may become a
// token.
var grants = []grant{
	{session.Table, endSessions},
	{authorizationcode.Table, endCodes},
	{accesstoken.Table, endTokens},
	{passkey.Table, removePasskeys},
}

// EndAccess ends a user's access of the given kinds, permanently and on every server
// process. The caller must have written or locked the user's row (store.HoldAccess),
// so that no new access is created meanwhile. tx is the client of a transaction.
func EndAccess(ctx context.Context, tx *ent.Client, userID int64, kinds Kinds) error {
	return endAccess(ctx, tx, userID, kinds, uuid.Nil)
}

// endAccess is EndAccess, except for the session keep.
func endAccess(ctx context.Context, tx *ent.Client, userID int64, kinds Kinds, keep uuid.UUID) error {
	ctx = principal.AsSystem(ctx)
	for _, g := range grants {
		if err := g.end(ctx, tx, userID, kinds, keep); err != nil {
			return fmt.Errorf("end access through %s: %w", g.table, err)
		}
	}
	return nil
}

func endSessions(ctx context.Context, tx *ent.Client, userID int64, kinds Kinds, keep uuid.UUID) error {
	if kinds&BySession == 0 {
		return nil
	}
	_, err := tx.Session.Delete().Where(session.UserID(userID), session.IDNEQ(keep)).Exec(ctx)
	return err
}

// endCodes deletes the unused codes. Used codes stay, so that a second use is
// detected.
func endCodes(ctx context.Context, tx *ent.Client, userID int64, kinds Kinds, _ uuid.UUID) error {
	if kinds&ByApplication == 0 {
		return nil
	}
	_, err := tx.AuthorizationCode.Delete().Where(authorizationcode.UserID(userID), authorizationcode.UsedAtIsNil()).Exec(ctx)
	return err
}

// endTokens revokes the user's tokens of the given kinds.
func endTokens(ctx context.Context, tx *ent.Client, userID int64, kinds Kinds, _ uuid.UUID) error {
	where := []token.Selector{accesstoken.UserID(userID)}
	switch kinds & (ByToken | ByApplication) {
	case 0:
		return nil
	case ByToken:
		where = append(where, accesstoken.ApplicationIDIsNil())
	case ByApplication:
		where = append(where, accesstoken.ApplicationIDNotNil())
	}
	return token.Revoke(ctx, tx, where...)
}

// removePasskeys removes the user's passkeys, one by one: the audit log has an entry for each.
func removePasskeys(ctx context.Context, tx *ent.Client, userID int64, kinds Kinds, _ uuid.UUID) error {
	if kinds&ByPasskey == 0 {
		return nil
	}
	rows, err := tx.Passkey.Query().Where(passkey.UserID(userID)).All(ctx)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if err := tx.Passkey.DeleteOne(row).Exec(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Access counts a user's access.
type Access struct {
	Sessions     int
	Tokens       int // personal access tokens
	Applications int // applications with a token or an unused code
	Passkeys     int
}

// AccessOf counts a user's current access of the given kinds.
func AccessOf(ctx context.Context, client *ent.Client, userID int64, kinds Kinds) (a Access, err error) {
	now := clock.Now(ctx)
	ctx = principal.AsSystem(ctx)
	if kinds&BySession != 0 {
		if a.Sessions, err = client.Session.Query().Where(session.UserID(userID), session.ExpiresAtGT(now)).Count(ctx); err != nil {
			return a, fmt.Errorf("signin: count sessions: %w", err)
		}
	}
	if kinds&ByPasskey != 0 {
		if a.Passkeys, err = client.Passkey.Query().Where(passkey.UserID(userID)).Count(ctx); err != nil {
			return a, fmt.Errorf("signin: count passkeys: %w", err)
		}
	}
	tokens, err := client.AccessToken.Query().Where(accesstoken.UserID(userID), accesstoken.RevokedAtIsNil()).All(ctx)
	if err != nil {
		return a, fmt.Errorf("signin: count tokens: %w", err)
	}
	applications := map[uuid.UUID]bool{}
	for _, t := range tokens {
		switch {
		case token.StateOf(t, now) != "active":
		case t.ApplicationID != nil:
			applications[*t.ApplicationID] = true
		case kinds&ByToken != 0:
			a.Tokens++
		}
	}
	if kinds&ByApplication == 0 {
		return a, nil
	}
	codes, err := client.AuthorizationCode.Query().
		Where(authorizationcode.UserID(userID), authorizationcode.UsedAtIsNil(), authorizationcode.ExpiresAtGT(now)).
		All(ctx)
	if err != nil {
		return a, fmt.Errorf("signin: count codes: %w", err)
	}
	for _, c := range codes {
		applications[c.ApplicationID] = true
	}
	a.Applications = len(applications)
	return a, nil
}
