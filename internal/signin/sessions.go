package signin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/alexedwards/scs/v2"
	"github.com/go-webauthn/webauthn/webauthn"
	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/passkey"
	"chairside/ent/session"
	"chairside/internal/audit"
	"chairside/internal/clock"
	"chairside/internal/principal"
	"chairside/internal/seal"
	"chairside/internal/store"
	"chairside/schema"
)

const (
	// Lifetime is the longest life of a session.
	Lifetime = 12 * time.Hour
	// IdleLife is the longest life of a session without a request.
	IdleLife = 2 * time.Hour
	// FactorLife is the time to enter a code after the password.
	FactorLife = 10 * time.Minute
	// seenResolution is the resolution of a session's last use.
	seenResolution = time.Minute
)

// The keys of a session's values. A session starts with keyPending if a code is needed,
// and with keyUser otherwise.
const (
	keySession  = "session"  // id of the session, as text
	keyUser     = "user"     // id of the signed-in user
	keyPending  = "pending"  // id of a user who has given only the password
	keyPractice = "practice" // id of the user's practice, as text
	keyNew      = "new"      // set until the session is first stored
	keyBrowser  = "browser"  // name of the browser, set until then
	keyAddress  = "address"  // network address, set until then
	keyProof    = "proof"    // hash of the credentials at sign-in, with the id of the passkey if one was used, set until then
	keySecret   = "secret"   // of an authenticator that is being set up
	keyProven   = "proven"   // when the password or the second factor was last proven, Unix nanoseconds
	keyForm     = "form"     // a form that waits for a proof: KeepForm
)

// Sessions signs users in and manages their sessions.
type Sessions struct {
	db      *store.DB
	manager *scs.SessionManager

	browserCookie   string             // name of the cookie that recognises a browser
	challengeCookie string             // name of the cookie that binds the challenge for a passkey to a browser
	party           *webauthn.WebAuthn // checks passkeys; nil if browsers have none for the server's address
}

// New stores sessions in db. If the server's public URL is of HTTPS, cookies are sent only over
// HTTPS. fail answers a request whose session cannot be read or written.
func New(db *store.DB, public *url.URL, fail func(http.ResponseWriter, *http.Request, error)) *Sessions {
	m := scs.New()
	m.Store = &sessionStore{db, m.Codec}
	m.HashTokenInStore = true
	m.Lifetime = Lifetime
	m.ErrorFunc = failOnce(fail)
	m.Cookie.Persist = false // practices share machines: the cookie ends with the browser
	prefix := ""
	if public.Scheme == "https" {
		prefix, m.Cookie.Secure = "__Host-", true
	}
	m.Cookie.Name = prefix + "chairside_session"
	return &Sessions{db, m, prefix + "chairside_browser", prefix + "chairside_passkey", relyingParty(public)}
}

// startSession starts a new session for the user and destroys the browser's old session, which someone may have planted. used is the passkey of the sign-in, or nil.
func (s *Sessions) startSession(ctx context.Context, u *ent.User, key string, used *ent.Passkey, from Browser) error {
	if err := s.manager.Destroy(ctx); err != nil {
		return err
	}
	proof, err := credentials(s.db.Keys, u)
	if err != nil {
		return err
	}
	s.manager.Put(ctx, keyNew, true)
	s.manager.Put(ctx, keySession, schema.NewID().String())
	s.manager.Put(ctx, keyPractice, u.PracticeID.String())
	s.manager.Put(ctx, keyBrowser, from.Name)
	s.manager.Put(ctx, keyAddress, from.Address)
	if used != nil {
		proof += ":" + used.ID.String()
	}
	s.manager.Put(ctx, keyProof, proof)
	s.manager.Put(ctx, key, u.ID)
	if key == keyUser {
		s.manager.Put(ctx, keyProven, clock.Now(ctx).UnixNano())
	}
	return nil
}

// credentials returns a hash of a user's password and authenticator, which changes with
// either, but not if the authenticator's secret is sealed with another key.
func credentials(keys *seal.Keys, u *ent.User) (string, error) {
	secret, err := u.OpenTotpSecret(keys)
	if err != nil {
		return "", fmt.Errorf("open the authenticator's secret: %w", err)
	}
	sum := sha256.Sum256([]byte(u.PasswordHash + "\x00" + secret))
	return hex.EncodeToString(sum[:]), nil
}

// SignOut ends the current session.
func (s *Sessions) SignOut(ctx context.Context) error { return s.manager.Destroy(ctx) }

// List returns the user's sessions, the last used first, without those that wait for
// a code.
func (s *Sessions) List(ctx context.Context) ([]*ent.Session, error) {
	rows, err := s.db.Ent.Session.Query().
		Where(session.UserID(principal.Must(ctx).UserID), session.ExpiresAtGT(clock.Now(ctx))).
		Order(ent.Desc(session.FieldLastSeenAt), session.ByID()).
		All(ctx)
	return slices.DeleteFunc(rows, func(row *ent.Session) bool {
		_, values, err := s.manager.Codec.Decode(row.Data)
		_, signedIn := values[keyUser]
		return err != nil || !signedIn
	}), err
}

// End ends one of the user's sessions. Ending it twice is not an error.
func (s *Sessions) End(ctx context.Context, id uuid.UUID) error {
	userID := principal.Must(ctx).UserID
	n, err := s.db.Ent.Session.Delete().Where(session.UserID(userID), session.ID(id)).Exec(ctx)
	if n > 0 {
		noteEnded(ctx, userID, "session_ended")
	}
	return err
}

// EndOthers ends all of the visitor's sessions except the current one.
func (s *Sessions) EndOthers(ctx context.Context) error {
	err := s.changeVisitor(ctx, func(tx *ent.Client, u *ent.User) error {
		return endAccess(ctx, tx, u.ID, BySession, From(ctx).SessionID)
	})
	if err == nil {
		noteEnded(ctx, From(ctx).User.ID, "other_sessions_ended")
	}
	return err
}

// sessionStore stores the session manager's data. It ignores the manager's clock:
// lifetimes follow the request's clock reading.
type sessionStore struct {
	db    *store.DB
	codec scs.Codec
}

// FindCtx implements scs.CtxStore. It also notes the session's last use for Load.
func (k *sessionStore) FindCtx(ctx context.Context, hash string) ([]byte, bool, error) {
	ctx, now := principal.AsSystem(ctx), clock.Now(ctx)
	row, err := k.db.Ent.Session.Query().Where(session.TokenHash(hash)).Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return nil, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("find the session: %w", err)
	case !now.Before(row.ExpiresAt):
		return nil, false, nil
	}
	if noted, ok := ctx.Value(lastUseKey{}).(*lastUse); ok {
		*noted = lastUse{row.CreatedAt, row.LastSeenAt}
	}
	return row.Data, true, nil
}

// expiry returns when a session ends, given its start and its last use.
func expiry(begun, lastSeen time.Time) time.Time {
	end, idle := begun.Add(Lifetime), lastSeen.Add(IdleLife)
	if idle.Before(end) {
		return idle
	}
	return end
}

// CommitCtx implements scs.CtxStore. It inserts only new sessions, so a session that
// ended during the request stays ended.
func (k *sessionStore) CommitCtx(ctx context.Context, hash string, data []byte, _ time.Time) error {
	deadline, values, err := k.codec.Decode(data)
	if err != nil {
		return err
	}
	if _, isNew := values[keyNew]; !isNew {
		return k.db.Ent.Session.Update().Where(session.TokenHash(hash)).SetData(data).Exec(principal.AsSystem(ctx))
	}
	browser, _ := values[keyBrowser].(string)
	address, _ := values[keyAddress].(string)
	proven, _ := values[keyProof].(string)
	for _, key := range []string{keyNew, keyBrowser, keyAddress, keyProof} {
		delete(values, key)
	}
	if data, err = k.codec.Encode(deadline, values); err != nil {
		return err
	}
	return k.add(ctx, hash, data, values, proven, Browser{Address: address, Name: browser})
}

// add stores a new session. It fails with store.ErrAccessEnded if the user was
// disabled, the password or the authenticator changed, or the passkey was removed,
// during the sign-in.
func (k *sessionStore) add(ctx context.Context, hash string, data []byte, values map[string]any, proven string, from Browser) error {
	now := clock.Now(ctx)
	ctx = principal.AsSystem(ctx)
	ends := expiry(now, now)
	userID, signedIn := values[keyUser].(int64)
	if !signedIn {
		userID, signedIn = values[keyPending].(int64)
		ends = now.Add(FactorLife)
	}
	id, noID := uuid.Parse(fmt.Sprint(values[keySession]))
	practice, noPractice := uuid.Parse(fmt.Sprint(values[keyPractice]))
	if err := errors.Join(noID, noPractice); err != nil || !signedIn {
		return errors.New("the session has no user")
	}
	// Remove expired sessions.
	if _, err := k.db.Ent.Session.Delete().Where(session.ExpiresAtLT(now)).Exec(ctx); err != nil {
		return fmt.Errorf("remove expired sessions: %w", err)
	}
	err := k.db.Tx(ctx, func(tx *ent.Client) error {
		if err := store.HoldAccess(ctx, tx, userID); err != nil {
			return err
		}
		if err := unchanged(ctx, k.db.Keys, tx, userID, proven); err != nil {
			return err
		}
		return tx.Session.Create().
			SetID(id).SetPracticeID(practice).SetUserID(userID).
			SetTokenHash(hash).SetData(data).
			SetBrowser(from.Name).SetAddress(from.Address).
			SetLastSeenAt(now).SetExpiresAt(ends).
			Exec(ctx)
	})
	if err != nil {
		return fmt.Errorf("store the session: %w", err)
	}
	noteSession(ctx, values, practice, userID, id, proven, from)
	return nil
}

// noteSession notes for the audit log what a session that now exists means: a sign-in, or a correct
// password of a user who must still prove the second factor. That is a failure until it does.
func noteSession(ctx context.Context, values map[string]any, practice uuid.UUID, userID int64, id uuid.UUID, proof string, from Browser) {
	u := &ent.User{ID: userID, PracticeID: practice}
	e := signInEvent("sign_in", u, id, from)
	if _, complete := values[keyUser]; !complete {
		e = signInEvent("sign_in_failed", u, uuid.Nil, from)
		e.Reason = "second_factor_needed"
	} else if strings.Contains(proof, ":") {
		e.Method = byPasskey
	}
	audit.From(ctx).Event(e)
}

// unchanged fails with store.ErrAccessEnded unless a user still has the credentials of a sign-in.
func unchanged(ctx context.Context, keys *seal.Keys, tx *ent.Client, userID int64, proof string) error {
	proven, used, byPasskey := strings.Cut(proof, ":")
	u, err := tx.User.Get(ctx, userID)
	if err != nil {
		return err
	}
	switch now, err := credentials(keys, u); {
	case err != nil:
		return err
	case now != proven:
		return store.ErrAccessEnded
	case !byPasskey:
		return nil
	}
	id, err := uuid.Parse(used)
	if err != nil {
		return err
	}
	kept, err := tx.Passkey.Query().Where(passkey.ID(id), passkey.UserID(userID)).Exist(ctx)
	if err == nil && !kept {
		err = store.ErrAccessEnded
	}
	return err
}

// DeleteCtx implements scs.CtxStore.
func (k *sessionStore) DeleteCtx(ctx context.Context, hash string) error {
	_, err := k.db.Ent.Session.Delete().Where(session.TokenHash(hash)).Exec(principal.AsSystem(ctx))
	return err
}

// errNoContext refuses the methods of scs.Store, which the manager calls only if a
// store lacks those with a context.
var errNoContext = errors.New("sessions need a request's context")

// Find implements scs.Store.
func (k *sessionStore) Find(string) ([]byte, bool, error) { return nil, false, errNoContext }

// Commit implements scs.Store.
func (k *sessionStore) Commit(string, []byte, time.Time) error { return errNoContext }

// Delete implements scs.Store.
func (k *sessionStore) Delete(string) error { return errNoContext }
