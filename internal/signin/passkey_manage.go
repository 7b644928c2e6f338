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
)

// ErrTooManyPasskeys means that the user has MaxPasskeys.
var ErrTooManyPasskeys = errors.New("the user has the most passkeys possible")

// ErrNoPasskey means that the visitor has no such passkey.
var ErrNoPasskey = errors.New("no such passkey")

// Passkeys lists the visitor's passkeys, the newest first, also those for another host name of the
// server.
func (s *Sessions) Passkeys(ctx context.Context) ([]*ent.Passkey, error) {
	return s.db.Ent.Passkey.Query().Where(passkey.UserID(From(ctx).User.ID)).Order(ent.Desc(passkey.FieldID)).All(ctx)
}

// Offered reports whether browsers offer a passkey to this server.
func (s *Sessions) Offered(p *ent.Passkey) bool {
	return s.party != nil && p.Host == s.party.Config.RPID
}

// BeginAddPasskey returns the challenge for AddPasskey. It fails with ErrNoPasskeys,
// ErrTooManyPasskeys and *Throttled.
func (s *Sessions) BeginAddPasskey(ctx context.Context, from Browser) (*Challenge, error) {
	if s.party == nil {
		return nil, ErrNoPasskeys
	}
	v := From(ctx)
	all, err := s.Passkeys(ctx)
	switch {
	case err != nil:
		return nil, fmt.Errorf("find passkeys: %w", err)
	case len(all) >= MaxPasskeys:
		return nil, ErrTooManyPasskeys
	}
	user := owner{v.User, all}
	known := webauthn.Credentials(user.WebAuthnCredentials()).CredentialDescriptors() // an authenticator makes one passkey for a user
	options, data, err := s.party.BeginRegistration(user, webauthn.WithExclusions(known))
	if err != nil {
		return nil, fmt.Errorf("make a challenge: %w", err)
	}
	return s.storeChallenge(ctx, purposeAdd(v.SessionID), options, data, from)
}

// AddPasskey stores a new passkey of the visitor. It fails with ErrWrong for a response that is not
// accepted, and with ErrTooManyPasskeys.
func (s *Sessions) AddPasskey(ctx context.Context, name string, given PasskeyResponse) error {
	v := From(ctx)
	response, err := protocol.ParseCredentialCreationResponseBytes([]byte(given.json))
	if err != nil || s.party == nil {
		return ErrWrong
	}
	challenge, err := s.takeChallenge(ctx, purposeAdd(v.SessionID), given)
	switch {
	case errors.Is(err, errNoChallenge):
		return ErrWrong
	case err != nil:
		return err
	}
	made, err := s.party.CreateCredential(owner{User: v.User}, challenge, response)
	if err != nil {
		return ErrWrong
	}
	model, err := uuid.FromBytes(made.Authenticator.AAGUID)
	if err != nil {
		return ErrWrong
	}
	transports := make([]string, len(made.Transport))
	for i, t := range made.Transport {
		transports[i] = string(t)
	}
	err = s.changeVisitor(ctx, func(tx *ent.Client, u *ent.User) error {
		n, err := tx.Passkey.Query().Where(passkey.UserID(u.ID)).Count(ctx)
		switch {
		case err != nil:
			return err
		case n >= MaxPasskeys:
			return ErrTooManyPasskeys
		}
		return tx.Passkey.Create().
			SetUserID(u.ID).SetName(name).SetHost(s.party.Config.RPID).
			SetCredentialID(made.ID).SetPublicKey(made.PublicKey).
			SetSignCount(int64(made.Authenticator.SignCount)).SetTransports(transports).
			SetBackupEligible(made.Flags.BackupEligible).SetBackedUp(made.Flags.BackupState).SetAaguid(model).
			Exec(ctx)
	})
	if ent.IsConstraintError(err) { // the credential is registered already, perhaps for someone else
		return ErrWrong
	}
	return err
}

// RenamePasskey renames a passkey of the visitor. It fails with ErrNoPasskey.
func (s *Sessions) RenamePasskey(ctx context.Context, id uuid.UUID, name string) error {
	return s.changePasskey(ctx, id, func(tx *ent.Client, p *ent.Passkey) error {
		return tx.Passkey.UpdateOne(p).SetName(name).Exec(ctx)
	})
}

// RemovePasskey removes a passkey of the visitor, which signs no one in any more. Sessions
// continue. It fails with ErrNoPasskey.
func (s *Sessions) RemovePasskey(ctx context.Context, id uuid.UUID) error {
	return s.changePasskey(ctx, id, func(tx *ent.Client, p *ent.Passkey) error {
		return tx.Passkey.DeleteOne(p).Exec(ctx)
	})
}

// changePasskey changes a passkey of the visitor in a transaction that locks the visitor's row.
func (s *Sessions) changePasskey(ctx context.Context, id uuid.UUID, change func(tx *ent.Client, p *ent.Passkey) error) error {
	return s.changeVisitor(ctx, func(tx *ent.Client, u *ent.User) error {
		p, err := tx.Passkey.Query().Where(passkey.ID(id), passkey.UserID(u.ID)).Only(ctx)
		switch {
		case ent.IsNotFound(err):
			return ErrNoPasskey
		case err != nil:
			return err
		}
		return change(tx, p)
	})
}
