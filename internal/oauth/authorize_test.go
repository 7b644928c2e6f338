package oauth_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"chairside/internal/oauth"
	"chairside/internal/scope"
	"chairside/internal/seed"
	"chairside/internal/test/harness"
)

// attack is the valid authorization request with a change, and the expected outcome:
//
//	stays    an error page without a redirect
//	consent  the consent page
//	other    a redirect that delivers this error
type attack struct{ name, change, want string }

const (
	stays   = "stays"
	consent = "consent"
)

// checkAttacks sends each request three times: by a signed-in user, by a signed-out one,
// and as a manipulated consent form.
func checkAttacks(t *testing.T, attacks []attack) {
	each(t, func(t *testing.T, w *world) {
		stranger := w.Browser(t)
		shown := w.authorize(w.admin, "").Status(t, http.StatusOK).Form(t, oauth.AuthorizePath)
		for _, a := range attacks {
			t.Run(a.name, func(t *testing.T) {
				w := w.forSubtest(t)
				sent := w.fill(alter(goodRequest, a.change))
				w.checkOutcome(w.admin.Get(oauth.AuthorizePath+"?"+sent), sent, a.want)
				signedOut := a.want
				if signedOut == consent {
					signedOut = "sign-in"
				}
				w.checkOutcome(stranger.Get(oauth.AuthorizePath+"?"+sent), sent, signedOut)
				form, late := tamper(w, shown, a.change), a.want
				if asked, err := scope.Parse(form.Get("scope")); late == consent && err == nil && asked.String() == shown.Values.Get("granted") {
					late = "code" // changed scopes show the page again first
				}
				form.Set("decision", "allow")
				if strings.Contains(form.Encode(), "%00") || strings.Contains(form.Encode(), "%FF") {
					late = stays // no browser sends this as a form
				}
				w.checkOutcome(w.admin.Post(oauth.AuthorizePath, form), form.Encode(), late)
			})
		}
	})
}

// forSubtest returns the same world for a subtest.
func (w *world) forSubtest(t *testing.T) *world {
	inner := *w
	inner.t = t
	return &inner
}

// tamper returns the consent form that was shown, with the fields of a changed request.
func tamper(w *world, shown *harness.Form, change string) url.Values {
	w.t.Helper()
	sent, err := url.ParseQuery(w.fill(alter(goodRequest, change)))
	if err != nil {
		w.t.Fatal(err)
	}
	good, _ := url.ParseQuery(goodRequest)
	for name, values := range shown.Values { // fields that the page adds
		if good[name] == nil {
			sent[name] = values
		}
	}
	return sent
}

// checkOutcome checks a response of any kind.
func (w *world) checkOutcome(p *harness.Page, sent, want string) {
	w.t.Helper()
	got := outcome(p)
	if got != want {
		w.t.Fatalf("%s, want %s: %d %s %s", got, want, p.Code, p.Header.Get("Location"), p.Text())
	}
	switch got {
	case stays:
		if p.Header.Get("Location") != "" || p.Header.Get("Refresh") != "" || strings.Contains(strings.ToLower(string(p.Raw)), "http-equiv=\"refresh") {
			w.t.Error("the error page redirects the browser")
		}
		if slices.ContainsFunc(p.Links(), func(to string) bool { return strings.Contains(to, "://") && !strings.HasPrefix(to, w.URL) }) {
			w.t.Errorf("the error page links to another site: %v", p.Links())
		}
	case consent, "sign-in":
	default:
		w.checkRedirect(p, sent)
	}
}

// checkRedirect checks a redirect to the application: exact URI, returned state, and iss.
func (w *world) checkRedirect(p *harness.Page, sent string) {
	w.t.Helper()
	asked, _ := url.ParseQuery(sent)
	to := p.Header.Get("Location")
	if !strings.HasPrefix(to, asked.Get("redirect_uri")) {
		w.t.Errorf("redirected to %s", to)
	}
	got := p.Redirect(w.t).Query()
	if states := asked["state"]; len(states) == 1 && got.Get("state") != states[0] || len(states) != 1 && got.Has("state") {
		w.t.Errorf("state %q, sent %q", got["state"], states)
	}
	if got.Get("iss") != w.URL {
		w.t.Errorf("iss %q", got["iss"])
	}
	if got.Has("code") == got.Has("error") || got.Has("error") == (got.Get("error_description") == "") {
		w.t.Errorf("answered %v", got)
	}
	for name, values := range got {
		if len(values) != 1 && name != "a" && name != "b" {
			w.t.Errorf("%s is returned %d times", name, len(values))
		}
	}
}

// outcome names the result of an authorization request.
func outcome(p *harness.Page) string {
	to, err := url.Parse(p.Header.Get("Location"))
	switch {
	case p.Code == http.StatusBadRequest:
		return stays
	case p.Code == http.StatusOK && p.HasForm(oauth.AuthorizePath):
		return consent
	case p.Code != http.StatusSeeOther || err != nil:
		return "something else"
	case to.Path == "/sign-in" && to.Host == "":
		return "sign-in"
	case to.Query().Has("error"):
		return to.Query().Get("error")
	case to.Query().Has("code"):
		return "code"
	}
	return "something else"
}

// TestAuthorizationReturnsACode is the valid case that the attacks change.
func TestAuthorizationReturnsACode(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for _, change := range []string{
			"", "code_challenge&code_challenge_method", "state", "redirect_uri=" + url.QueryEscape(queryCallback), "redirect_uri=" + localCallback,
			"scope=appointment+patient:read+user:read", asPublicClient, "client_id={second}&redirect_uri=" + secondCallback,
		} {
			to := w.allow(w.admin, change)
			if !strings.HasPrefix(to.Query().Get("code"), "cs_code_") || to.Query().Get("iss") != w.URL {
				t.Errorf("%s: %s", change, to)
			}
		}
		to := w.allow(w.admin, "redirect_uri="+url.QueryEscape(queryCallback)).String()
		if !strings.HasPrefix(to, queryCallback+"&") {
			t.Errorf("the query of a redirect address is not kept: %s", to)
		}
	})
}

// TestDenyingReturnsAccessDenied, and no code.
func TestDenyingReturnsAccessDenied(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		form := w.authorize(w.admin, "").Form(t, oauth.AuthorizePath)
		answer := w.admin.Submit(form, url.Values{"decision": {"deny"}})
		w.checkOutcome(answer, w.fill(goodRequest), "access_denied")
		for _, decision := range [][]string{nil, {""}, {"yes"}, {"Allow"}, {"deny", "allow"}, {"allow", "deny"}} {
			page := w.admin.Submit(form, url.Values{"decision": decision})
			if outcome(page) == "code" {
				t.Errorf("decision %q returns a code", decision)
			}
			if page.Code >= http.StatusInternalServerError {
				t.Errorf("decision %q: status %d", decision, page.Code)
			}
		}
	})
}

// TestStateIsReturnedUnchanged, with any characters.
func TestStateIsReturnedUnchanged(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for _, state := range []string{
			"x", "with space", "a+b", "a%20b", "ünïcødé ✓ 牙医", `"><script>alert(1)</script>`, "a&code=evil&b=c", "#x", "?", "=&=", "'", "\\", "%00", "%zz",
			strings.Repeat("s", 2048), `{"return":"/a?b=c"}`, "eyJhbGciOiJub25lIn0.e30.", "\u200b", "a;b",
		} {
			if got := w.allow(w.admin, "state="+url.QueryEscape(state)).Query(); got.Get("state") != state || len(got["code"]) != 1 || !strings.HasPrefix(got.Get("code"), "cs_code_") {
				t.Errorf("sent %.40q, got back %.40q", state, got.Get("state"))
			}
			denied := w.admin.Submit(w.authorize(w.admin, "state="+url.QueryEscape(state)).Form(t, oauth.AuthorizePath), url.Values{"decision": {"deny"}}).Redirect(t).Query()
			if denied.Get("state") != state || denied.Get("error") != "access_denied" || denied.Has("code") {
				t.Errorf("sent %.40q, got back %.40q when denied", state, denied.Get("state"))
			}
		}
	})
}

func TestConsentPageListsTheRequestedScopes(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		p := w.authorize(w.admin, "scope=appointment+patient:read").Status(t, http.StatusOK)
		p.Has(t, "Recall Robot", seed.DemoAdmin)
		form := p.Form(t, oauth.AuthorizePath)
		if form.Method != http.MethodPost || form.Values.Get("decision") != "" {
			t.Errorf("form %+v", form)
		}
		sent, _ := url.ParseQuery(w.fill(alter(goodRequest, "scope=appointment+patient:read")))
		for name, values := range sent {
			if !slices.Equal(form.Values[name], values) {
				t.Errorf("the form holds %s %q, sent %q", name, form.Values[name], values)
			}
		}
	})
}
