package signin

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"image/png"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pquerna/otp"
	"github.com/pquerna/otp/totp"

	"chairside/ent"
	"chairside/ent/session"
	"chairside/ent/user"
	"chairside/internal/clock"
	"chairside/internal/principal"
	"chairside/internal/seal"
	"chairside/internal/store"
)

// ErrNoPassword means that a code came without a password, or too long after it.
var ErrNoPassword = errors.New("enter the password first")

// ErrWrongCode means that the password was correct and the code was not.
var ErrWrongCode = errors.New("incorrect code")

// secretEncoding encodes the secret of an authenticator as text.
var secretEncoding = base32.StdEncoding.WithPadding(base32.NoPadding)

const (
	step          = 30 * time.Second // life of a code (RFC 6238)
	recoveryCodes = 10
	recoveryRunes = 16 // letters of a recovery code: 80 bits
)

// Code completes a sign-in with a time-based code or a recovery code; each works
// once. It fails with ErrNoPassword, ErrWrong, ErrDisabled, ErrClosed and *Throttled.
func (s *Sessions) Code(ctx context.Context, given string, from Browser) error {
	u, err := s.pending(ctx)
	if err != nil {
		return err
	}
	if err := s.checkCode(ctx, u, given, from); err != nil {
		return err
	}
	return s.finishSignIn(ctx, u, nil, from)
}

// checkCode checks a code and marks it as used; the audit log has a wrong one. It fails with ErrWrong and
// *Throttled.
func (s *Sessions) checkCode(ctx context.Context, u *ent.User, given string, from Browser) error {
	who := account("factor", strconv.FormatInt(u.ID, 10))
	attempt, err := s.countAttempt(ctx, who, from.Address, factorLimits)
	if err != nil {
		return err
	}
	right, err := s.useCode(ctx, u, given)
	if err == nil && !right {
		right, err = s.useRecovery(ctx, u, given)
	}
	switch {
	case err != nil:
		return fmt.Errorf("check the code: %w", err)
	case !right:
		noteWrong(ctx, u, from)
		return ErrWrong
	}
	return s.recordSuccess(ctx, attempt, who, from.Address)
}

// pending returns the user, with the practice, whose sign-in waits for a second factor.
func (s *Sessions) pending(ctx context.Context) (*ent.User, error) {
	id, ok := s.manager.Get(ctx, keyPending).(int64)
	if !ok {
		return nil, ErrNoPassword
	}
	u, err := s.db.Ent.User.Query().Where(user.ID(id)).WithPractice().Only(principal.AsSystem(ctx))
	switch {
	case err != nil:
		return nil, fmt.Errorf("find the user: %w", err)
	case isClosed(ctx, u):
		return nil, ErrClosed
	case !u.Active:
		return nil, ErrDisabled
	}
	return u, nil
}

// useCode reports whether a time-based code is correct, and marks its time step as
// used, so that an observed code cannot be reused. It accepts one step before and one
// after, for clock skew.
func (s *Sessions) useCode(ctx context.Context, u *ent.User, given string) (bool, error) {
	secret, err := u.OpenTotpSecret(s.db.Keys)
	if err != nil {
		return false, fmt.Errorf("open the authenticator's secret: %w", err)
	}
	at, right := timeStep(secret, given, clock.Now(ctx))
	if !right {
		return false, nil
	}
	n, err := s.db.Ent.User.Update().Where(user.ID(u.ID), user.TotpStepLT(at)).SetTotpStep(at).Save(principal.AsSystem(ctx))
	return n == 1, err
}

// timeStep returns the time step whose code is given, and whether there is one.
func timeStep(secret, given string, now time.Time) (at int64, right bool) {
	if secret == "" { // an empty secret would also have codes
		return 0, false
	}
	given = strings.Join(strings.Fields(given), "")
	for _, skew := range []time.Duration{0, -step, step} {
		at := now.Add(skew)
		want, err := totp.GenerateCode(secret, at)
		if err == nil && subtle.ConstantTimeCompare([]byte(want), []byte(given)) == 1 {
			return at.Unix() / int64(step.Seconds()), true
		}
	}
	return 0, false
}

// useRecovery reports whether a recovery code is correct, and removes it.
func (s *Sessions) useRecovery(ctx context.Context, u *ent.User, given string) (right bool, err error) {
	hash := hashRecovery(given)
	err = s.db.Tx(ctx, func(tx *ent.Client) error {
		system := principal.AsSystem(ctx)
		if principal.Actor(ctx) == nil { // the sign-in is not complete
			system = principal.AsSystemFor(ctx, &principal.Principal{PracticeID: u.PracticeID, UserID: u.ID})
		}
		u, err := tx.User.Query().Where(user.ID(u.ID), store.ForUpdate).Only(system)
		if err != nil {
			return err
		}
		left := slices.DeleteFunc(slices.Clone(u.RecoveryCodes), func(kept string) bool {
			return subtle.ConstantTimeCompare([]byte(kept), []byte(hash)) == 1
		})
		if right = len(left) < len(u.RecoveryCodes); !right {
			return nil
		}
		return tx.User.UpdateOne(u).SetRecoveryCodes(left).Exec(system)
	})
	return right, err
}

// hashRecovery is the stored hash of a recovery code. Case, spaces and hyphens do not
// matter.
func hashRecovery(code string) string {
	code = strings.ToUpper(strings.NewReplacer("-", "", " ", "").Replace(code))
	sum := sha256.Sum256([]byte(code))
	return hex.EncodeToString(sum[:])
}

// Enrolment is the secret of an authenticator that is being set up.
type Enrolment struct {
	Secret string // to type into the authenticator
	Image  string // the QR code: a data URL of a PNG
}

// Enrol returns the secret for an authenticator. Until EnableFactor stores it, the
// session holds it, so that the page can be shown again.
func (s *Sessions) Enrol(ctx context.Context) (Enrolment, error) {
	v := From(ctx)
	options := totp.GenerateOpts{Issuer: "Chairside", AccountName: v.User.Email, Rand: rand.Reader}
	kept, err := s.enrolled(ctx, v)
	if err != nil {
		return Enrolment{}, err
	}
	if kept != "" {
		if options.Secret, err = secretEncoding.DecodeString(kept); err != nil {
			return Enrolment{}, err
		}
	}
	key, err := totp.Generate(options)
	if err != nil {
		return Enrolment{}, fmt.Errorf("generate a secret: %w", err)
	}
	sealed, err := s.db.Keys.Seal(v.enrolment(), key.Secret())
	if err != nil {
		return Enrolment{}, fmt.Errorf("seal the secret: %w", err)
	}
	s.manager.Put(ctx, keySecret, sealed.String())
	image, err := qrCode(key)
	return Enrolment{key.Secret(), image}, err
}

// enrolment is the place of the secret that the session holds.
func (v *Visitor) enrolment() seal.Place {
	return seal.Place{Practice: v.User.PracticeID, Table: session.Table, Column: session.FieldData, Row: v.SessionID.String()}
}

// enrolled returns the secret that the session holds, or "".
func (s *Sessions) enrolled(ctx context.Context, v *Visitor) (string, error) {
	kept := s.manager.GetString(ctx, keySecret)
	if kept == "" {
		return "", nil
	}
	sealed, err := seal.Parse(kept)
	if err != nil {
		return "", err
	}
	return s.db.Keys.Open(v.enrolment(), sealed)
}

// qrCode returns the QR code of a key as a data URL.
func qrCode(key *otp.Key) (string, error) {
	const pixels = 240
	code, err := key.Image(pixels, pixels)
	if err != nil {
		return "", fmt.Errorf("draw the QR code: %w", err)
	}
	var out bytes.Buffer
	if err := png.Encode(&out, code); err != nil {
		return "", fmt.Errorf("draw the QR code: %w", err)
	}
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(out.Bytes()), nil
}

// EnableFactor turns two-factor authentication on after a code of Enrol's secret, and
// returns the recovery codes, which cannot be shown again. It fails with ErrWrong and
// *Throttled.
func (s *Sessions) EnableFactor(ctx context.Context, given string, from Browser) (codes []string, err error) {
	v := From(ctx)
	if !v.User.TotpSecret.IsNull() {
		return nil, errors.New("two-factor authentication is already on")
	}
	secret, err := s.enrolled(ctx, v)
	if err != nil {
		return nil, fmt.Errorf("open the secret: %w", err)
	}
	who := account("factor", strconv.FormatInt(v.User.ID, 10))
	attempt, err := s.countAttempt(ctx, who, from.Address, factorLimits)
	if err != nil {
		return nil, err
	}
	at, right := timeStep(secret, given, clock.Now(ctx))
	if secret == "" || !right {
		return nil, ErrWrong
	}
	if err := s.recordSuccess(ctx, attempt, who, from.Address); err != nil {
		return nil, err
	}
	codes, hashes := newRecoveryCodes()
	err = s.changeVisitor(ctx, func(tx *ent.Client, u *ent.User) error {
		return tx.User.UpdateOne(u).SetTotpSecret(seal.Plain(secret)).SetTotpStep(at).SetRecoveryCodes(hashes).Exec(ctx)
	})
	if err != nil {
		return nil, err
	}
	s.manager.Remove(ctx, keySecret)
	return codes, nil
}

// DisableFactor turns two-factor authentication off. It needs the password and a
// code. It fails with ErrWrong, ErrWrongCode and *Throttled.
func (s *Sessions) DisableFactor(ctx context.Context, password, code string, from Browser) error {
	if err := s.confirmBoth(ctx, password, code, from); err != nil {
		return err
	}
	return s.changeVisitor(ctx, func(tx *ent.Client, u *ent.User) error {
		return tx.User.UpdateOne(u).ClearTotpSecret().ClearRecoveryCodes().Exec(ctx)
	})
}

// NewRecoveryCodes replaces the visitor's recovery codes. It needs the password and a
// code, because a recovery code can turn two-factor authentication off. It fails with
// ErrWrong, ErrWrongCode and *Throttled.
func (s *Sessions) NewRecoveryCodes(ctx context.Context, password, code string, from Browser) (codes []string, err error) {
	if err := s.confirmBoth(ctx, password, code, from); err != nil {
		return nil, err
	}
	codes, hashes := newRecoveryCodes()
	return codes, s.changeVisitor(ctx, func(tx *ent.Client, u *ent.User) error {
		return tx.User.UpdateOne(u).SetRecoveryCodes(hashes).Exec(ctx)
	})
}

// confirmBoth checks the visitor's password and then a code. As at sign-in, the code
// is marked as used and failures are counted.
func (s *Sessions) confirmBoth(ctx context.Context, password, code string, from Browser) error {
	u := From(ctx).User
	if err := s.confirm(ctx, u, password, from); err != nil {
		return err
	}
	err := s.checkCode(ctx, u, code, from)
	if errors.Is(err, ErrWrong) {
		return ErrWrongCode
	}
	return err
}

// newRecoveryCodes generates codes such as ABCD-EFGH-IJKL-MNOP, and their hashes.
func newRecoveryCodes() (codes, hashes []string) {
	for range recoveryCodes {
		letters := rand.Text()[:recoveryRunes]
		var groups []string
		for group := range slices.Chunk([]byte(letters), 4) {
			groups = append(groups, string(group))
		}
		code := strings.Join(groups, "-")
		codes = append(codes, code)
		hashes = append(hashes, hashRecovery(code))
	}
	return codes, hashes
}
