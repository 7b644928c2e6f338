package contract

import (
	"bytes"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"chairside/internal/server"
	"chairside/internal/test/harness"
)

func TestUserAgentIsRequired(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		for _, op := range operations() {
			for _, agent := range []string{"", " ", "\t"} {
				q := w.request(op, 0)
				q.Token, q.Header = token, map[string]string{"User-Agent": agent}
				r := send(t, e, op, q).Error(t, http.StatusForbidden, "missing_user_agent")
				const want = "Request forbidden by administrative rules. Please make sure your request has a User-Agent header"
				if got := r.Text(t, "error.message"); !strings.HasPrefix(got, want) {
					t.Errorf("%s: message %q", op, got)
				}
				if got := r.Text(t, "error.type"); got != "invalid_request_error" {
					t.Errorf("%s: type %q", op, got)
				}
				if r.Header.Get("X-OAuth-Scopes") != "" {
					t.Errorf("%s: the token was looked at before the User-Agent", op)
				}
			}
		}
	})
}

// TestUserAgentIsCheckedFirst: a request without it is refused before its path, method and
// token are checked.
func TestUserAgentIsCheckedFirst(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		noAgent := map[string]string{"User-Agent": ""}
		for _, path := range []string{"/", "/v1", "/v1/nothing", "/v1/patients/abc", "/v1/patients"} {
			q := harness.Request{Method: "PURGE", Path: path, Header: noAgent}
			send(t, e, operation{}, q).Error(t, http.StatusForbidden, "missing_user_agent")
		}
	})
}

func TestVersionPrefixIsOptional(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		for _, op := range operations() {
			if op.writes() || op.ID == "getRateLimit" {
				continue
			}
			q := w.request(op, 0)
			q.Token = token
			versioned := send(t, e, op, q).Status(t, http.StatusOK)
			q.Path = strings.TrimPrefix(q.Path, "/v1")
			bare := send(t, e, op, q).Status(t, http.StatusOK)
			checkSame(t, op.String(), versioned, bare)
		}
		// Writes: the error for an empty body identifies the operation.
		for _, op := range operations() {
			if op.Body == nil {
				continue
			}
			q := w.request(op, 0)
			q.Token, q.Body = token, map[string]any{}
			versioned := send(t, e, op, q).Error(t, http.StatusUnprocessableEntity, "validation_failed", op.Body.Key)
			q.Path = strings.TrimPrefix(q.Path, "/v1")
			checkSame(t, op.String(), versioned, send(t, e, op, q))
		}
	})
}

// changingHeaders are the headers that differ between equal responses.
var changingHeaders = []string{"Date", "X-Request-Id"}

// checkSame fails unless two responses are equal.
func checkSame(t testing.TB, what string, a, b *harness.Response) {
	t.Helper()
	if a.Code != b.Code {
		t.Errorf("%s: status %d and %d: %s\n%s", what, a.Code, b.Code, a.Raw, b.Raw)
		return
	}
	if x, y := withoutRequestID(a), withoutRequestID(b); x != y {
		t.Errorf("%s:\n%s\n%s", what, x, y)
	}
	for _, name := range headerNames(a, b) {
		x, y := a.Header.Values(name), b.Header.Values(name)
		if name == "Link" { // repeats the query
			x, y = withoutAddresses(x), withoutAddresses(y)
		}
		if !slices.Equal(x, y) {
			t.Errorf("%s: header %s is %v and %v", what, name, x, y)
		}
	}
}

var linkAddress = regexp.MustCompile(`<[^>]*>`)

// withoutAddresses returns Link headers without their addresses.
func withoutAddresses(links []string) (relations []string) {
	for _, link := range links {
		relations = append(relations, linkAddress.ReplaceAllString(link, ""))
	}
	return relations
}

// withoutRequestID returns the body without its request id.
func withoutRequestID(r *harness.Response) string {
	return string(bytes.ReplaceAll(r.Raw, []byte(r.Header.Get("X-Request-Id")), nil))
}

// headerNames returns the names of the headers of any of the responses.
func headerNames(responses ...*harness.Response) (names []string) {
	for _, r := range responses {
		for name := range r.Header {
			if !slices.Contains(changingHeaders, name) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

func TestHeadIsGetWithoutBody(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		for _, op := range operations() {
			if op.writes() {
				continue
			}
			q := w.request(op, 0)
			for _, q.Token = range []string{token, ""} { // also for an error
				q.Method = http.MethodGet
				get := send(t, e, op, q)
				q.Method = http.MethodHead
				head := send(t, e, op, q)
				if head.Code != get.Code || len(head.Raw) > 0 {
					t.Errorf("HEAD %s: status %d, want %d, body %q", q.Path, head.Code, get.Code, head.Raw)
				}
				for _, name := range headerNames(get, head) {
					if x, y := get.Header.Values(name), head.Header.Values(name); !slices.Equal(x, y) {
						t.Errorf("%s: header %s is %v for GET, %v for HEAD", q.Path, name, x, y)
					}
				}
			}
		}
	})
}

func TestPreflightNeedsNoTokenOrUserAgent(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w := loadWorld(t, e, "demo")
		for _, op := range operations() {
			q := harness.Request{Method: http.MethodOptions, Path: w.request(op, 0).Path, Header: map[string]string{
				"User-Agent": "", "Origin": "https://client.example", "Access-Control-Request-Method": op.Method,
				"Access-Control-Request-Headers": "authorization, content-type, if-match",
			}}
			r := e.Do(t, q).Status(t, http.StatusNoContent)
			if len(r.Raw) > 0 {
				t.Errorf("%s: body %q", q.Path, r.Raw)
			}
			for name, want := range cors {
				if name == "Access-Control-Allow-Headers" {
					want += ", If-Match, If-None-Match, Prefer, Idempotency-Key"
				}
				if got := r.Header.Get(name); got != want {
					t.Errorf("%s: %s is %q, want %q", q.Path, name, got, want)
				}
			}
			if r.Header.Get("X-Request-Id") == "" || r.Header.Get("Access-Control-Allow-Credentials") != "" {
				t.Errorf("%s: headers %v", q.Path, r.Header)
			}
		}
	})
}

func TestWrongMethodsAreRefused(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		methods := map[string][]string{}
		paths := map[string]string{}
		for _, op := range operations() {
			methods[op.Path] = append(methods[op.Path], op.Method)
			paths[op.Path], _, _ = strings.Cut(w.request(op, 0).Path, "?")
		}
		for path, allowed := range methods {
			want := slices.Clone(allowed)
			if slices.Contains(allowed, http.MethodGet) {
				want = append(want, http.MethodHead)
			}
			want = append(want, http.MethodOptions)
			slices.Sort(want)
			for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodTrace, "PURGE", "get"} {
				if slices.Contains(want, method) {
					continue
				}
				q := harness.Request{Method: method, Path: paths[path], Token: token}
				r := send(t, e, operation{}, q)
				if method != http.MethodHead {
					r.Error(t, http.StatusMethodNotAllowed, "method_not_allowed")
				}
				got := strings.Split(r.Header.Get("Allow"), ", ")
				slices.Sort(got)
				if !slices.Equal(got, want) {
					t.Errorf("%s %s: Allow is %v, want %v", method, path, got, want)
				}
			}
		}
	})
}

func TestUnknownPathsAreNotFound(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		for _, path := range []string{
			"/", "/v1", "/v1/", "/v1//", "//", "/v1/v1/patients", "/v2/patients", "/V1/patients", "/v1/Patients", "/v1/patient",
			"/v1/patients/", "/v1/patients/1/", "/v1/patients/1/appointments", "//patients", "/v1//patients", "/v1/../v1/patients",
			"/v1/patients/../patients", "/v1/./patients", "/v1/patients;x=1", "/v1/patients%2f", "/v1/%70atients/", "/v1/patients/1%2f2",
			"/v1/nothing", "/v1/appointments/availability/1", "/v1/users/current/", "/v1/rate_limit/x", "/v1/accounts/%00",
			"/.env", "/admin", "/v1/patients%00", "/v1/%ff%fe", "/v1/patients/%c0%ae",
		} {
			for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
				r := send(t, e, operation{}, harness.Request{Method: method, Path: path, Token: token})
				if r.Code != http.StatusNotFound {
					t.Errorf("%s %s: status %d: %.200s", method, path, r.Code, r.Raw)
				}
			}
		}
	})
}

func TestMalformedIDsAreNotFound(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		for _, op := range operations() {
			if !op.one() {
				continue
			}
			good := w.ids[op.table()][0]
			for _, id := range []string{
				"0", "-1", "+" + good, "%2B" + good, good + ".0", good + "e0", "0x10", "1_000", "%20" + good, good + "%20", "00000000-0000-0000-0000-000000000000",
				"9223372036854775807", "9223372036854775808", "99999999999999999999999999", "abc", "a", "-", "null", "undefined", "NaN", "%00", good + "%00", "%0a",
				"'%20OR%201=1--", good + ";", good + ",2", good + "%2C2", "[" + good + "]", "%D9%A1", "%EF%BC%91", "current_", "%F0%9F%A6%B7", "..%2f", "*", "%25", "%ff",
				strings.Repeat("1", 5000), strings.Repeat("a", 36), "{" + good + "}", "urn:uuid:" + good,
			} {
				q := w.request(op, 0)
				q.Token, q.Path = token, "/v1/"+op.table()+"/"+id
				send(t, e, op, q).Error(t, http.StatusNotFound, "not_found")
			}
		}
	})
}

func TestErrorsDoNotRepeatTheID(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		r := send(t, e, find(t, "getPatient"), harness.Request{Method: http.MethodGet, Path: "/v1/patients/987654321", Token: token}).Error(t, 404, "not_found")
		if bytes.Contains(r.Raw, []byte("987654321")) {
			t.Errorf("%s", r.Raw)
		}
	})
}

func TestPutAndPatchAreTheSame(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		for _, op := range operations() {
			if op.Method != http.MethodPut {
				continue
			}
			q := w.request(op, 0)
			q.Token = token
			put := send(t, e, op, q).Status(t, http.StatusOK)
			q.Method = http.MethodPatch
			checkSame(t, op.String(), put, send(t, e, op, q)) // the second changes nothing
		}
	})
}

func TestSandboxIsMarked(t *testing.T) {
	t.Parallel()
	e := harness.Start(t, harness.SQLite(t), func(o *server.Options) { o.Demo = true })
	for _, path := range []string{"/v1/user", "/v1/nothing", "/healthz", "/docs", "/openapi.json"} {
		if got := e.Get(t, path, "").Header.Get("X-Chairside-Environment"); got != "sandbox" {
			t.Errorf("%s: X-Chairside-Environment is %q", path, got)
		}
	}
}

func TestRequestIDOfTheClientIsKept(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		op := find(t, "getCurrentUser")
		for id, kept := range map[string]bool{
			"abc-123": true, "0198f2a4-c1d0-7b3e-9a51-3f6f0c9d2e10": true,
			"<script>": false, `"quoted"`: false, "with blank": false, strings.Repeat("x", 129): false, "é": false,
		} {
			q := harness.Request{Method: http.MethodGet, Path: "/v1/user", Header: map[string]string{"X-Request-Id": id}}
			r := send(t, e, op, q).Error(t, http.StatusUnauthorized, "missing_token")
			if got := r.Header.Get("X-Request-Id"); (got == id) != kept {
				t.Errorf("%q became %q", id, got)
			}
		}
	})
}

func TestUnknownParametersAreNamed(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		for _, op := range operations() {
			if op.writes() || op.ID == "getRateLimit" {
				continue
			}
			q := w.request(op, 0)
			q.Token = token
			plain := send(t, e, op, q).Status(t, http.StatusOK)
			join := "?"
			if strings.Contains(q.Path, "?") {
				join = "&"
			}
			q.Path += join + "zebra=1&apple=2&access_token=x"
			r := send(t, e, op, q).Status(t, http.StatusOK)
			if got := r.Header.Get("X-Unknown-Parameters"); got != "apple, zebra" {
				t.Errorf("%s: X-Unknown-Parameters is %q", op, got)
			}
			if !bytes.Equal(r.Raw, plain.Raw) {
				t.Errorf("%s: unknown parameters change the answer", op)
			}
			q.Header = map[string]string{"Prefer": "handling=strict"}
			send(t, e, op, q).Error(t, http.StatusBadRequest, "invalid_parameter", "apple", "zebra")
			q.Header = map[string]string{"Prefer": "handling=lenient"}
			send(t, e, op, q).Status(t, http.StatusOK)
		}
	})
}
