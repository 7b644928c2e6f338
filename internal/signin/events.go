package signin

import (
	"context"
	"errors"

	"chairside/ent"
	"chairside/internal/principal"
	"chairside/internal/signin/password"
	"chairside/internal/store"
)

// Events that end access, one function each. A function takes the client of a transaction
// and first writes the user's row, which blocks new access until the transaction ends.
// Then it calls EndAccess to end existing access.
//
//	event                      ends
//	ChangePassword             other sessions; on request tokens and applications
//	ResetPassword              sessions, applications, passkeys, and tokens unless kept
//	Disable                    everything
//	Enable                     everything: earlier access is not restored
//	ResetSecondFactor          sessions, passkeys
//	RevokeTokens               tokens and applications

// ErrLastAdministrator means that the user is a practice's last active administrator.
var ErrLastAdministrator = store.ErrLastAdministrator

// Force returns a context in which Disable accepts a practice's last active
// administrator.
func Force(ctx context.Context) context.Context { return store.WithoutAdministrator(ctx) }

// ResetPassword sets a user's password without the old one.
func ResetPassword(ctx context.Context, tx *ent.Client, u *ent.User, chosen password.Chosen, keepTokens bool) error {
	if err := tx.User.UpdateOne(u).SetPasswordHash(chosen.Hash()).Exec(principal.AsSystem(ctx)); err != nil {
		return err
	}
	return EndAccess(ctx, tx, u.ID, ResetEnds(keepTokens))
}

// ResetEnds returns the kinds of access that ResetPassword ends. Passkeys are among them: one that
// a thief has added would sign in without the new password.
func ResetEnds(keepTokens bool) Kinds {
	if keepTokens {
		return byAnything&^ByToken | ByPasskey
	}
	return byAnything | ByPasskey
}

// Disable disables a user for the pages and the API. It fails with
// ErrLastAdministrator.
func Disable(ctx context.Context, tx *ent.Client, u *ent.User) error {
	if err := tx.User.UpdateOne(u).SetActive(false).Exec(principal.AsSystem(ctx)); err != nil {
		return err
	}
	return EndAccess(ctx, tx, u.ID, DisableEnds)
}

// DisableEnds is the set of kinds of access that Disable ends. Passkeys stay for Enable, as the
// password does.
const DisableEnds = byAnything

// Enable lets a disabled user sign in again. It restores no access, even if an import
// rather than Disable made the user inactive.
func Enable(ctx context.Context, tx *ent.Client, u *ent.User) error {
	if u.Active {
		return nil
	}
	if err := tx.User.UpdateOne(u).SetActive(true).Exec(principal.AsSystem(ctx)); err != nil {
		return err
	}
	return EndAccess(ctx, tx, u.ID, byAnything)
}

// ResetSecondFactor turns off a user's two-factor authentication without a code, and removes the
// passkeys.
func ResetSecondFactor(ctx context.Context, tx *ent.Client, u *ent.User) error {
	if err := tx.User.UpdateOne(u).ClearTotpSecret().ClearRecoveryCodes().Exec(principal.AsSystem(ctx)); err != nil {
		return err
	}
	return EndAccess(ctx, tx, u.ID, SecondFactorEnds)
}

// SecondFactorEnds is the set of kinds of access that ResetSecondFactor ends.
const SecondFactorEnds = BySession | ByPasskey

// RevokeTokens revokes all tokens of a user, and the unused codes.
func RevokeTokens(ctx context.Context, tx *ent.Client, u *ent.User) error {
	err := store.HoldAccess(principal.AsSystem(ctx), tx, u.ID)
	if err != nil && !errors.Is(err, store.ErrAccessEnded) { // a disabled user gets no new tokens
		return err
	}
	return EndAccess(ctx, tx, u.ID, RevokeEnds)
}

// RevokeEnds is the set of kinds of access that RevokeTokens ends.
const RevokeEnds = ByToken | ByApplication
