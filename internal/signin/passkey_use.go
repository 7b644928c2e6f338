package signin

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"
	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/passkey"
	"chairside/internal/clock"
	"chairside/internal/principal"
)

// BeginPasskey returns the challenge for a sign-in with any passkey: the browser offers those that
// it has. It fails with ErrNoPasskeys and *Throttled.
func (s *Sessions) BeginPasskey(ctx context.Context, from Browser) (*Challenge, error) {
	if s.party == nil {
		return nil, ErrNoPasskeys
	}
	options, data, err := s.party.BeginDiscoverableLogin()
	if err != nil {
		return nil, fmt.Errorf("make a challenge: %w", err)
	}
	return s.storeChallenge(ctx, purposeSignIn, options, data, from)
}

// Passkey signs a user in with a passkey alone. It is two factors: the device has the key, and has
// verified the person who holds it. It fails with ErrWrong, ErrDisabled, ErrClosed and
// *Throttled.
func (s *Sessions) Passkey(ctx context.Context, given PasskeyResponse, from Browser) error {
	used, err := s.checkPasskey(ctx, purposeSignIn, nil, given, from)
	if err != nil {
		return err
	}
	if err := admissible(ctx, used.Edges.User, byPasskey, from); err != nil {
		return err
	}
	return s.finishSignIn(ctx, used.Edges.User, used, from)
}

// BeginPasskeyCode returns the challenge for PasskeyCode. It fails with ErrNoPassword, ErrDisabled,
// ErrNoPasskeys and *Throttled.
func (s *Sessions) BeginPasskeyCode(ctx context.Context, from Browser) (*Challenge, error) {
	u, err := s.pending(ctx)
	if err != nil {
		return nil, err
	}
	return s.beginFor(ctx, purposeCode(s.manager.GetString(ctx, keySession)), u, from)
}

// PasskeyCode completes a sign-in after the password with a passkey instead of a code. It fails
// with ErrNoPassword, ErrWrong, ErrDisabled and *Throttled.
func (s *Sessions) PasskeyCode(ctx context.Context, given PasskeyResponse, from Browser) error {
	u, err := s.pending(ctx)
	if err != nil {
		return err
	}
	used, err := s.checkPasskey(ctx, purposeCode(s.manager.GetString(ctx, keySession)), u, given, from)
	if err != nil {
		return err
	}
	return s.finishSignIn(ctx, u, used, from)
}

// BeginPasskeyConfirm returns the challenge for ConfirmPasskey. It fails with ErrEnded,
// ErrNoPasskeys and *Throttled.
func (s *Sessions) BeginPasskeyConfirm(ctx context.Context, from Browser) (*Challenge, error) {
	v := FromLocked(ctx)
	if v == nil {
		return nil, ErrEnded
	}
	return s.beginFor(ctx, purposeConfirm(v.SessionID), v.User, from)
}

// ConfirmPasskey is Confirm with a passkey. It fails with ErrEnded, ErrWrong and *Throttled.
func (s *Sessions) ConfirmPasskey(ctx context.Context, given PasskeyResponse, from Browser) error {
	v := FromLocked(ctx)
	if v == nil {
		return ErrEnded
	}
	if _, err := s.checkPasskey(ctx, purposeConfirm(v.SessionID), v.User, given, from); err != nil {
		return err
	}
	return s.markProven(ctx, v)
}

// beginFor returns a challenge for the passkeys of one user.
func (s *Sessions) beginFor(ctx context.Context, purpose string, u *ent.User, from Browser) (*Challenge, error) {
	passkeys, err := s.passkeysOf(ctx, u.ID)
	switch {
	case err != nil:
		return nil, err
	case len(passkeys) == 0:
		return nil, ErrNoPasskeys
	}
	options, data, err := s.party.BeginLogin(owner{u, passkeys})
	if err != nil {
		return nil, fmt.Errorf("make a challenge: %w", err)
	}
	return s.storeChallenge(ctx, purpose, options, data, from)
}

// checkPasskey checks the response to a challenge and returns the passkey with its user, which must
// be of unless that is nil. Attempts count as those of passwords do. It fails with ErrWrong and
// *Throttled.
func (s *Sessions) checkPasskey(ctx context.Context, purpose string, of *ent.User, given PasskeyResponse, from Browser) (*ent.Passkey, error) {
	response, err := protocol.ParseCredentialRequestResponseBytes([]byte(given.json))
	if err != nil || s.party == nil {
		return nil, ErrWrong
	}
	who := account("passkey", string(response.RawID))
	attempt, err := s.countAttempt(ctx, who, from.Address, passwordLimits)
	if err != nil {
		return nil, err
	}
	used, err := s.db.Ent.Passkey.Query().
		Where(passkey.CredentialID(response.RawID), passkey.Host(s.party.Config.RPID)).WithUser(func(q *ent.UserQuery) { q.WithPractice() }).
		Only(principal.AsSystemWithin(ctx))
	if err != nil && !ent.IsNotFound(err) {
		return nil, fmt.Errorf("find the passkey: %w", err)
	}
	switch err := s.verifyPasskey(ctx, purpose, of, used, response, given); {
	case errors.Is(err, ErrWrong):
		s.noteFailure(ctx, of, used, from)
		return nil, err
	case err != nil:
		return nil, err
	}
	return used, s.recordSuccess(ctx, attempt, who, from.Address)
}

// noteFailure notes a failed attempt of a user, or of the owner of the passkey that was tried.
func (s *Sessions) noteFailure(ctx context.Context, u *ent.User, tried *ent.Passkey, from Browser) {
	if u == nil && tried != nil {
		u = tried.Edges.User
	}
	session := uuid.Nil
	if v := FromLocked(ctx); v != nil && u != nil && v.User.ID == u.ID {
		session = v.SessionID
	}
	noteSignIn(ctx, "sign_in_failed", u, session, byPasskey, from)
}

// verifyPasskey verifies a response and stores the use of the passkey; used is nil if it is
// unknown. The challenge is spent in any case. It fails with ErrWrong.
func (s *Sessions) verifyPasskey(ctx context.Context, purpose string, of *ent.User, used *ent.Passkey, response *protocol.ParsedCredentialAssertionData, given PasskeyResponse) error {
	challenge, err := s.takeChallenge(ctx, purpose, given)
	switch {
	case errors.Is(err, errNoChallenge):
		return ErrWrong
	case err != nil:
		return err
	case used == nil, of != nil && of.ID != used.UserID:
		return ErrWrong
	}
	passkeys, err := s.passkeysOf(ctx, used.UserID)
	if err != nil {
		return err
	}
	user := owner{used.Edges.User, passkeys}
	var verified *webauthn.Credential
	if of != nil {
		verified, err = s.party.ValidateLogin(user, challenge, response)
	} else {
		_, verified, err = s.party.ValidatePasskeyLogin(func(_, _ []byte) (webauthn.User, error) { return user, nil }, challenge, response)
	}
	if err != nil || verified.Authenticator.CloneWarning { // a counter that goes back is a copy's
		return ErrWrong
	}
	// The counter must still be the one that was compared.
	n, err := s.db.Ent.Passkey.Update().
		Where(passkey.ID(used.ID), passkey.SignCount(used.SignCount)).
		SetSignCount(int64(verified.Authenticator.SignCount)).SetBackedUp(verified.Flags.BackupState).SetLastUsedAt(clock.Now(ctx)).
		Save(principal.AsSystemWithin(ctx))
	switch {
	case err != nil:
		return fmt.Errorf("store the use of the passkey: %w", err)
	case n == 0:
		return ErrWrong
	}
	return nil
}
