package signin

import (
	"context"
	"errors"
	"net/url"
	"time"

	"chairside/internal/clock"
)

// ProofLife is how long a proof of the password or the second factor counts for sensitive pages.
const ProofLife = 10 * time.Minute

// ErrEnded means that the browser has no session that could be confirmed.
var ErrEnded = errors.New("the session has ended")

// Proven reports whether the session has proven the password or the second factor within
// ProofLife, by a sign-in or by Confirm.
func (s *Sessions) Proven(ctx context.Context) bool {
	at, ok := s.manager.Get(ctx, keyProven).(int64)
	return ok && clock.Now(ctx).Sub(time.Unix(0, at)) < ProofLife
}

// Confirm proves the visitor's second factor with a code, or the password if that is enough
// (ConfirmProofs), and unlocks the session. It fails with ErrEnded, ErrWrong and *Throttled.
func (s *Sessions) Confirm(ctx context.Context, given string, from Browser) error {
	v := FromLocked(ctx)
	if v == nil {
		return ErrEnded
	}
	enough, err := s.proofs(ctx, v.User)
	if err != nil {
		return err
	}
	check := s.checkCode
	if enough.Password {
		check = s.confirm
	}
	if err := check(ctx, v.User, given, from); err != nil {
		return err
	}
	return s.markProven(ctx, v)
}

// markProven stores that the visitor has just proven who they are, and unlocks the session.
func (s *Sessions) markProven(ctx context.Context, v *Visitor) error {
	s.manager.Put(ctx, keyProven, clock.Now(ctx).UnixNano())
	return s.noteUse(ctx, v.SessionID)
}

// KeepForm keeps what the visitor entered in the form of an action, which waits for a proof, until
// TakeForm. values must have no secret.
func (s *Sessions) KeepForm(ctx context.Context, action string, values url.Values) {
	s.manager.Put(ctx, keyForm, (&url.URL{Path: action, RawQuery: values.Encode()}).String())
}

// TakeForm returns what KeepForm kept for one of the actions that known reports, and forgets it.
// action is "" if it kept nothing for one.
func (s *Sessions) TakeForm(ctx context.Context, known func(action string) bool) (action string, values url.Values) {
	kept, err := url.Parse(s.manager.GetString(ctx, keyForm))
	if err != nil || kept.Path == "" || !known(kept.Path) {
		return "", nil
	}
	s.manager.Remove(ctx, keyForm)
	return kept.Path, kept.Query()
}
