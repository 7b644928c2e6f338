package signin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/alexedwards/scs/v2"
	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/session"
	"chairside/internal/clock"
	"chairside/internal/principal"
	"chairside/internal/store"
	"chairside/schema"
)

const (
	// Lifetime is how long a session lives at most.
	Lifetime = 12 * time.Hour
	// IdleLife is how long it lives without a page being asked for.
	IdleLife = 2 * time.Hour
	// factorLife is how long a user has for the second factor.
	factorLife = 10 * time.Minute
	// seenResolution is how exactly the last page is known.
	seenResolution = time.Minute
)

// What a session holds. A session begins with keyPending where a second factor
// is needed, else with keyUser.
const (
	keySession  = "session"  // its id, as text
	keyUser     = "user"     // id of who has signed in
	keyPending  = "pending"  // id of who has given the password alone
	keyPractice = "practice" // of that user, as text
	keyNew      = "new"      // until it is stored for the first time
	keyAgent    = "agent"    // the browser, until then
	keyAddress  = "address"  // the network address, until then
	keyProof    = "proof"    // what the user has shown (proof), until then
	keySecret   = "secret"   // of a second factor that is being set up
)

// Sessions are who has signed in, in which browser.
type Sessions struct {
	db      *store.DB
	manager *scs.SessionManager
}

// New keeps sessions in db. With secure the cookie travels over HTTPS alone.
// fail answers a request whose session could not be read or written.
func New(db *store.DB, secure bool, fail func(http.ResponseWriter, *http.Request, error)) *Sessions {
	m := scs.New()
	m.Store = &keeper{db, m.Codec}
	m.HashTokenInStore = true
	m.Lifetime = Lifetime
	m.ErrorFunc = fail
	m.Cookie.Name = "chairside_session"
	m.Cookie.Persist = false // ends with the browser: practices share machines
	if secure {
		m.Cookie.Name = "__Host-" + m.Cookie.Name
		m.Cookie.Secure = true
	}
	return &Sessions{db, m}
}

// begin starts a session of its own for the user: what the browser held before
// is of no use any more, so nobody can have planted it.
func (s *Sessions) begin(ctx context.Context, u *ent.User, key string, from Browser) error {
	if err := s.manager.Destroy(ctx); err != nil {
		return err
	}
	s.manager.Put(ctx, keyNew, true)
	s.manager.Put(ctx, keySession, schema.NewID().String())
	s.manager.Put(ctx, keyPractice, u.PracticeID.String())
	s.manager.Put(ctx, keyAgent, from.UserAgent)
	s.manager.Put(ctx, keyAddress, from.Address)
	s.manager.Put(ctx, keyProof, proof(u))
	s.manager.Put(ctx, key, u.ID)
	return nil
}

// proof stands for the password and the second factor that a user has.
func proof(u *ent.User) string {
	sum := sha256.Sum256([]byte(u.PasswordHash + "\x00" + u.TotpSecret))
	return hex.EncodeToString(sum[:])
}

// SignOut ends the session of this browser.
func (s *Sessions) SignOut(ctx context.Context) error { return s.manager.Destroy(ctx) }

// List gives the sessions of the caller's user, the last used one first. One
// that waits for the second factor is none yet.
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

// End ends one session of the caller's user. One that is not there any more
// is no failure.
func (s *Sessions) End(ctx context.Context, id uuid.UUID) error {
	_, err := s.db.Ent.Session.Delete().Where(session.UserID(principal.Must(ctx).UserID), session.ID(id)).Exec(ctx)
	return err
}

// EndOthers ends all sessions of the visitor but this one.
func (s *Sessions) EndOthers(ctx context.Context) error {
	return s.asVisitor(ctx, func(tx *ent.Client, u *ent.User) error {
		return endAccess(ctx, tx, u.ID, BySession, From(ctx).SessionID)
	})
}

// keeper is where the session manager keeps its data. The manager's own clock
// counts for nothing: lifetimes follow the reading of the request.
type keeper struct {
	db    *store.DB
	codec scs.Codec
}

// FindCtx implements scs.CtxStore. It notes that the session is in use.
func (k *keeper) FindCtx(ctx context.Context, hash string) ([]byte, bool, error) {
	ctx, now := principal.AsSystem(ctx), clock.Now(ctx)
	row, err := k.db.Ent.Session.Query().Where(session.TokenHash(hash)).Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return nil, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("signin: find a session: %w", err)
	case !now.Before(row.ExpiresAt):
		return nil, false, nil
	}
	_, values, err := k.codec.Decode(row.Data)
	if err != nil {
		return nil, false, fmt.Errorf("signin: read a session: %w", err)
	}
	if _, signedIn := values[keyUser]; signedIn && now.Sub(row.LastSeenAt) >= seenResolution {
		err = k.db.Ent.Session.Update().Where(session.ID(row.ID)).
			SetLastSeenAt(now).SetExpiresAt(expiry(row.CreatedAt, now)).
			Exec(ctx)
	}
	return row.Data, true, err
}

// expiry is when a session ends that was begun and last used at these times.
func expiry(begun, lastSeen time.Time) time.Time {
	end, idle := begun.Add(Lifetime), lastSeen.Add(IdleLife)
	if idle.Before(end) {
		return idle
	}
	return end
}

// CommitCtx implements scs.CtxStore. A session that was ended while the request
// was on its way stays ended: only what is new is added.
func (k *keeper) CommitCtx(ctx context.Context, hash string, data []byte, _ time.Time) error {
	deadline, values, err := k.codec.Decode(data)
	if err != nil {
		return err
	}
	if _, isNew := values[keyNew]; !isNew {
		return k.db.Ent.Session.Update().Where(session.TokenHash(hash)).SetData(data).Exec(principal.AsSystem(ctx))
	}
	agent, _ := values[keyAgent].(string)
	address, _ := values[keyAddress].(string)
	proven, _ := values[keyProof].(string)
	for _, key := range []string{keyNew, keyAgent, keyAddress, keyProof} {
		delete(values, key)
	}
	if data, err = k.codec.Encode(deadline, values); err != nil {
		return err
	}
	return k.add(ctx, hash, data, values, proven, strings.ToValidUTF8(agent, "�"), address)
}

// add stores a new session. It fails with store.ErrAccessEnded where the user was
// disabled, or the password or the second factor has changed, since the user has
// shown them.
func (k *keeper) add(ctx context.Context, hash string, data []byte, values map[string]any, proven, agent, address string) error {
	now := clock.Now(ctx)
	ctx = principal.AsSystem(ctx)
	ends := expiry(now, now)
	userID, signedIn := values[keyUser].(int64)
	if !signedIn {
		userID, signedIn = values[keyPending].(int64)
		ends = now.Add(factorLife)
	}
	id, noID := uuid.Parse(fmt.Sprint(values[keySession]))
	practice, noPractice := uuid.Parse(fmt.Sprint(values[keyPractice]))
	if err := errors.Join(noID, noPractice); err != nil || !signedIn {
		return errors.New("signin: a session is of nobody")
	}
	// Those that have ended make room.
	if _, err := k.db.Ent.Session.Delete().Where(session.ExpiresAtLT(now)).Exec(ctx); err != nil {
		return fmt.Errorf("signin: remove old sessions: %w", err)
	}
	err := k.db.Tx(ctx, func(tx *ent.Client) error {
		if err := store.HoldAccess(ctx, tx, userID); err != nil {
			return err
		}
		u, err := tx.User.Get(ctx, userID)
		switch {
		case err != nil:
			return err
		case proof(u) != proven:
			return store.ErrAccessEnded
		}
		return tx.Session.Create().
			SetID(id).SetPracticeID(practice).SetUserID(userID).
			SetTokenHash(hash).SetData(data).
			SetUserAgent(agent).SetAddress(address).
			SetLastSeenAt(now).SetExpiresAt(ends).
			Exec(ctx)
	})
	if err != nil {
		return fmt.Errorf("signin: store a session: %w", err)
	}
	return nil
}

// DeleteCtx implements scs.CtxStore.
func (k *keeper) DeleteCtx(ctx context.Context, hash string) error {
	_, err := k.db.Ent.Session.Delete().Where(session.TokenHash(hash)).Exec(principal.AsSystem(ctx))
	return err
}

// errNoContext refuses the forms of scs.Store without a context, which the
// manager calls only where a store has no other.
var errNoContext = errors.New("signin: sessions need the context of a request")

// Find implements scs.Store.
func (k *keeper) Find(string) ([]byte, bool, error) { return nil, false, errNoContext }

// Commit implements scs.Store.
func (k *keeper) Commit(string, []byte, time.Time) error { return errNoContext }

// Delete implements scs.Store.
func (k *keeper) Delete(string) error { return errNoContext }
