package contract

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"chairside/ent"
	"chairside/internal/principal"
	"chairside/internal/server"
	"chairside/internal/store"
	"chairside/internal/test/harness"
)

// slowLines returns the lines about a slow request.
func slowLines(t *testing.T, e *harness.Env, r *harness.Response) (all []entry) {
	t.Helper()
	for _, l := range lines(t, e, r.Header.Get("X-Request-Id")) {
		if l["msg"] == "slow request" {
			all = append(all, l)
		}
	}
	return all
}

// TestSlowRequestsAreLogged in one line, with the names and times of their statements.
func TestSlowRequestsAreLogged(t *testing.T) {
	eachTraced(t, func(t *testing.T, e *harness.Env, _ *collector) { // every request is slow
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		for id, statement := range map[string]string{
			"listPatients": "select patients", "getPatient": "select patients", "createAppointment": "insert appointments", "createPatient": "insert patients",
		} {
			op := find(t, id)
			q := w.request(op, 0)
			q.Token = token
			r := send(t, e, op, q)
			all := slowLines(t, e, r)
			if len(all) != 1 {
				t.Fatalf("%s: %d lines", id, len(all))
			}
			l := all[0]
			if l["operation"] != id || l["route"] != op.Path || l["status"] != float64(r.Code) || l["trace_id"] == "" {
				t.Errorf("%s: %v", id, l)
			}
			statements, _ := l["statements"].([]any)
			found, count, sum := false, 0.0, 0.0
			for _, one := range statements {
				s := one.(map[string]any)
				found = found || s["name"] == statement
				count += s["count"].(float64)
				sum += s["ms"].(float64)
				if s["longest_ms"].(float64) > s["ms"].(float64) || s["ms"].(float64) > l["duration_ms"].(float64) {
					t.Errorf("%s: the times of %v are wrong: %v", id, s, l)
				}
			}
			if !found || len(statements) > 10 || len(statements) < 10 && count != l["statement_count"] || sum > l["statements_ms"].(float64)+0.1 {
				t.Errorf("%s: no %q in %v", id, statement, l)
			}
		}
	})
}

// TestSlowRequestNamesItsWaitForALock: a booking that waits for another transaction.
func TestSlowRequestNamesItsWaitForALock(t *testing.T) {
	eachTraced(t, func(t *testing.T, e *harness.Env, _ *collector) {
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		op := find(t, "createAppointment")
		q := w.request(op, 0)
		q.Token = token
		booked, err := strconv.ParseInt(fmt.Sprint(q.Body.(map[string]any)["appointment"].(map[string]any)["practitioner_id"]), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		ctx := e.As(t, "demo")
		// A busy machine may start the booking late, so the lock is held for longer each time.
		for held := 200 * time.Millisecond; held < 2*time.Second; held *= 2 {
			done := make(chan *harness.Response, 1)
			err := e.DB.Tx(ctx, func(tx *ent.Client) error {
				if err := store.TakeLocks(ctx, tx, store.LockOf("diary", principal.Must(ctx).PracticeID, booked)); err != nil {
					return err
				}
				go func() { done <- e.Do(t, q) }()
				time.Sleep(held)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range slowLines(t, e, <-done) {
				if wait, _ := l["lock_wait_ms"].(float64); wait > 0 {
					return
				}
			}
		}
		t.Error("no booking has a wait for a lock")
	})
}

// TestFastRequestsAreNotLoggedAsSlow, nor is any with a limit of 0.
func TestFastRequestsAreNotLoggedAsSlow(t *testing.T) {
	t.Parallel()
	for _, limit := range []time.Duration{0, time.Hour} {
		e := harness.Start(t, harness.SQLite(t), harness.Patient, func(o *server.Options) { o.SlowRequest = limit })
		e.Get(t, "/v1/practice", e.Token(t, "")).Status(t, http.StatusOK)
		e.Settle()
		if strings.Contains(e.Log.String(), "slow request") {
			t.Errorf("%v: a line about a slow request", limit)
		}
	}
}
