package signin

import (
	"context"
	"net/http"
	"net/netip"
	"time"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/session"
	"chairside/ent/user"
	"chairside/internal/clock"
	"chairside/internal/principal"
)

// Visitor is the signed-in user of a request.
type Visitor struct {
	User      *ent.User // with its practice
	SessionID uuid.UUID
	Zone      *time.Location // of the practice
	Locked    bool           // the session must be confirmed after a time without a request

	passkey bool // the visitor has a passkey; set only if NeedsFactor depends on it
}

// Practice is the visitor's practice.
func (v *Visitor) Practice() *ent.Practice { return v.User.Edges.Practice }

// RequiresFactor reports whether the practice requires two-factor authentication of the visitor.
func (v *Visitor) RequiresFactor() bool { return RulesOf(v.Practice()).RequireFactor(v.User) }

// NeedsFactor reports whether the visitor must set up two-factor authentication before anything
// else.
func (v *Visitor) NeedsFactor() bool {
	return v.RequiresFactor() && v.User.TotpSecret.IsNull() && !v.passkey
}

type visitorKey struct{}

// From returns the visitor of a request that passed Load, or nil if signed out or if the session
// is locked.
func From(ctx context.Context) *Visitor {
	if v := FromLocked(ctx); v != nil && !v.Locked {
		return v
	}
	return nil
}

// FromLocked is From that also returns the visitor of a locked session, who may only confirm it or
// sign out. The request has no principal then.
func FromLocked(ctx context.Context) *Visitor {
	v, _ := ctx.Value(visitorKey{}).(*Visitor)
	return v
}

// lastUse is the start and the last use of the request's session, before the request.
type lastUse struct{ begun, seen time.Time }

type lastUseKey struct{}

// Load loads the session and confines the request to its user's practice. Requests
// without a session have no visitor, and those of a locked session no principal.
func (s *Sessions) Load(next http.Handler) http.Handler {
	load := s.load(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		load.ServeHTTP(newResponse(w), r.WithContext(context.WithValue(r.Context(), lastUseKey{}, &lastUse{})))
	})
}

func (s *Sessions) load(next http.Handler) http.Handler {
	return s.manager.LoadAndSave(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v, err := s.visitor(r.Context())
		if err != nil {
			s.manager.ErrorFunc(w, r, err)
			return
		}
		switch {
		case v == nil:
		case v.Locked:
			r = r.WithContext(context.WithValue(r.Context(), visitorKey{}, v))
		default:
			ctx := principal.With(r.Context(), &principal.Principal{
				PracticeID: v.User.PracticeID,
				UserID:     v.User.ID,
				Zone:       v.Zone,
				Country:    v.Practice().Country,
				UserSiteID: v.User.SiteID,
			})
			r = r.WithContext(context.WithValue(principal.WithSession(ctx, v.SessionID), visitorKey{}, v))
		}
		next.ServeHTTP(w, r)
	}))
}

// visitor returns the session's user, or nil if there is no session, it waits for a
// second factor, the user was disabled, or the practice is closed. It locks a session that was idle for too long, and writes the
// last use of others.
func (s *Sessions) visitor(ctx context.Context) (*Visitor, error) {
	userID, signedIn := s.manager.Get(ctx, keyUser).(int64)
	if !signedIn {
		return nil, nil
	}
	u, err := s.db.Ent.User.Query().Where(user.ID(userID), user.Active(true)).WithPractice().Only(principal.AsSystem(ctx))
	if ent.IsNotFound(err) {
		return nil, s.manager.Destroy(ctx)
	}
	if err != nil {
		return nil, err
	}
	if isClosed(ctx, u) {
		return nil, s.manager.Destroy(ctx)
	}
	zone, err := time.LoadLocation(u.Edges.Practice.TimeZone)
	if err != nil {
		return nil, err
	}
	id, err := uuid.Parse(s.manager.GetString(ctx, keySession))
	if err != nil {
		return nil, err
	}
	v := &Visitor{User: u, SessionID: id, Zone: zone}
	if u.TotpSecret.IsNull() && v.RequiresFactor() {
		passkeys, err := s.passkeysOf(ctx, u.ID)
		if err != nil {
			return nil, err
		}
		v.passkey = len(passkeys) > 0
	}
	idle := clock.Now(ctx).Sub(ctx.Value(lastUseKey{}).(*lastUse).seen)
	if limit := RulesOf(v.Practice()).IdleMinutes; limit > 0 && idle >= time.Duration(limit)*time.Minute {
		v.Locked = true // until Confirm: the last use stays as it is
		return v, nil
	}
	if idle >= seenResolution {
		err = s.noteUse(ctx, id)
	}
	return v, err
}

// noteUse writes the last use of the request's session, which extends its life.
func (s *Sessions) noteUse(ctx context.Context, id uuid.UUID) error {
	now := clock.Now(ctx)
	return s.db.Ent.Session.Update().Where(session.ID(id)).
		SetLastSeenAt(now).SetExpiresAt(expiry(ctx.Value(lastUseKey{}).(*lastUse).begun, now)).
		Exec(principal.AsSystem(ctx))
}

// Browser is the client of a request.
type Browser struct {
	Address string // for IPv6 the /64 network, which one household shares
	Name    string // see BrowserName: the User-Agent itself goes no further
	cookie  string // by which Identify recognises it; "" from BrowserOf
}

// BrowserOf returns the client of a request.
func BrowserOf(r *http.Request) Browser {
	b := Browser{Address: r.RemoteAddr, Name: BrowserName(r.UserAgent())}
	if peer, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		b.Address = peer.Addr().String()
	}
	if address, err := netip.ParseAddr(b.Address); err == nil {
		address = address.Unmap().WithZone("")
		b.Address = address.String()
		if network, err := address.Prefix(64); err == nil && address.Is6() {
			b.Address = network.String()
		}
	}
	return b
}
