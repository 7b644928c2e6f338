package server

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"chairside/ent"
	"chairside/internal/api"
	"chairside/internal/clock"
	"chairside/internal/principal"
	"chairside/internal/provision"
	"chairside/internal/scope"
	"chairside/internal/store"
	"chairside/internal/test/testdb"
	"chairside/internal/test/testkeys"
	"chairside/internal/token"
	"chairside/ogent"
)

// bundle is a server on an SQLite database with one new practice.
type bundle struct {
	*Server
	t      *testing.T
	opened provision.PracticeIDs
	token  string // with every scope
	log    *lockedBuffer
	now    time.Time // reading of the server's clock
}

// fakeOperations is the real handler, except for the operations that a test replaces.
type fakeOperations struct {
	ogent.Handler
	listSites func(context.Context) (*ogent.SiteList, error)
}

func (s fakeOperations) ListSites(ctx context.Context, p ogent.ListSitesParams) (*ogent.SiteList, error) {
	if s.listSites != nil {
		return s.listSites(ctx)
	}
	return s.Handler.ListSites(ctx, p)
}

func setup(t *testing.T, configure ...func(*Options, *fakeOperations)) *bundle {
	t.Helper()
	b := &bundle{t: t, log: &lockedBuffer{}, now: time.Date(2026, 7, 1, 9, 0, 0, 0, time.UTC)}
	ctx := clock.With(t.Context(), b.now)
	db, err := store.Open(ctx, testdb.Migrated.SQLite(t))
	if err != nil {
		t.Fatal(err)
	}
	db.Keys = testkeys.Keys()
	t.Cleanup(func() { _ = db.Close() })
	o := Options{
		DB: db, BaseURL: "https://api.example.test",
		Clock:  func() time.Time { return b.now },
		Logger: slog.New(slog.NewJSONHandler(b.log, nil)),
	}
	s := fakeOperations{Handler: operations{api.New(db, "https://api.example.test")}}
	for _, c := range configure {
		c(&o, &s)
	}
	if b.Server, err = build(o, s); err != nil {
		t.Fatal(err)
	}
	err = db.Tx(ctx, func(tx *ent.Client) (err error) {
		b.opened, err = provision.Practice(ctx, tx, provision.NewPractice{
			Name: "Bright", TimeZone: "Europe/London", Country: "GB",
			First: provision.Person{FirstName: "Ann", LastName: "Archer", Email: "ann@bright.test"},
		})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	b.token = b.mint(scope.Everything().String())
	return b
}

// mint creates a token with scopes.
func (b *bundle) mint(scopes string) (value string) {
	b.t.Helper()
	set, err := scope.Parse(scopes)
	if err != nil {
		b.t.Fatal(err)
	}
	ctx := clock.With(b.t.Context(), b.now)
	err = b.DB.Tx(ctx, func(tx *ent.Client) error {
		u, err := tx.User.Get(principal.AsSystem(ctx), b.opened.User)
		if err != nil {
			return err
		}
		value, _, err = token.Create(ctx, tx, u, token.Grant{Name: "test", Scopes: set})
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return value
}

// result is a response and its body, already read.
type result struct {
	*http.Response
	body string
}

// do sends a request with the bundle's token and a User-Agent. headers ("Name: value")
// replace them; "Name:" removes one.
func (b *bundle) do(method, target, body string, headers ...string) result {
	b.t.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	r := httptest.NewRequestWithContext(b.t.Context(), method, target, reader)
	r.Header.Set("User-Agent", "test/1.0")
	r.Header.Set("Authorization", "Bearer "+b.token)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ":")
		r.Header.Del(name)
		if value = strings.TrimSpace(value); value != "" {
			r.Header.Set(name, value)
		}
	}
	w := httptest.NewRecorder()
	b.Handler().ServeHTTP(w, r)
	return result{w.Result(), w.Body.String()}
}

func (b *bundle) get(target string, headers ...string) result {
	b.t.Helper()
	return b.do(http.MethodGet, target, "", headers...)
}

// errorOf decodes an error body and checks the members that every error has.
func (a result) errorOf(t *testing.T) (e struct {
	Type, Code, Message, DocumentationURL, RequestID string
	Params                                           map[string][]string
	Conflicts                                        []map[string]any
}) {
	t.Helper()
	var body struct {
		Error struct {
			Type             string              `json:"type"`
			Code             string              `json:"code"`
			Message          string              `json:"message"`
			DocumentationURL string              `json:"documentation_url"`
			RequestID        string              `json:"request_id"`
			Params           map[string][]string `json:"params"`
			Conflicts        []map[string]any    `json:"conflicts"`
		} `json:"error"`
	}
	if err := json.Unmarshal([]byte(a.body), &body); err != nil {
		t.Fatalf("status %d: %v in %q", a.StatusCode, err, a.body)
	}
	e.Type, e.Code, e.Message, e.DocumentationURL, e.RequestID = body.Error.Type, body.Error.Code, body.Error.Message, body.Error.DocumentationURL, body.Error.RequestID
	e.Params, e.Conflicts = body.Error.Params, body.Error.Conflicts
	if e.RequestID != a.Header.Get("X-Request-Id") || e.RequestID == "" {
		t.Errorf("request id %q in the body, %q in the header", e.RequestID, a.Header.Get("X-Request-Id"))
	}
	if want := "https://api.example.test/docs#" + e.Code; e.DocumentationURL != want {
		t.Errorf("documentation_url %q, want %q", e.DocumentationURL, want)
	}
	return e
}

// refused checks the status and code of an error.
func (a result) refused(t *testing.T, status int, code string) {
	t.Helper()
	if got := a.errorOf(t).Code; a.StatusCode != status || got != code {
		t.Errorf("%d %s, want %d %s", a.StatusCode, got, status, code)
	}
}

// ok checks that the request succeeded.
func (a result) ok(t *testing.T, status int) result {
	t.Helper()
	if a.StatusCode != status {
		t.Fatalf("status %d, want %d: %s", a.StatusCode, status, a.body)
	}
	return a
}

// lockedBuffer is a buffer for concurrent writes.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func TestChecksRunInOrder(t *testing.T) {
	t.Parallel()
	b := setup(t, func(o *Options, _ *fakeOperations) { o.RateLimit = 1 })
	reader := b.mint("patient:read")
	b.get("/sites").ok(t, 200) // uses up the limit of b.token
	big := `{"fee":"` + strings.Repeat("x", maxBody) + `"}`
	// Each request also has the faults of all later ones.
	for _, test := range []struct {
		name, method, path, body string
		headers                  []string
		status                   int
		code                     string
	}{
		{"user agent", "POST", "/nothing", "", []string{"User-Agent:", "Authorization:"}, 403, "missing_user_agent"},
		{"route", "POST", "/nothing", "", []string{"Authorization:"}, 404, "not_found"},
		{"method", "POST", "/v1/fees", "", []string{"Authorization:", "Accept: text/html"}, 405, "method_not_allowed"},
		{"accept", "PATCH", "/fees/1", big, []string{"Authorization:", "Accept: text/html"}, 406, "not_acceptable"},
		{"token", "PATCH", "/fees/1", big, []string{"Authorization:"}, 401, "missing_token"},
		{"limit", "PATCH", "/fees/1?page=x", big, []string{"Content-Type: text/plain"}, 429, "rate_limited"},
		{"scope", "PATCH", "/fees/1?%zz", big, []string{"Content-Type: text/plain", "Authorization: Bearer " + reader}, 403, "insufficient_scope"},
	} {
		t.Run(test.name, func(t *testing.T) {
			b.do(test.method, test.path, test.body, test.headers...).refused(t, test.status, test.code)
		})
	}
}

func TestEveryResponseHasTheCommonHeaders(t *testing.T) {
	t.Parallel()
	b := setup(t, func(o *Options, _ *fakeOperations) { o.Demo = true })
	tag := b.get("/v1/practice").ok(t, 200).Header.Get("ETag")
	for name, a := range map[string]result{
		"success":        b.get("/v1/practice"),
		"not modified":   b.get("/v1/practice", "If-None-Match: "+tag).ok(t, 304),
		"preflight":      b.do("OPTIONS", "/v1/practice", "", "User-Agent:", "Authorization:").ok(t, 204),
		"no user agent":  b.get("/v1/practice", "User-Agent:").ok(t, 403),
		"unknown path":   b.get("/v2/practice").ok(t, 404),
		"unclean path":   b.get("/v1//practice").ok(t, 404),
		"no token":       b.get("/v1/practice", "Authorization:").ok(t, 401),
		"unknown record": b.get("/v1/patients/9").ok(t, 404),
		"limit":          b.get("/rate_limit").ok(t, 200),
	} {
		for header, want := range map[string]string{
			"Access-Control-Allow-Origin":   "*",
			"Access-Control-Allow-Methods":  "GET, POST, PUT, PATCH, DELETE",
			"Access-Control-Allow-Headers":  "X-Requested-With, X-Prototype-Version, Content-Type, Authorization",
			"Access-Control-Expose-Headers": "ETag, X-OAuth-Scopes",
			"Cache-Control":                 "private, no-cache",
			"Vary":                          "Authorization",
			"X-Chairside-Environment":       "sandbox",
		} {
			if name == "preflight" && header == "Access-Control-Allow-Headers" {
				want += ", If-Match, If-None-Match, Prefer, Idempotency-Key"
			}
			if got := strings.Join(a.Header.Values(header), "|"); got != want {
				t.Errorf("%s: %s is %q", name, header, got)
			}
		}
		if a.Header.Get("X-Request-Id") == "" {
			t.Errorf("%s: no request id", name)
		}
		if a.StatusCode >= 400 {
			a.errorOf(t)
		}
	}
	if b := setup(t); b.get("/v1/practice").Header.Get("X-Chairside-Environment") != "" {
		t.Error("a production server claims to be a sandbox")
	}
}

func TestRequestIDIsEchoedOrGenerated(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for sent, valid := range map[string]bool{
		"b7e1c1d0-91": true, "req:1/2+3-4.y_z": true, strings.Repeat("a", 128): true,
		strings.Repeat("a", 129): false, "a b": false, "-a": false, "Zoë": false, `"`: false,
	} {
		got := b.get("/healthz", "X-Request-Id: "+sent).Header.Get("X-Request-Id")
		if (got == sent) != valid || got == "" {
			t.Errorf("sent %.20q, got %q", sent, got)
		}
	}
	if first, second := b.get("/healthz").Header.Get("X-Request-Id"), b.get("/healthz").Header.Get("X-Request-Id"); first == second {
		t.Errorf("two requests have the id %s", first)
	}
}
