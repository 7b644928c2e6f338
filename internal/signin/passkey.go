package signin

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"chairside/ent"
	"chairside/ent/passkey"
	"chairside/internal/principal"
)

// MaxPasskeys is the most passkeys of a user.
const MaxPasskeys = 20

// relyingParty returns the checks of passkeys for the server's public URL, or nil if browsers have
// no passkeys there: they need a host name, and HTTPS except on the same machine. The Host header
// of a request has no influence.
func relyingParty(public *url.URL) *webauthn.WebAuthn {
	host := strings.ToLower(public.Hostname())
	if address, err := netip.ParseAddr(host); err == nil && address.IsLoopback() {
		host = "localhost" // the name of the same machine
	}
	here := host == "localhost" || strings.HasSuffix(host, ".localhost")
	if host == "" || public.Scheme != "https" && !here {
		return nil
	}
	origin := public.Scheme + "://" + host
	if port := public.Port(); port != "" && port != map[string]string{"http": "80", "https": "443"}[public.Scheme] {
		origin += ":" + port
	}
	timeout := webauthn.TimeoutConfig{Timeout: challengeLife} // for browsers: takeChallenge enforces it by the request's clock
	party, err := webauthn.New(&webauthn.Config{
		RPID: host, RPDisplayName: "Chairside", RPOrigins: []string{origin},
		AttestationPreference: protocol.PreferNoAttestation,
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			ResidentKey: protocol.ResidentKeyRequirementRequired, RequireResidentKey: protocol.ResidentKeyRequired(),
			UserVerification: protocol.VerificationRequired, // or a passkey would be one factor only
		},
		Timeouts: webauthn.TimeoutsConfig{Login: timeout, Registration: timeout},
		// Password managers add outputs that no one asked for. Nothing here reads them.
		ExtensionsUnsolicitedOutputPolicy: protocol.UnsolicitedOutputPolicyIgnore,
	})
	if err != nil {
		return nil // an address instead of a name
	}
	return party
}

// PasskeyOrigin returns the origin of the pages where browsers have passkeys, or "" if they have
// none for the server's public URL.
func (s *Sessions) PasskeyOrigin() string {
	if s.party == nil {
		return ""
	}
	return s.party.Config.RPOrigins[0]
}

// passkeysOf returns a user's passkeys that browsers offer to this server.
func (s *Sessions) passkeysOf(ctx context.Context, userID int64) ([]*ent.Passkey, error) {
	if s.party == nil {
		return nil, nil
	}
	rows, err := s.db.Ent.Passkey.Query().
		Where(passkey.UserID(userID), passkey.Host(s.party.Config.RPID)).
		Order(passkey.ByID()).
		All(principal.AsSystemWithin(ctx))
	if err != nil {
		return nil, fmt.Errorf("find passkeys: %w", err)
	}
	return rows, nil
}

// owner is a user with passkeys, as the library wants it.
type owner struct {
	*ent.User
	passkeys []*ent.Passkey
}

// WebAuthnID implements webauthn.User. Authenticators keep the id and may show it to anyone who
// holds them, so it names no one.
func (o owner) WebAuthnID() []byte {
	sum := sha256.Sum256(fmt.Appendf(nil, "passkey:%s:%d", o.PracticeID, o.ID))
	return sum[:]
}

// WebAuthnName implements webauthn.User.
func (o owner) WebAuthnName() string { return o.Email }

// WebAuthnDisplayName implements webauthn.User.
func (o owner) WebAuthnDisplayName() string { return o.FirstName + " " + o.LastName }

// WebAuthnCredentials implements webauthn.User.
func (o owner) WebAuthnCredentials() []webauthn.Credential {
	all := make([]webauthn.Credential, len(o.passkeys))
	for i, p := range o.passkeys {
		all[i] = webauthn.Credential{
			ID: p.CredentialID, PublicKey: p.PublicKey,
			Flags:         webauthn.CredentialFlags{UserPresent: true, UserVerified: true, BackupEligible: p.BackupEligible, BackupState: p.BackedUp},
			Authenticator: webauthn.Authenticator{AAGUID: p.Aaguid[:], SignCount: uint32(p.SignCount)},
		}
		for _, t := range p.Transports {
			all[i].Transport = append(all[i].Transport, protocol.AuthenticatorTransport(t))
		}
	}
	return all
}

// Proofs are the ways in which a user can complete a sign-in or confirm it later.
type Proofs struct {
	Password bool
	Code     bool // of an authenticator app, or a recovery code
	Passkey  bool
}

// proofs returns the ways in which a user can prove who they are after the password. The password
// alone is enough for a user without an authenticator app, unless the practice requires a second
// factor and the user has a passkey. u has its practice.
func (s *Sessions) proofs(ctx context.Context, u *ent.User) (Proofs, error) {
	passkeys, err := s.passkeysOf(ctx, u.ID)
	if err != nil {
		return Proofs{}, err
	}
	p := Proofs{Code: !u.TotpSecret.IsNull(), Passkey: len(passkeys) > 0}
	p.Password = !p.Code && !(p.Passkey && RulesOf(u.Edges.Practice).RequireFactor(u))
	return p, nil
}

// PendingProofs returns the ways in which the user can complete a sign-in that waits for a second
// factor. It fails with ErrNoPassword and ErrDisabled.
func (s *Sessions) PendingProofs(ctx context.Context) (Proofs, error) {
	u, err := s.pending(ctx)
	if err != nil {
		return Proofs{}, err
	}
	return s.proofs(ctx, u)
}

// ConfirmProofs returns the ways in which the visitor, also of a locked session, can confirm the
// session. It fails with ErrEnded.
func (s *Sessions) ConfirmProofs(ctx context.Context) (Proofs, error) {
	v := FromLocked(ctx)
	if v == nil {
		return Proofs{}, ErrEnded
	}
	return s.proofs(ctx, v.User)
}
