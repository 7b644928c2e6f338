package signin

import (
	"context"
	"errors"

	"chairside/ent"
	"chairside/internal/principal"
	"chairside/internal/signin/password"
	"chairside/internal/store"
)

// What ends when (behaviour.md section 7), one function per event. Each takes the
// client of a transaction and first writes the user's row, which keeps new access
// out until the transaction ends; then EndAccess ends what there is.
//
//	event                      ends
//	ChangePassword             other sessions; on request tokens and applications
//	ResetPassword              sessions, applications, and tokens unless kept
//	Disable                    everything
//	Enable                     everything: what acted before stays dead
//	ResetSecondFactor          sessions
//	RevokeTokens               tokens and applications

// ErrLastAdministrator is returned by Disable for the last active administrator
// of a practice.
var ErrLastAdministrator = store.ErrLastAdministrator

// Force returns a context in which Disable accepts the last active administrator
// of a practice.
func Force(ctx context.Context) context.Context { return store.WithoutAdministrator(ctx) }

// ResetPassword gives a user a new password without asking for the old one.
func ResetPassword(ctx context.Context, tx *ent.Client, u *ent.User, chosen password.Chosen, keepTokens bool) error {
	if err := tx.User.UpdateOne(u).SetPasswordHash(chosen.Hash()).Exec(principal.AsSystem(ctx)); err != nil {
		return err
	}
	return EndAccess(ctx, tx, u.ID, ResetEnds(keepTokens))
}

// ResetEnds is what ResetPassword ends.
func ResetEnds(keepTokens bool) Kinds {
	if keepTokens {
		return byAnything &^ ByToken
	}
	return byAnything
}

// Disable locks a user out of the pages and the API. It fails with
// ErrLastAdministrator.
func Disable(ctx context.Context, tx *ent.Client, u *ent.User) error {
	if err := tx.User.UpdateOne(u).SetActive(false).Exec(principal.AsSystem(ctx)); err != nil {
		return err
	}
	return EndAccess(ctx, tx, u.ID, DisableEnds)
}

// DisableEnds is what Disable ends.
const DisableEnds = byAnything

// Enable lets a disabled user sign in again. It brings nothing back, also where
// something else than Disable made the user inactive, such as an import.
func Enable(ctx context.Context, tx *ent.Client, u *ent.User) error {
	if u.Active {
		return nil
	}
	if err := tx.User.UpdateOne(u).SetActive(true).Exec(principal.AsSystem(ctx)); err != nil {
		return err
	}
	return EndAccess(ctx, tx, u.ID, byAnything)
}

// ResetSecondFactor turns a user's second factor off without asking for a code.
func ResetSecondFactor(ctx context.Context, tx *ent.Client, u *ent.User) error {
	if err := tx.User.UpdateOne(u).SetTotpSecret("").ClearRecoveryCodes().Exec(principal.AsSystem(ctx)); err != nil {
		return err
	}
	return EndAccess(ctx, tx, u.ID, SecondFactorEnds)
}

// SecondFactorEnds is what ResetSecondFactor ends.
const SecondFactorEnds = BySession

// RevokeTokens ends all tokens of a user, and the codes that would give one.
func RevokeTokens(ctx context.Context, tx *ent.Client, u *ent.User) error {
	err := store.HoldAccess(principal.AsSystem(ctx), tx, u.ID)
	if err != nil && !errors.Is(err, store.ErrAccessEnded) { // a disabled user gets no new ones
		return err
	}
	return EndAccess(ctx, tx, u.ID, RevokeEnds)
}

// RevokeEnds is what RevokeTokens ends.
const RevokeEnds = ByToken | ByApplication
