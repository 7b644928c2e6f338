package signin

import (
	"context"
	"errors"
	"fmt"

	"chairside/ent"
	"chairside/ent/user"
	"chairside/internal/clock"
	"chairside/internal/principal"
	"chairside/internal/signin/password"
	"chairside/internal/store"
	"chairside/schema"
)

// ErrWrong is returned for a wrong password or code. It does not tell whether
// there is such a user.
var ErrWrong = errors.New("signin: wrong")

// ErrDisabled is returned where the password was right and the user is disabled.
var ErrDisabled = errors.New("signin: the user is disabled")

// Password signs a user in, or the first half of the way where the user has a
// second factor: then needsCode is true, and Code is next. It fails with
// ErrWrong, ErrDisabled and *Throttled.
func (s *Sessions) Password(ctx context.Context, email, given string, from Browser) (needsCode bool, err error) {
	email = schema.NormalizeEmail(email)
	who := account("password", email)
	try, err := s.try(ctx, who, from.Address, passwordLimits)
	if err != nil {
		return false, err
	}
	u, err := s.db.Ent.User.Query().Where(user.Email(email)).Only(principal.AsSystemWithin(ctx)) // whoever has signed in here before
	if err != nil && !ent.IsNotFound(err) {
		return false, fmt.Errorf("signin: find the user: %w", err)
	}
	var hash string // of nobody: takes as long, matches nothing
	if u != nil {
		hash = u.PasswordHash
	}
	right, err := password.Verify(ctx, given, hash)
	switch {
	case err != nil:
		return false, fmt.Errorf("signin: check the password: %w", err)
	case !right:
		return false, ErrWrong
	}
	if err := s.succeed(ctx, try, who, from.Address); err != nil {
		return false, err
	}
	switch {
	case !u.Active:
		return false, ErrDisabled
	case u.TotpSecret != "":
		return true, s.begin(ctx, u, keyPending, from)
	}
	return false, s.enter(ctx, u, from)
}

// enter begins the session of a user who has shown all there is to show.
func (s *Sessions) enter(ctx context.Context, u *ent.User, from Browser) error {
	if err := s.db.Ent.User.UpdateOne(u).SetLastLogin(clock.Now(ctx)).Exec(principal.AsSystemWithin(ctx)); err != nil {
		return fmt.Errorf("signin: note the sign-in: %w", err)
	}
	return s.begin(ctx, u, keyUser, from)
}

// ChangePassword gives the visitor a new password and ends all other sessions;
// with endTokens also the user's tokens and what applications hold. The old
// password must be given. It fails with ErrWrong, *Throttled, and first with
// *Unsuitable for a new password that cannot be chosen.
func (s *Sessions) ChangePassword(ctx context.Context, old, chosen string, endTokens bool, from Browser) error {
	v := From(ctx)
	about := About(v.User, v.Practice().Name)
	if err := password.Check(chosen, about...); err != nil {
		return &Unsuitable{err}
	}
	if err := s.confirm(ctx, old, from); err != nil {
		return err
	}
	hashed, err := password.Choose(ctx, chosen, about...)
	if err != nil {
		return err
	}
	ends := BySession
	if endTokens {
		ends |= ByToken | ByApplication
	}
	return s.asVisitor(ctx, func(tx *ent.Client, u *ent.User) error {
		if err := tx.User.UpdateOne(u).SetPasswordHash(hashed.Hash()).Exec(ctx); err != nil {
			return err
		}
		return endAccess(ctx, tx, u.ID, ends, v.SessionID)
	})
}

// About is what others know of a user, which makes bad passwords.
func About(u *ent.User, practice string) []string {
	return []string{u.Email, u.FirstName, u.LastName, practice}
}

// asVisitor changes the visitor's own row in a transaction that holds it. It
// fails with store.ErrAccessEnded where the session has ended, or somebody else
// has changed the password or the second factor, since the request began.
func (s *Sessions) asVisitor(ctx context.Context, work func(tx *ent.Client, u *ent.User) error) error {
	v := From(ctx)
	return s.db.Tx(ctx, func(tx *ent.Client) error {
		if err := store.HoldAccess(ctx, tx, v.User.ID); err != nil {
			return err
		}
		u, err := tx.User.Get(ctx, v.User.ID)
		switch {
		case err != nil:
			return err
		case proof(u) != proof(v.User):
			return store.ErrAccessEnded
		}
		return work(tx, u)
	})
}

// Unsuitable is returned for a new password that cannot be chosen; its text is
// for the user.
type Unsuitable struct{ error }

// confirm checks the password of the visitor once more, before something that
// a machine left unlocked should not allow.
func (s *Sessions) confirm(ctx context.Context, given string, from Browser) error {
	u := From(ctx).User
	who := account("password", u.Email)
	try, err := s.try(ctx, who, from.Address, passwordLimits)
	if err != nil {
		return err
	}
	right, err := password.Verify(ctx, given, u.PasswordHash)
	switch {
	case err != nil:
		return err
	case !right:
		return ErrWrong
	}
	return s.succeed(ctx, try, who, from.Address)
}
