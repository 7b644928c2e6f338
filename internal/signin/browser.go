package signin

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"github.com/mileusna/useragent"

	"chairside/ent"
	"chairside/ent/user"
	"chairside/internal/clock"
	"chairside/internal/principal"
	"chairside/internal/store"
	"chairside/schema"
)

const (
	// browserLife is how long a browser is known after its last sign-in, the longest life that
	// browsers give a cookie.
	browserLife = 400 * 24 * time.Hour
	// maxBrowsers is the most known browsers of a user.
	maxBrowsers = 20
)

// Identify returns the client of a request with the cookie by which it is recognised, or with a
// new one, which Remember sends. The cookie gives no access.
func (s *Sessions) Identify(r *http.Request) Browser {
	b := BrowserOf(r)
	if c, err := r.Cookie(s.browserCookie); err == nil && len(c.Value) == len(rand.Text()) {
		b.cookie = c.Value
	} else {
		b.cookie = rand.Text()
	}
	return b
}

// Remember sends a browser that has signed in its cookie.
func (s *Sessions) Remember(w http.ResponseWriter, b Browser) {
	http.SetCookie(w, &http.Cookie{
		Name: s.browserCookie, Value: b.cookie, Path: "/", MaxAge: int(browserLife.Seconds()),
		Secure: s.manager.Cookie.Secure, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
}

// hash returns the stored form of a browser's cookie for a user. Two users of one browser have
// different hashes.
func (b Browser) hash(userID int64) string {
	sum := sha256.Sum256([]byte("browser:" + strconv.FormatInt(userID, 10) + ":" + b.cookie))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// is reports whether a known browser of a user is b.
func (b Browser) is(known schema.KnownBrowser, userID int64) bool {
	return subtle.ConstantTimeCompare([]byte(known.Hash), []byte(b.hash(userID))) == 1
}

// recordSignIn stores the time of a user's sign-in and the browser, and marks a browser that is
// new. The first browser of a user is not marked: there is no one to tell.
func (s *Sessions) recordSignIn(ctx context.Context, userID int64, from Browser) error {
	now := clock.Now(ctx)
	return s.changeBrowsers(ctx, userID, func(all []schema.KnownBrowser, update *ent.UserUpdateOne) []schema.KnownBrowser {
		update.SetLastLogin(now)
		b := schema.KnownBrowser{Hash: from.hash(userID), Name: from.Name, First: now, Last: now, Unseen: len(all) > 0}
		if i := slices.IndexFunc(all, func(known schema.KnownBrowser) bool { return from.is(known, userID) }); i >= 0 {
			b.First, b.Unseen = all[i].First, all[i].Unseen
			all = slices.Delete(all, i, i+1)
		}
		all = slices.DeleteFunc(all, func(known schema.KnownBrowser) bool { return now.Sub(known.Last) >= browserLife })
		all = slices.Insert(all, 0, b)
		return all[:min(len(all), maxBrowsers)]
	})
}

// NewBrowsers returns the browsers that have signed in as the visitor for the first time and that
// the visitor has not dismissed, except from itself.
func NewBrowsers(v *Visitor, from Browser) (all []schema.KnownBrowser) {
	for _, known := range v.User.KnownBrowsers {
		if known.Unseen && !from.is(known, v.User.ID) {
			all = append(all, known)
		}
	}
	return all
}

// DismissBrowsers marks what NewBrowsers returns as seen. Someone who has stolen the password must
// not silence the notice: a browser without its cookie marks nothing, and a new browser only those
// that are newer.
func (s *Sessions) DismissBrowsers(ctx context.Context, from Browser) error {
	id := From(ctx).User.ID
	return s.changeBrowsers(ctx, id, func(all []schema.KnownBrowser, _ *ent.UserUpdateOne) []schema.KnownBrowser {
		own := slices.IndexFunc(all, func(known schema.KnownBrowser) bool { return from.is(known, id) })
		if own < 0 {
			return all
		}
		for i, known := range all {
			if i != own && (!all[own].Unseen || known.First.After(all[own].First)) {
				all[i].Unseen = false
			}
		}
		return all
	})
}

// changeBrowsers changes a user's known browsers in a transaction that locks the user.
func (s *Sessions) changeBrowsers(ctx context.Context, userID int64, change func(all []schema.KnownBrowser, update *ent.UserUpdateOne) []schema.KnownBrowser) error {
	ctx = principal.AsSystem(ctx)
	return s.db.Tx(ctx, func(tx *ent.Client) error {
		u, err := tx.User.Query().Where(user.ID(userID), store.ForUpdate).Only(ctx)
		if err != nil {
			return err
		}
		update := tx.User.UpdateOne(u)
		return update.SetKnownBrowsers(change(slices.Clone(u.KnownBrowsers), update)).Exec(ctx)
	})
}

// browserNames and systemNames are the only names that BrowserName returns. A client may send any
// text, such as a name or a token, which must reach neither the audit log nor a session.
var (
	browserNames = []string{
		useragent.Chrome, useragent.Edge, useragent.Firefox, useragent.Safari, useragent.Opera, useragent.OperaMini, useragent.OperaTouch,
		useragent.Vivaldi, useragent.SamsungBrowser, useragent.InternetExplorer, useragent.HeadlessChrome, "Android browser", "Huawei Browser", "Miui Browser",
	}
	systemNames = []string{
		useragent.Windows, useragent.MacOS, useragent.Linux, useragent.Android, useragent.IOS, useragent.ChromeOS, useragent.FreeBSD, useragent.Harmony,
	}
)

// maxUserAgent is the most bytes of a User-Agent that are read.
const maxUserAgent = 255

// BrowserName names the browser of a User-Agent header: "Firefox on Windows".
func BrowserName(header string) string {
	agent := useragent.Parse(header[:min(len(header), maxUserAgent)])
	name, system := "Unknown browser", ""
	if slices.Contains(browserNames, agent.Name) {
		name = agent.Name
	}
	if slices.Contains(systemNames, agent.OS) {
		system = " on " + agent.OS
	}
	return name + system
}

// network returns an address of BrowserOf without its last part, which would name one machine or
// household.
func network(address string) string {
	prefix, err := netip.ParsePrefix(address) // of IPv6
	if err != nil {
		plain, err := netip.ParseAddr(address)
		if err != nil {
			return ""
		}
		prefix = netip.PrefixFrom(plain, plain.BitLen())
	}
	bits := 24
	if prefix.Addr().Is6() {
		bits = 48
	}
	if wider, err := prefix.Addr().Prefix(min(bits, prefix.Bits())); err == nil {
		return wider.String()
	}
	return ""
}
