package signin

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/user"
	"chairside/internal/audit"
	"chairside/internal/clock"
	"chairside/internal/principal"
	"chairside/internal/signin/password"
	"chairside/internal/store"
	"chairside/schema"
)

// ErrWrong means an incorrect password or code. It does not reveal whether the user
// exists.
var ErrWrong = errors.New("incorrect e-mail address, password or code")

// ErrDisabled means that the password was correct and the user is disabled.
var ErrDisabled = errors.New("the user is disabled")

// ErrClosed means that the password was correct and the practice is closed, because it is being
// deleted.
var ErrClosed = errors.New("the practice is closed")

// isClosed reports whether the practice of a user is closed; u has its practice.
func isClosed(ctx context.Context, u *ent.User) bool {
	closes := u.Edges.Practice.ClosesAt
	return closes != nil && !clock.Now(ctx).Before(*closes)
}

// admissible refuses a user who has proven who they are, if the user is disabled or the practice is
// closed, and notes that. It fails with ErrDisabled and ErrClosed.
func admissible(ctx context.Context, u *ent.User, method string, from Browser) (err error) {
	switch {
	case isClosed(ctx, u):
		err = ErrClosed
	case !u.Active:
		err = ErrDisabled
	default:
		return nil
	}
	noteSignIn(ctx, "sign_in_failed", u, uuid.Nil, method, from)
	return err
}

// Password signs a user in. If needsFactor is true the password is not enough, and Code or
// PasskeyCode completes the sign-in. It fails with ErrWrong, ErrDisabled, ErrClosed and *Throttled.
func (s *Sessions) Password(ctx context.Context, email, given string, from Browser) (needsFactor bool, err error) {
	email = schema.NormalizeEmail(email)
	who := account("password", email)
	attempt, err := s.countAttempt(ctx, who, from.Address, passwordLimits)
	if err != nil {
		return false, err
	}
	u, err := s.db.Ent.User.Query().Where(user.Email(email)).WithPractice().Only(principal.AsSystemWithin(ctx)) // the browser's session may be another practice's
	if err != nil && !ent.IsNotFound(err) {
		return false, fmt.Errorf("find the user: %w", err)
	}
	var hash string // "" for an unknown user: verifying takes as long and never matches
	if u != nil {
		hash = u.PasswordHash
	}
	right, err := password.Verify(ctx, given, hash)
	switch {
	case err != nil:
		return false, fmt.Errorf("check the password: %w", err)
	case !right:
		noteSignIn(ctx, "sign_in_failed", u, uuid.Nil, "", from)
		return false, ErrWrong
	}
	if err := s.recordSuccess(ctx, attempt, who, from.Address); err != nil {
		return false, err
	}
	if err := admissible(ctx, u, "", from); err != nil {
		return false, err
	}
	enough, err := s.proofs(ctx, u)
	switch {
	case err != nil:
		return false, err
	case !enough.Password:
		return true, s.startSession(ctx, u, keyPending, nil, from)
	}
	return false, s.finishSignIn(ctx, u, nil, from)
}

// byPasskey is the method of sign-ins with a passkey, in the audit log.
const byPasskey = "passkey"

// finishSignIn starts the session of a user whose sign-in is complete; used is the passkey of it,
// or nil. The sign-in is noted once the session is stored (sessionStore.add).
func (s *Sessions) finishSignIn(ctx context.Context, u *ent.User, used *ent.Passkey, from Browser) error {
	if err := s.recordSignIn(principal.AsSystemWithin(ctx), u.ID, from); err != nil {
		return fmt.Errorf("store the last sign-in: %w", err)
	}
	return s.startSession(ctx, u, keyUser, used, from)
}

// noteSignIn notes a sign-in for the audit log; u is nil if the address is not a user's. What was
// entered is not noted: people enter passwords in the wrong field. method is byPasskey or "".
func noteSignIn(ctx context.Context, action string, u *ent.User, session uuid.UUID, method string, from Browser) {
	e := signInEvent(action, u, session, from)
	e.Method = method
	audit.From(ctx).Event(e)
}

// noteWrong notes a wrong password or code of a user whom the browser's session knows, or whose sign-in waits
// for the code.
func noteWrong(ctx context.Context, u *ent.User, from Browser) {
	session := uuid.Nil
	if v := FromLocked(ctx); v != nil {
		session = v.SessionID
	}
	noteSignIn(ctx, "sign_in_failed", u, session, "", from)
}

// NoteSignedOut notes for the audit log that the caller has ended all sessions of a user.
func NoteSignedOut(ctx context.Context, u *ent.User) { noteEnded(ctx, u.ID, "all_sessions_ended") }

// noteEnded notes for the audit log that the caller has ended sessions of a user: reason says which.
func noteEnded(ctx context.Context, userID int64, reason string) {
	audit.From(ctx).Event(audit.Event{Action: "sign_out", Record: strconv.FormatInt(userID, 10), Reason: reason})
}

// signInEvent returns the event of noteSignIn, without the method.
func signInEvent(action string, u *ent.User, session uuid.UUID, from Browser) audit.Event {
	e := audit.Event{Action: action, Session: session, Browser: from.Name, Network: network(from.Address)}
	if u != nil {
		e.Practice, e.User, e.Record = u.PracticeID, u.ID, strconv.FormatInt(u.ID, 10)
	}
	return e
}

// ChangePassword changes the visitor's password and ends all other sessions; with
// endTokens also the user's tokens and authorised applications. It needs the old
// password. It fails with *Unsuitable for a new password that does not pass the
// checks, ErrWrong and *Throttled.
func (s *Sessions) ChangePassword(ctx context.Context, old, chosen string, endTokens bool, from Browser) error {
	v := From(ctx)
	about := About(v.User, v.Practice().Name)
	if err := password.Check(chosen, about...); err != nil {
		return &Unsuitable{err}
	}
	if err := s.confirm(ctx, v.User, old, from); err != nil {
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
	return s.changeVisitor(ctx, func(tx *ent.Client, u *ent.User) error {
		if err := tx.User.UpdateOne(u).SetPasswordHash(hashed.Hash()).Exec(ctx); err != nil {
			return err
		}
		return endAccess(ctx, tx, u.ID, ends, v.SessionID)
	})
}

// About lists words that a user's password must not consist of.
func About(u *ent.User, practice string) []string {
	return []string{u.Email, u.FirstName, u.LastName, practice}
}

// changeVisitor changes the visitor's own row in a transaction that locks it. It fails
// with store.ErrAccessEnded if the session has ended, or the password or the
// authenticator has changed, since the request began.
func (s *Sessions) changeVisitor(ctx context.Context, work func(tx *ent.Client, u *ent.User) error) error {
	v := From(ctx)
	return s.db.Tx(ctx, func(tx *ent.Client) error {
		if err := store.HoldAccess(ctx, tx, v.User.ID); err != nil {
			return err
		}
		u, err := tx.User.Get(ctx, v.User.ID)
		if err != nil {
			return err
		}
		before, err := credentials(s.db.Keys, v.User)
		if err != nil {
			return err
		}
		switch now, err := credentials(s.db.Keys, u); {
		case err != nil:
			return err
		case now != before:
			return store.ErrAccessEnded
		}
		return work(tx, u)
	})
}

// Unsuitable is the error for a password that does not pass the checks. Its text is
// for the user.
type Unsuitable struct{ error }

// confirm checks the visitor's password again before a sensitive change, in case
// someone else uses an unlocked machine.
func (s *Sessions) confirm(ctx context.Context, u *ent.User, given string, from Browser) error {
	who := account("password", u.Email)
	attempt, err := s.countAttempt(ctx, who, from.Address, passwordLimits)
	if err != nil {
		return err
	}
	right, err := password.Verify(ctx, given, u.PasswordHash)
	switch {
	case err != nil:
		return err
	case !right:
		noteWrong(ctx, u, from)
		return ErrWrong
	}
	return s.recordSuccess(ctx, attempt, who, from.Address)
}
