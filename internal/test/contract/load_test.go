package contract

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"chairside/ent"
	"chairside/internal/apierror"
	"chairside/internal/seed"
	"chairside/internal/store"
	"chairside/internal/store/admission"
	"chairside/internal/test/harness"
)

// answerTime is far longer than an unhindered request takes, and shorter than one that
// waits for stalled work.
const answerTime = 8 * time.Second

// checkAnswered checks that unhindered requests are answered within answerTime.
func checkAnswered(t *testing.T, e *harness.Env, token string, paths ...string) {
	t.Helper()
	began := time.Now()
	for range 5 {
		for _, path := range paths {
			e.Get(t, path, token).Status(t, http.StatusOK)
		}
	}
	if took := time.Since(began); took > answerTime {
		t.Errorf("%v, 5 times each, took %v", paths, took)
	}
}

// checkUnavailable checks that a response is 503 with Retry-After.
func checkUnavailable(t *testing.T, r *harness.Response) {
	t.Helper()
	r.Error(t, http.StatusServiceUnavailable, "unavailable")
	if r.Header.Get("Retry-After") == "" {
		t.Error("503 without Retry-After")
	}
}

// sendAtOnce sends a request many times at once, and ends with the test.
func sendAtOnce(t *testing.T, n int, send func()) (wait func()) {
	t.Helper()
	var group sync.WaitGroup
	for range n {
		group.Go(send)
	}
	t.Cleanup(group.Wait)
	return group.Wait
}

// waitUntilBusy waits until a kind of work waits for connections.
func waitUntilBusy(t *testing.T, db *store.DB, kind string) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; {
		for _, u := range db.Usage() {
			if u.Kind == kind && u.Waiting > 0 {
				return
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("no work of kind %q waits: %+v", kind, db.Usage())
		}
		<-time.After(time.Millisecond)
	}
}

// TestLockedTableStallsOnlyItself: clients of a locked table are refused in time, and all
// others are answered.
func TestLockedTableStallsOnlyItself(t *testing.T) {
	t.Parallel()
	e := harness.Start(t, harness.Postgres(t))
	token, second := e.Token(t, ""), e.TokenOf(t, seed.SecondAdmin, "", nil)
	checkAnswered(t, e, token, "/v1/patients", "/v1/appointments")
	checkAnswered(t, e, second, "/v1/practice")

	holder, err := e.DB.SQL.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	e.WaitReady(t)
	if _, err := holder.ExecContext(t.Context(), "BEGIN; LOCK TABLE appointments IN ACCESS EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	wait := sendAtOnce(t, 40, func() { checkUnavailable(t, e.Get(t, "/v1/appointments", token)) })
	waitUntilBusy(t, e.DB, "appointments")
	checkAnswered(t, e, token, "/v1/patients", "/v1/practice", "/v1/invoices", "/readyz")
	checkAnswered(t, e, second, "/v1/patients")
	wait()

	if _, err := holder.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	checkAnswered(t, e, token, "/v1/appointments")
}

// TestSlowReportsLeaveConnections for the API and the pages; one report too many is
// refused.
func TestSlowReportsLeaveConnections(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token, second := e.Token(t, ""), e.TokenOf(t, seed.SecondAdmin, "", nil)
		ctx, end := context.WithCancel(admission.With(e.As(t, "demo"), "reports", "income"))
		t.Cleanup(end)
		e.WaitReady(t)
		refusals := make(chan error, 40)
		wait := sendAtOnce(t, 40, func() {
			err := e.DB.View(ctx, func(*ent.Client) error { <-ctx.Done(); return nil })
			if ctx.Err() == nil {
				refusals <- store.APIError(ctx, err)
			}
		})
		waitUntilBusy(t, e.DB, "reports")
		checkAnswered(t, e, token, "/v1/patients", "/v1/appointments", "/readyz")
		checkAnswered(t, e, second, "/v1/patients")
		e.Browser(t).Get("/sign-in").Status(t, http.StatusOK)
		var fault *apierror.Error
		if err := <-refusals; !errors.As(err, &fault) || fault.Status != http.StatusServiceUnavailable {
			t.Errorf("a report that got no connection: %v", err)
		}
		end()
		wait()
	})
}

// TestBusyPracticeLeavesConnections: one practice's requests all wait for a lock while
// another makes the same kind of request.
func TestBusyPracticeLeavesConnections(t *testing.T) {
	t.Parallel()
	e := harness.Start(t, harness.Postgres(t))
	token, second := e.Token(t, ""), e.TokenOf(t, seed.SecondAdmin, "", nil)
	checkAnswered(t, e, token, "/v1/patients")
	checkAnswered(t, e, second, "/v1/patients")
	path := "/v1/patients/" + e.Get(t, "/v1/patients?per_page=1", token).Text(t, "patients.0.id")

	holder, err := e.DB.SQL.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	if _, err := holder.ExecContext(t.Context(), "BEGIN; SELECT FROM patients FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	edit := map[string]any{"patient": map[string]any{"first_name": "Rosa"}}
	wait := sendAtOnce(t, 40, func() { checkUnavailable(t, e.Patch(t, path, token, edit)) })
	waitUntilBusy(t, e.DB, "patients")
	checkAnswered(t, e, second, "/v1/patients", "/v1/appointments")
	checkAnswered(t, e, token, "/v1/appointments")
	wait()
	if _, err := holder.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	e.Patch(t, path, token, edit).Status(t, http.StatusOK)
}

// TestWriteLockElsewhereEndsInTime: while another process holds an embedded database's
// write lock, reads work and writes are refused in time.
func TestWriteLockElsewhereEndsInTime(t *testing.T) {
	t.Parallel()
	address := harness.SQLite(t)
	e, elsewhere := harness.Start(t, address), harness.Start(t, address)
	token := e.Token(t, "")
	path := "/v1/patients/" + e.Get(t, "/v1/patients?per_page=1", token).Text(t, "patients.0.id")
	holder, err := elsewhere.DB.SQL.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	if _, err := holder.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	edit := map[string]any{"patient": map[string]any{"first_name": "Rosa"}}
	began := time.Now()
	wait := sendAtOnce(t, 6, func() { checkUnavailable(t, e.Patch(t, path, token, edit)) })
	checkAnswered(t, e, token, path, "/v1/appointments")
	wait()
	if took := time.Since(began); took > answerTime {
		t.Errorf("writes were refused after %v", took)
	}
	if _, err := holder.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	e.Patch(t, path, token, edit).Status(t, http.StatusOK)
}

// TestSlowNetworkEndsInTime: every client gets a response, however slow the database's
// network.
func TestSlowNetworkEndsInTime(t *testing.T) {
	t.Parallel()
	e, proxy, token := behindProxy(t, harness.Postgres(t))
	checkAnswered(t, e, token, "/v1/patients")

	proxy.Delay(3 * time.Second)
	defer proxy.Delay(0)
	wait := sendAtOnce(t, 60, func() {
		began := time.Now()
		if r := e.Get(t, "/v1/patients", token); r.Code != http.StatusOK {
			checkUnavailable(t, r)
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("answered after %v", took)
		}
	})
	wait()
}

// TestRequestsNameTheirKind: no request queries the database without a kind of work.
func TestRequestsNameTheirKind(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token, visitor := loadWorld(t, e, "demo"), e.Token(t, ""), e.Browser(t).SignIn(seed.DemoAdmin)
		unnamed := func() (n int64) {
			for _, u := range e.DB.Usage() {
				if u.Kind == admission.Other {
					n = u.Admitted
				}
			}
			return n
		}
		before := unnamed()
		for _, op := range operations() {
			q := w.request(op, 0)
			q.Token = token
			send(t, e, op, q).Status(t, op.Success)
		}
		for _, path := range []string{"/settings/tokens", "/settings/security", "/reports", "/reports/income", "/reports/aged-debt.csv", "/oauth/authorize"} {
			visitor.Get(path)
		}
		e.Do(t, harness.Request{Method: http.MethodPost, Path: "/oauth/revoke", Body: "{}"})
		e.WaitReady(t)
		if after := unnamed(); after != before {
			t.Errorf("%d statements or transactions of requests have no kind", after-before)
		}
		metrics := string(e.Get(t, "/metrics", "").Raw)
		for _, want := range []string{`chairside_database_admitted_total{kind="patients"}`, `chairside_database_refused_total{kind="tokens"} 0`, "chairside_unsent_bytes 0"} {
			if !strings.Contains(metrics, want) {
				t.Errorf("the metrics lack %s", want)
			}
		}
	})
}
