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
	"chairside/ent/user"
	"chairside/internal/clock"
	"chairside/internal/principal"
	"chairside/internal/store"
)

// ErrNoPassword is returned where a code comes without the password before it,
// or too long after it.
var ErrNoPassword = errors.New("signin: the password comes first")

// ErrWrongCode is returned where the password was right and the code was not.
var ErrWrongCode = errors.New("signin: wrong code")

// secretEncoding is how a secret is written down.
var secretEncoding = base32.StdEncoding.WithPadding(base32.NoPadding)

const (
	step          = 30 * time.Second // of a time-based code (RFC 6238)
	recoveryCodes = 10
	recoveryRunes = 16 // of a recovery code: 80 bits
)

// Code completes a sign-in with a second factor: a time-based code, or one of
// the recovery codes, each of which works once. It fails with ErrNoPassword,
// ErrWrong, ErrDisabled and *Throttled.
func (s *Sessions) Code(ctx context.Context, given string, from Browser) error {
	u, err := s.pending(ctx)
	if err != nil {
		return err
	}
	if err := s.checkCode(ctx, u, given, from); err != nil {
		return err
	}
	return s.enter(ctx, u, from)
}

// checkCode checks a code of u and uses it up. It fails with ErrWrong and
// *Throttled.
func (s *Sessions) checkCode(ctx context.Context, u *ent.User, given string, from Browser) error {
	who := account("factor", strconv.FormatInt(u.ID, 10))
	try, err := s.try(ctx, who, from.Address, factorLimits)
	if err != nil {
		return err
	}
	right, err := s.useCode(ctx, u, given)
	if err == nil && !right {
		right, err = s.useRecovery(ctx, u, given)
	}
	switch {
	case err != nil:
		return fmt.Errorf("signin: check the code: %w", err)
	case !right:
		return ErrWrong
	}
	return s.succeed(ctx, try, who, from.Address)
}

// Pending reports whether the password was given and a code is awaited.
func (s *Sessions) Pending(ctx context.Context) bool { return s.manager.Exists(ctx, keyPending) }

// pending is the user whose code is awaited.
func (s *Sessions) pending(ctx context.Context) (*ent.User, error) {
	id, ok := s.manager.Get(ctx, keyPending).(int64)
	if !ok {
		return nil, ErrNoPassword
	}
	u, err := s.db.Ent.User.Query().Where(user.ID(id)).Only(principal.AsSystem(ctx))
	switch {
	case err != nil:
		return nil, fmt.Errorf("signin: find the user: %w", err)
	case !u.Active:
		return nil, ErrDisabled
	}
	return u, nil
}

// useCode reports whether a time-based code is right, and uses up its time
// step: what was seen over a shoulder works no more. The step before and the
// one after are taken as well, for clocks that differ a little.
func (s *Sessions) useCode(ctx context.Context, u *ent.User, given string) (bool, error) {
	at, right := matches(u.TotpSecret, given, clock.Now(ctx))
	if !right {
		return false, nil
	}
	n, err := s.db.Ent.User.Update().Where(user.ID(u.ID), user.TotpStepLT(at)).SetTotpStep(at).Save(principal.AsSystem(ctx))
	return n == 1, err
}

// matches finds the time step of which given is the code.
func matches(secret, given string, now time.Time) (at int64, right bool) {
	if secret == "" { // has codes as well
		return 0, false
	}
	given = strings.Join(strings.Fields(given), "")
	for _, skew := range []time.Duration{0, -step, step} {
		moment := now.Add(skew)
		want, err := totp.GenerateCode(secret, moment)
		if err == nil && subtle.ConstantTimeCompare([]byte(want), []byte(given)) == 1 {
			return moment.Unix() / int64(step.Seconds()), true
		}
	}
	return 0, false
}

// useRecovery reports whether a recovery code is right, and removes it.
func (s *Sessions) useRecovery(ctx context.Context, u *ent.User, given string) (right bool, err error) {
	hash := hashRecovery(given)
	err = s.db.Tx(ctx, func(tx *ent.Client) error {
		system := principal.AsSystem(ctx)
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

// hashRecovery is what is kept of a recovery code, however it is typed.
func hashRecovery(code string) string {
	code = strings.ToUpper(strings.NewReplacer("-", "", " ", "").Replace(code))
	sum := sha256.Sum256([]byte(code))
	return hex.EncodeToString(sum[:])
}

// Enrolment is a second factor that is being set up.
type Enrolment struct {
	Secret string // to type into the authenticator
	Image  string // the same as a QR code: a data URL of a PNG
}

// Enrol gives the secret for a second factor. It is the visitor's only after
// EnableFactor; until then the session keeps it, so that the page can be shown
// again.
func (s *Sessions) Enrol(ctx context.Context) (Enrolment, error) {
	v := From(ctx)
	options := totp.GenerateOpts{Issuer: "Chairside", AccountName: v.User.Email, Rand: rand.Reader}
	if kept := s.manager.GetString(ctx, keySecret); kept != "" {
		secret, err := secretEncoding.DecodeString(kept)
		if err != nil {
			return Enrolment{}, err
		}
		options.Secret = secret
	}
	key, err := totp.Generate(options)
	if err != nil {
		return Enrolment{}, fmt.Errorf("signin: make a secret: %w", err)
	}
	s.manager.Put(ctx, keySecret, key.Secret())
	image, err := picture(key)
	return Enrolment{key.Secret(), image}, err
}

func picture(key *otp.Key) (string, error) {
	const pixels = 240
	code, err := key.Image(pixels, pixels)
	if err != nil {
		return "", fmt.Errorf("signin: draw the secret: %w", err)
	}
	var out bytes.Buffer
	if err := png.Encode(&out, code); err != nil {
		return "", fmt.Errorf("signin: draw the secret: %w", err)
	}
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(out.Bytes()), nil
}

// EnableFactor turns the second factor on, once the visitor has shown a code of
// the secret of Enrol, and gives the recovery codes, which cannot be shown
// again. It fails with ErrWrong and *Throttled.
func (s *Sessions) EnableFactor(ctx context.Context, given string, from Browser) (codes []string, err error) {
	v, secret := From(ctx), s.manager.GetString(ctx, keySecret)
	if v.User.TotpSecret != "" {
		return nil, errors.New("signin: the second factor is on already")
	}
	who := account("factor", strconv.FormatInt(v.User.ID, 10))
	try, err := s.try(ctx, who, from.Address, factorLimits)
	if err != nil {
		return nil, err
	}
	at, right := matches(secret, given, clock.Now(ctx))
	if secret == "" || !right {
		return nil, ErrWrong
	}
	if err := s.succeed(ctx, try, who, from.Address); err != nil {
		return nil, err
	}
	codes, hashes := newRecoveryCodes()
	err = s.asVisitor(ctx, func(tx *ent.Client, u *ent.User) error {
		return tx.User.UpdateOne(u).SetTotpSecret(secret).SetTotpStep(at).SetRecoveryCodes(hashes).Exec(ctx)
	})
	if err != nil {
		return nil, err
	}
	s.manager.Remove(ctx, keySecret)
	return codes, nil
}

// DisableFactor turns the second factor off. The password and a code must be
// given. It fails with ErrWrong, ErrWrongCode and *Throttled.
func (s *Sessions) DisableFactor(ctx context.Context, password, code string, from Browser) error {
	if err := s.confirmBoth(ctx, password, code, from); err != nil {
		return err
	}
	return s.asVisitor(ctx, func(tx *ent.Client, u *ent.User) error {
		return tx.User.UpdateOne(u).SetTotpSecret("").ClearRecoveryCodes().Exec(ctx)
	})
}

// NewRecoveryCodes replaces the visitor's recovery codes. The password and a code
// must be given, because a recovery code turns the second factor off. It fails
// with ErrWrong, ErrWrongCode and *Throttled.
func (s *Sessions) NewRecoveryCodes(ctx context.Context, password, code string, from Browser) (codes []string, err error) {
	if err := s.confirmBoth(ctx, password, code, from); err != nil {
		return nil, err
	}
	codes, hashes := newRecoveryCodes()
	return codes, s.asVisitor(ctx, func(tx *ent.Client, u *ent.User) error {
		return tx.User.UpdateOne(u).SetRecoveryCodes(hashes).Exec(ctx)
	})
}

// confirmBoth checks the visitor's password and then a code, as at sign-in: it
// is used up, and wrong ones are counted with those of sign-ins.
func (s *Sessions) confirmBoth(ctx context.Context, password, code string, from Browser) error {
	if err := s.confirm(ctx, password, from); err != nil {
		return err
	}
	err := s.checkCode(ctx, From(ctx).User, code, from)
	if errors.Is(err, ErrWrong) {
		return ErrWrongCode
	}
	return err
}

// newRecoveryCodes makes codes like ABCD-EFGH-IJKL-MNOP, and what is kept of them.
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
