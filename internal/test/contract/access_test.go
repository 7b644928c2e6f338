package contract

import (
	"net/http"
	"strings"
	"testing"

	"chairside/internal/scope"
	"chairside/internal/test/harness"
)

func TestRequestsWithoutAValidTokenAreRefused(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w := loadWorld(t, e, "demo")
		for _, op := range operations() {
			r := send(t, e, op, w.request(op, 0)).Error(t, http.StatusUnauthorized, "missing_token")
			if got := r.Header.Get("WWW-Authenticate"); got != `Bearer realm="chairside"` {
				t.Errorf("%s: WWW-Authenticate is %q", op, got)
			}
			for _, token := range []string{"cs_pat_unknown", strings.Repeat("x", 5000), "é", "'; --"} {
				q := w.request(op, 0)
				q.Token = token
				r := send(t, e, op, q).Error(t, http.StatusUnauthorized, "invalid_token")
				if got := r.Header.Get("WWW-Authenticate"); !strings.Contains(got, `error="invalid_token"`) {
					t.Errorf("%s: WWW-Authenticate is %q", op, got)
				}
				if r.Header.Get("X-OAuth-Scopes") != "" {
					t.Errorf("%s: shows scopes of an unknown token", op)
				}
			}
		}
	})
}

func TestEveryOperationRequiresItsScope(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w := loadWorld(t, e, "demo")
		tokens := map[string]string{}
		with := func(scopes string) string {
			if tokens[scopes] == "" {
				tokens[scopes] = e.Token(t, scopes)
			}
			return tokens[scopes]
		}
		for _, op := range operations() {
			if op.Scope == "" {
				continue
			}
			family, verb, _ := strings.Cut(op.Scope, ":")
			var otherFamilies, otherVerbs []string
			for _, s := range scope.All() {
				f, v, _ := strings.Cut(s, ":")
				switch {
				case f != family:
					otherFamilies = append(otherFamilies, s)
				case v != "" && v != verb:
					otherVerbs = append(otherVerbs, s)
				}
			}
			for _, wrong := range []string{strings.Join(otherFamilies, " "), strings.Join(otherVerbs, " ")} {
				q := w.request(op, 0)
				q.Token = with(wrong)
				r := send(t, e, op, q).Error(t, http.StatusForbidden, "insufficient_scope")
				if got := r.Header.Get("WWW-Authenticate"); !strings.Contains(got, `error="insufficient_scope"`) || !strings.Contains(got, `scope="`+op.Scope+`"`) {
					t.Errorf("%s: WWW-Authenticate is %q", op, got)
				}
				if got := r.Header.Get("X-OAuth-Scopes"); got == "" {
					t.Errorf("%s: the response does not show the refused token's scopes", op)
				}
			}
			for n, right := range []string{op.Scope, family} {
				if op.Body != nil && op.Body.Key == "webhook" { // it sends patients
					right = "patient:read " + right
				}
				q := w.request(op, n)
				q.Token = with(right)
				r := send(t, e, op, q).Status(t, op.Success)
				if got := r.Header.Get("X-OAuth-Scopes"); got != right {
					t.Errorf("%s: X-OAuth-Scopes is %q, want %q", op, got, right)
				}
			}
		}
	})
}

func TestTokensAreAcceptedFromHeaderAndQuery(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		op, good := find(t, "getCurrentUser"), e.Token(t, "user:read")
		other := e.TokenOf(t, "admin@second.chairside.test", "user:read", nil)
		for _, c := range []struct {
			name, header, query string
			status              int
			word                string
		}{
			{"bearer", "Bearer " + good, "", 200, ""},
			{"lower case", "bearer " + good, "", 200, ""},
			{"upper case", "BEARER " + good, "", 200, ""},
			{"blanks around", "Bearer    " + good + "  ", "", 200, ""},
			{"query", "", good, 200, ""},
			{"both the same", "Bearer " + good, good, 200, ""},
			{"header wins over a bad query", "Bearer " + good, "nonsense", 200, ""},
			{"bad header wins over query", "Bearer nonsense", good, 401, "invalid_token"},
			{"another scheme", "Basic " + good, "", 401, "missing_token"},
			{"another scheme beside the query", "Basic " + good, good, 200, ""},
			{"scheme alone", "Bearer", "", 401, "missing_token"},
			{"scheme and blanks", "Bearer   ", "", 401, "missing_token"},
			{"token alone", good, "", 401, "missing_token"},
			{"empty query", "", "", 401, "missing_token"},
			{"cut short", "Bearer " + good[:len(good)-1], "", 401, "invalid_token"},
			{"one more", "Bearer " + good + "x", "", 401, "invalid_token"},
			{"other case", "Bearer " + strings.ToUpper(good), "", 401, "invalid_token"},
			{"two tokens", "Bearer " + good + " " + other, "", 401, "invalid_token"},
			{"a list", "Bearer " + good + ", Bearer " + other, "", 401, "invalid_token"},
		} {
			q := harness.Request{Method: http.MethodGet, Path: "/v1/user", Header: map[string]string{}}
			if c.header != "" {
				q.Header["Authorization"] = c.header
			}
			if c.query != "" {
				q.Path += "?access_token=" + c.query
			}
			r := send(t, e, op, q)
			if r.Code != c.status {
				t.Errorf("%s: status %d, want %d: %s", c.name, r.Code, c.status, r.Raw)
				continue
			}
			if c.word != "" {
				r.Error(t, c.status, c.word)
			} else if r.Header.Get("X-Unknown-Parameters") != "" {
				t.Errorf("%s: access_token is called unknown", c.name)
			}
		}
	})
}
