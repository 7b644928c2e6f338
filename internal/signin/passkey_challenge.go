package signin

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/go-webauthn/webauthn/webauthn"
	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/passkeychallenge"
	"chairside/internal/clock"
	"chairside/internal/principal"
)

const (
	// challengeLife is the time that a browser has to answer a challenge.
	challengeLife = 5 * time.Minute
	// maxChallenges is the most unanswered challenges of an address, which bounds the table.
	maxChallenges = 100
)

// The purposes of challenges. All but purposeSignIn belong to one session.
const purposeSignIn = "sign-in"

func purposeCode(session string) string       { return "code:" + session }
func purposeConfirm(session uuid.UUID) string { return "confirm:" + session.String() }
func purposeAdd(session uuid.UUID) string     { return "add:" + session.String() }

// ErrNoPasskeys means that browsers have no passkeys for the server's public URL, or that the
// user has none.
var ErrNoPasskeys = errors.New("no passkeys can be used")

// errNoChallenge means that a response has no challenge: it expired, was used, or is another
// browser's.
var errNoChallenge = errors.New("the challenge has expired or was used")

// Challenge is what a browser's authenticator is asked to sign.
type Challenge struct {
	Options any // of navigator.credentials, as JSON
	cookie  string
}

// PasskeyResponse is the response of a browser's authenticator, with the cookie of its challenge.
type PasskeyResponse struct{ json, cookie string }

// PasskeyResponse returns the response in a field of a form.
func (s *Sessions) PasskeyResponse(r *http.Request, field string) PasskeyResponse {
	given := PasskeyResponse{json: r.PostForm.Get(field)}
	if c, err := r.Cookie(s.challengeCookie); err == nil {
		given.cookie = c.Value
	}
	return given
}

// Bind sends the cookie that binds a challenge to the browser.
func (s *Sessions) Bind(w http.ResponseWriter, c *Challenge) {
	http.SetCookie(w, &http.Cookie{
		Name: s.challengeCookie, Value: c.cookie, Path: "/", MaxAge: int(challengeLife.Seconds()),
		Secure: s.manager.Cookie.Secure, HttpOnly: true, SameSite: http.SameSiteStrictMode,
	})
}

// storeChallenge stores a challenge for a purpose. It fails with *Throttled.
func (s *Sessions) storeChallenge(ctx context.Context, purpose string, options any, data *webauthn.SessionData, from Browser) (*Challenge, error) {
	now, all := clock.Now(ctx), s.db.Ent.PasskeyChallenge
	ctx = principal.AsSystemWithin(ctx)
	if _, err := all.Delete().Where(passkeychallenge.ExpiresAtLTE(now)).Exec(ctx); err != nil {
		return nil, fmt.Errorf("remove expired challenges: %w", err)
	}
	kept, err := json.Marshal(data)
	if err != nil {
		return nil, fmt.Errorf("encode the challenge: %w", err)
	}
	c := &Challenge{options, rand.Text()}
	row, err := all.Create().
		SetTokenHash(hashChallenge(c.cookie)).SetPurpose(purpose).SetData(kept).SetAddress(from.Address).SetExpiresAt(now.Add(challengeLife)).
		Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("store the challenge: %w", err)
	}
	// Counted once it is stored, so that concurrent requests cannot pass the limit together.
	others, err := all.Query().
		Where(passkeychallenge.Address(from.Address), passkeychallenge.IDNEQ(row.ID)).
		Order(passkeychallenge.ByExpiresAt()).Limit(maxChallenges).
		All(ctx)
	if err != nil {
		return nil, fmt.Errorf("count challenges: %w", err)
	}
	if len(others) < maxChallenges {
		return c, nil
	}
	if err := all.DeleteOne(row).Exec(ctx); err != nil {
		return nil, fmt.Errorf("delete the challenge: %w", err)
	}
	return nil, &Throttled{others[0].ExpiresAt.Sub(now)}
}

// takeChallenge returns the challenge of a response for a purpose and deletes it, so that no
// second response has it. It fails with errNoChallenge.
func (s *Sessions) takeChallenge(ctx context.Context, purpose string, given PasskeyResponse) (data webauthn.SessionData, err error) {
	now, all := clock.Now(ctx), s.db.Ent.PasskeyChallenge
	ctx = principal.AsSystemWithin(ctx)
	row, err := all.Query().
		Where(passkeychallenge.TokenHash(hashChallenge(given.cookie)), passkeychallenge.Purpose(purpose), passkeychallenge.ExpiresAtGT(now)).
		Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return data, errNoChallenge
	case err != nil:
		return data, fmt.Errorf("find the challenge: %w", err)
	}
	n, err := all.Delete().Where(passkeychallenge.ID(row.ID)).Exec(ctx)
	switch {
	case err != nil:
		return data, fmt.Errorf("delete the challenge: %w", err)
	case n == 0: // another request was faster
		return data, errNoChallenge
	}
	if err := json.Unmarshal(row.Data, &data); err != nil {
		return data, fmt.Errorf("decode the challenge: %w", err)
	}
	return data, nil
}

// hashChallenge returns the stored form of a challenge's cookie.
func hashChallenge(cookie string) string {
	sum := sha256.Sum256([]byte("challenge:" + cookie))
	return base64.StdEncoding.EncodeToString(sum[:])
}
