// Package harness runs black-box tests over HTTP against a server on a seeded database of
// each kind.
//
//	func TestMain(m *testing.M) { harness.Main(m) }
//
//	func TestSomething(t *testing.T) {
//		harness.Each(t, func(t *testing.T, e *harness.Env) {
//			token := e.Token(t, "appointment:read")
//			e.Get(t, "/v1/appointments", token).Status(t, 200)
//		})
//	}
//
// Every test has its own database, a copy of testdb.Practice. The server's clock shows Now
// until the test changes it.
package harness

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"chairside/ent"
	"chairside/ent/user"
	"chairside/internal/clock"
	"chairside/internal/principal"
	"chairside/internal/scope"
	"chairside/internal/seed"
	"chairside/internal/server"
	"chairside/internal/store"
	"chairside/internal/test/localpg/pgtest"
	"chairside/internal/test/testdb"
	"chairside/internal/test/testkeys"
	"chairside/internal/token"

	"github.com/google/uuid"
)

// Now is the initial time of a test's server: a Wednesday in summer time, 10:15 in London.
var Now = time.Date(2026, 7, 1, 9, 15, 0, 0, time.UTC)

// Main runs a package's tests. TestMain calls it.
func Main(m *testing.M) { pgtest.Main(m) }

// Each runs test on SQLite and on PostgreSQL, in parallel with other tests.
func Each(t *testing.T, test func(t *testing.T, e *Env)) {
	t.Helper()
	EachOf(t, testdb.Practice, test)
}

// EachOf is Each on copies of another template.
func EachOf(t *testing.T, template *testdb.Template, test func(t *testing.T, e *Env)) {
	t.Helper()
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, Start(t, template.SQLite(t), Patient))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		test(t, Start(t, postgres(t, template), Patient))
	})
}

// Patient is an option that gives operations a minute, because a machine may run many
// tests at once under the race detector.
func Patient(o *server.Options) { o.OperationTime = time.Minute }

// Env is a running server and its database.
type Env struct {
	URL    string // of the server, without a trailing slash
	DB     *store.DB
	Clock  *Clock
	Server *server.Server
	Log    *Log // the server's log

	serving sync.RWMutex   // held by every request in progress
	wrong   chan string    // what was wrong with a request: see serve
	owner   func() *sql.DB // Owner
}

// Start runs a server on the seeded database at url.
func Start(t testing.TB, url string, change ...func(*server.Options)) *Env {
	t.Helper()
	e, stop, err := start(t.Context(), url, change...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		select {
		case wrong := <-e.wrong:
			t.Error(wrong)
		default:
		}
	})
	return e
}

// start is Start without a test; stop stops the server and closes the database.
func start(ctx context.Context, url string, change ...func(*server.Options)) (e *Env, stop func(), err error) {
	db, err := store.OpenServing(ctx, url, "")
	if err != nil {
		return nil, nil, err
	}
	db.Keys = testkeys.Keys()
	e = &Env{DB: db, Clock: &Clock{now: Now}, Log: &Log{}, wrong: make(chan string, 1)}
	listener := httptest.NewUnstartedServer(nil)
	e.URL = "http://" + listener.Listener.Addr().String()
	o := server.Options{DB: db, BaseURL: e.URL, Clock: e.Clock.Now, Logger: slog.New(slog.NewJSONHandler(e.Log, nil))}
	for _, c := range change {
		c(&o)
	}
	if e.Server, err = server.New(o); err != nil {
		listener.Close()
		db.Close()
		return nil, nil, err
	}
	listener.Config.Handler = e.serve(e.Server.Handler())
	listener.Start()
	var closeOwner func()
	e.owner, closeOwner = ownerOf(db)
	return e, func() {
		listener.Close()
		closeOwner()
		db.Close()
	}, nil
}

// serve counts the requests in progress for Settle. It notes a request whose reads or events were logged
// after its response was written, because a crash in between would lose the record of them, and one whose
// response was begun twice.
func (e *Env) serve(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.serving.RLock()
		defer e.serving.RUnlock()
		watched := &watchedWriter{ResponseWriter: w, log: e.Log, logged: -1}
		handler.ServeHTTP(watched, r)
		var wrong string
		switch id := w.Header().Get("X-Request-Id"); {
		case watched.logged >= 0 && e.Log.records(id) != watched.logged:
			wrong = "reads were logged after they were sent"
		case watched.begun > 1:
			wrong = "the response was begun twice"
		default:
			return
		}
		select {
		case e.wrong <- wrong + ": " + r.Method + " " + r.URL.Path:
		default:
		}
	})
}

// watchedWriter notes how many lines about its reads and events a request had when it last wrote, and how
// often its response was begun.
type watchedWriter struct {
	http.ResponseWriter
	log    *Log
	logged int // -1 if it has not written
	begun  int
}

// WriteHeader implements http.ResponseWriter.
func (w *watchedWriter) WriteHeader(status int) {
	w.begun++
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *watchedWriter) Write(b []byte) (int, error) {
	w.logged = w.log.records(w.Header().Get("X-Request-Id"))
	return w.ResponseWriter.Write(b)
}

// Unwrap is for http.ResponseController.
func (w *watchedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Settle waits until all requests and their background work are finished, because log lines
// are written after the response.
func (e *Env) Settle() {
	e.serving.Lock()
	defer e.serving.Unlock()
	e.Server.Settle()
}

// WaitReady waits until the server is ready. The first probe also checks the migrations, and may
// exceed its time limit, two seconds, while a machine runs many tests.
func (e *Env) WaitReady(t testing.TB) {
	t.Helper()
	for range 20 {
		r := e.Get(t, "/readyz", "")
		if r.Code == http.StatusOK {
			return
		}
		t.Logf("not ready: %s", r.Raw)
	}
	t.Fatal("the server does not become ready")
}

// SQLite returns the URL of a new copy of the seeded database.
func SQLite(t testing.TB) string { t.Helper(); return testdb.Practice.SQLite(t) }

// Postgres returns the URL of a new copy of the seeded database, or skips the test. With two
// roles (testdb.TwoRoles) it is that of SecondWall, with testdb.Pooled it leads through a pooler.
func Postgres(t testing.TB) string { t.Helper(); return postgres(t, testdb.Practice) }

func postgres(t testing.TB, template *testdb.Template) string {
	t.Helper()
	address := template.Postgres(t)
	switch {
	case testdb.TwoRoles():
		return secondWall(t, address)
	case testdb.Pooled():
		return pgtest.Pooled(t, address)
	}
	return address
}

// As returns a context for a user of the main practice ("demo") or the other one
// ("second"), to read and prepare rows without HTTP.
func (e *Env) As(t testing.TB, slug string) context.Context {
	t.Helper()
	ctx := principal.AsSystem(t.Context())
	practices, err := e.DB.Ent.Practice.Query().All(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range practices {
		if p.Slug != slug {
			continue
		}
		zone, err := time.LoadLocation(p.TimeZone)
		if err != nil {
			t.Fatal(err)
		}
		return principal.With(t.Context(), &principal.Principal{PracticeID: p.ID, Zone: zone, Country: p.Country})
	}
	t.Fatalf("no practice %q", slug)
	return nil
}

// Tx runs work in a transaction.
func (e *Env) Tx(t testing.TB, ctx context.Context, work func(tx *ent.Client) error) {
	t.Helper()
	if err := e.DB.Tx(ctx, work); err != nil {
		t.Fatal(err)
	}
}

// ChangePractice changes the main practice.
func (e *Env) ChangePractice(t testing.TB, change func(p *ent.PracticeUpdateOne)) {
	t.Helper()
	ctx := e.As(t, "demo")
	e.Tx(t, ctx, func(tx *ent.Client) error {
		p := tx.Practice.UpdateOneID(principal.Must(ctx).PracticeID)
		change(p)
		return p.Exec(ctx)
	})
}

// Token creates a token of the main practice's administrator with the given scopes; ""
// means all.
func (e *Env) Token(t testing.TB, scopes string) string {
	t.Helper()
	return e.TokenOf(t, seed.DemoAdmin, scopes, nil)
}

// TokenOf creates a token of any user, limited to a site unless that is nil. "" means all
// scopes of the user's role.
func (e *Env) TokenOf(t testing.TB, email, scopes string, site *uuid.UUID) string {
	t.Helper()
	value, err := e.tokenOf(t.Context(), t.Name(), email, scopes, site)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// tokenOf is TokenOf for callers without a test.
func (e *Env) tokenOf(ctx context.Context, name, email, scopes string, site *uuid.UUID) (value string, err error) {
	ctx = clock.With(principal.AsSystem(ctx), e.Clock.Now())
	u, err := e.DB.Ent.User.Query().Where(user.Email(email)).Only(ctx)
	if err != nil {
		return "", err
	}
	set := u.Role.PermissionLevel().MayHold()
	if scopes != "" {
		if set, err = scope.Parse(scopes); err != nil {
			return "", err
		}
	}
	err = e.DB.Tx(ctx, func(tx *ent.Client) (err error) {
		value, _, err = token.Create(ctx, tx, u, token.Grant{Name: name, Scopes: set, Site: site})
		return err
	})
	return value, err
}

// Clock is the server's clock, which only the test changes.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// Now returns the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Set sets the time.
func (c *Clock) Set(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = now
}

// Advance moves the clock forward.
func (c *Clock) Advance(d time.Duration) { c.Set(c.Now().Add(d)) }

// Log holds a server's log.
type Log struct {
	mu       sync.Mutex
	text     []byte
	recorded map[string]int // lines about reads and events, by request
}

// Write adds a line.
func (l *Log) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, line...)
	if bytes.Contains(line, []byte(`"msg":"patient data read"`)) || bytes.Contains(line, []byte(`"msg":"audit event"`)) {
		var about struct {
			RequestID string `json:"request_id"`
		}
		if err := json.Unmarshal(line, &about); err != nil {
			return 0, err
		}
		if l.recorded == nil {
			l.recorded = map[string]int{}
		}
		l.recorded[about.RequestID]++
	}
	return len(line), nil
}

// records returns the number of lines about the reads and events of a request.
func (l *Log) records(requestID string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.recorded[requestID]
}

// String returns the whole log.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.text)
}

// ID returns an id as a path segment.
func ID(id any) string { return "/" + fmt.Sprint(id) }
