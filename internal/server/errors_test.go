package server

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ogen-go/ogen/ogenerrors"

	"chairside/internal/apierror"
	"chairside/ogent"
)

func failing(err error) func(*Options, *fakeOperations) {
	return func(_ *Options, s *fakeOperations) {
		s.listSites = func(context.Context) (*ogent.SiteList, error) { return nil, err }
	}
}

func TestErrorsBecomeBodies(t *testing.T) {
	t.Parallel()
	params := apierror.Params{"name": {"can't be blank", "is > 3 & < 2"}}
	for _, test := range []struct {
		err          error
		status       int
		kind, code   string
		header, want string
	}{
		{apierror.NotFound(), 404, "invalid_request_error", "not_found", "", ""},
		{fmt.Errorf("wrapped: %w", apierror.ValidationFailed(params)), 422, "invalid_request_error", "validation_failed", "", ""},
		{apierror.VersionMismatch(), 412, "conflict_error", "version_mismatch", "", ""},
		{apierror.SiteLimited(), 403, "invalid_access_error", "insufficient_scope", "WWW-Authenticate", `scope="practice:read"`},
		{apierror.Unavailable(errors.New("x")), 503, "api_error", "unavailable", "Retry-After", "5"},
		{apierror.RateLimited(1500 * time.Millisecond), 429, "rate_limit_error", "rate_limited", "Retry-After", "2"},
		{errors.New("the cause"), 500, "api_error", "internal", "", ""},
	} {
		b := setup(t, failing(test.err))
		a := b.get("/sites")
		a.refused(t, test.status, test.code)
		e := a.errorOf(t)
		if e.Type != test.kind || strings.Contains(a.body, "cause") {
			t.Errorf("%s: %s", test.code, a.body)
		}
		if test.header != "" && !strings.Contains(a.Header.Get(test.header), test.want) {
			t.Errorf("%s: %s is %q", test.code, test.header, a.Header.Get(test.header))
		}
		if test.code == "validation_failed" && (len(e.Params["name"]) != 2 || !strings.Contains(a.body, "> 3 & < 2")) {
			t.Errorf("params in %s", a.body)
		}
		if (test.status >= 500) != strings.Contains(b.log.String(), `"code":"`+test.code+`"`) {
			t.Errorf("%s: log is %s", test.code, b.log)
		}
	}
}

func TestConflictsAreInThePracticesZone(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 7, 1, 8, 30, 0, 0, time.UTC)
	a := setup(t, failing(apierror.DoubleBooking([]apierror.Conflict{{ID: 7, StartTime: start, FinishTime: start.Add(time.Hour)}}, nil, nil))).get("/sites")
	a.refused(t, 409, "double_booking")
	if want := `"conflicts":[{"id":7,"start_time":"2026-07-01T09:30:00.000+01:00","finish_time":"2026-07-01T10:30:00.000+01:00"}]`; !strings.Contains(a.body, want) {
		t.Errorf("got %s", a.body)
	}
}

func TestCauseIsLoggedWithoutValues(t *testing.T) {
	t.Parallel()
	b := setup(t, failing(fmt.Errorf("save: %w", postgresError{})))
	a := b.get("/sites", "X-Request-Id: find-me")
	a.refused(t, 500, "internal")
	log := b.log.String()
	for _, text := range []string{"find-me", "PostgreSQL error 23505", "constraint users_email_key"} {
		if !strings.Contains(log, text) {
			t.Errorf("%q is not in the log: %s", text, log)
		}
	}
	if strings.Contains(log+a.body, "Archer") {
		t.Errorf("a value is in the log or the body: %s", log)
	}
}

// postgresError resembles the driver's error, with a value in every text.
type postgresError struct{}

func (postgresError) Error() string    { return "pq: duplicate key Archer" }
func (postgresError) SQLState() string { return "23505" }
func (postgresError) Get(k byte) string {
	return map[byte]string{'n': "users_email_key", 'D': "Key (name)=(Archer) exists", 'M': "Archer"}[k]
}

type sqliteError struct{}

func (sqliteError) Error() string { return "constraint failed: Archer" }
func (sqliteError) Code() int     { return 2067 }

func TestDescribeErrorOmitsValues(t *testing.T) {
	t.Parallel()
	_, number := strconv.Atoi("Archer")
	syntax := json.Unmarshal([]byte(`{"n":"Archer"}`), &struct{ N int }{})
	_, date := time.Parse(time.DateOnly, "Archer's")
	for _, test := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("x: %w", sqliteError{}), "SQLite error 2067"},
		{fmt.Errorf("load: %w", sql.ErrNoRows), "*errors.errorString: load: sql: no rows in result set"},
		{fmt.Errorf("read: %w", number), `*errors.errorString: read: strconv.Atoi: parsing …: invalid syntax`},
		{&ogenerrors.DecodeBodyError{ContentType: "application/json", Body: []byte("Archer"), Err: syntax}, ""},
		{syntax, ""},
		{date, ""},
		{errors.New(`Key (first_name)=(Archer) 'Archer' "Archer" ` + "`Archer` \"Archer"), "*errors.errorString: Key (first_name)… … … … …"},
		{errors.New(strings.Repeat("é", maxCause)), ""},
	} {
		got := describeError(test.err)
		if strings.Contains(got, "Archer") || strings.HasPrefix(got, "SQLite") != errors.As(test.err, new(sqliteError)) || len(got) > maxCause+50 || test.want != "" && got != test.want {
			t.Errorf("%v\nis described as %q", test.err, got)
		}
	}
}

func TestPanicIsAnInternalError(t *testing.T) {
	t.Parallel()
	for _, reason := range []any{errors.New("x 'Archer'"), "Archer", 7} {
		b := setup(t, func(_ *Options, s *fakeOperations) {
			s.listSites = func(context.Context) (*ogent.SiteList, error) { panic(reason) }
		})
		b.get("/sites").refused(t, 500, "internal")
		b.get("/practice").ok(t, 200)
		if log := b.log.String(); !strings.Contains(log, "errors_test.go") || !strings.Contains(log, `"status":500`) || strings.Contains(log, "Archer") {
			t.Errorf("log is %s", log)
		}
	}
}

func TestPanicAfterAPageHasBegun(t *testing.T) {
	t.Parallel()
	b := setup(t)
	page := b.begin(b.accessLog(b.recoverPanic(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		stateOf(r.Context()).name = "page"
		_, _ = w.Write([]byte("<html>"))
		panic("Archer")
	}))))
	func() {
		defer func() {
			if reason := recover(); reason != http.ErrAbortHandler {
				t.Errorf("the connection was not closed: %v", reason)
			}
		}()
		page.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), "GET", "/", nil))
	}()
	if log := b.log.String(); !strings.Contains(log, `"status":500`) || strings.Contains(log, "Archer") {
		t.Errorf("log is %s", log)
	}
	if metrics := b.get("/metrics", "User-Agent:", "Authorization:").ok(t, 200).body; !strings.Contains(metrics, `chairside_requests_total{operation="page",status="500"} 1`) {
		t.Error("the metrics do not count a failure")
	}
}

func TestSlowRequestIsUnavailable(t *testing.T) {
	t.Parallel()
	b := setup(t, failing(context.DeadlineExceeded))
	a := b.get("/sites")
	a.refused(t, 503, "unavailable")
	if a.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
}

func TestUnreachableDatabaseIsUnavailable(t *testing.T) {
	t.Parallel()
	b := setup(t)
	if err := b.DB.Close(); err != nil {
		t.Fatal(err)
	}
	if a := b.get("/practice"); a.StatusCode < 500 {
		t.Errorf("%d %s", a.StatusCode, a.body)
	}
	b.get("/healthz").ok(t, 200)
	b.get("/readyz").refused(t, 503, "unavailable")
}
