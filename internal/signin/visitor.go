package signin

import (
	"context"
	"net/http"
	"net/netip"
	"time"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/user"
	"chairside/internal/principal"
)

// Visitor is the signed-in user of a request.
type Visitor struct {
	User      *ent.User // with its practice
	SessionID uuid.UUID
	Zone      *time.Location // of the practice
}

// Practice is the visitor's practice.
func (v *Visitor) Practice() *ent.Practice { return v.User.Edges.Practice }

type visitorKey struct{}

// From returns the visitor of a request that passed Load, or nil if signed out.
func From(ctx context.Context) *Visitor {
	v, _ := ctx.Value(visitorKey{}).(*Visitor)
	return v
}

// Load loads the session and confines the request to its user's practice. Requests
// without a session have no visitor.
func (s *Sessions) Load(next http.Handler) http.Handler {
	return s.manager.LoadAndSave(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v, err := s.visitor(r.Context())
		if err != nil {
			s.manager.ErrorFunc(w, r, err)
			return
		}
		if v != nil {
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
// code, or the user was disabled.
func (s *Sessions) visitor(ctx context.Context) (*Visitor, error) {
	id, signedIn := s.manager.Get(ctx, keyUser).(int64)
	if !signedIn {
		return nil, nil
	}
	u, err := s.db.Ent.User.Query().Where(user.ID(id), user.Active(true)).WithPractice().Only(principal.AsSystem(ctx))
	if ent.IsNotFound(err) {
		return nil, s.manager.Destroy(ctx)
	}
	if err != nil {
		return nil, err
	}
	zone, err := time.LoadLocation(u.Edges.Practice.TimeZone)
	if err != nil {
		return nil, err
	}
	session, err := uuid.Parse(s.manager.GetString(ctx, keySession))
	return &Visitor{User: u, SessionID: session, Zone: zone}, err
}

// Browser is the client of a request.
type Browser struct {
	Address   string // for IPv6 the /64 network, which one household shares
	UserAgent string
}

// maxUserAgent is the longest stored User-Agent in bytes.
const maxUserAgent = 255

// BrowserOf returns the client of a request.
func BrowserOf(r *http.Request) Browser {
	b := Browser{Address: r.RemoteAddr, UserAgent: r.UserAgent()}
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
	if len(b.UserAgent) > maxUserAgent {
		b.UserAgent = b.UserAgent[:maxUserAgent]
	}
	return b
}
