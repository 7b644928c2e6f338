package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"chairside/internal/server"
	"chairside/internal/test/harness"
)

// batch is the body of a batch.
func batch(atomic bool, requests ...map[string]any) map[string]any {
	return map[string]any{"requests": requests, "atomic": atomic}
}

// item is one request of a batch.
func item(q harness.Request) map[string]any {
	i := map[string]any{"method": q.Method, "path": q.Path}
	if q.Body != nil {
		i["body"] = q.Body
	}
	if q.Header != nil {
		i["headers"] = q.Header
	}
	return i
}

// sendBatch sends a batch and checks its response against the document.
func sendBatch(t testing.TB, e *harness.Env, token string, body any, header map[string]string) *harness.Response {
	t.Helper()
	q := harness.Request{Method: http.MethodPost, Path: "/v1/batch", Token: token, Body: body, Header: header}
	r := e.Do(t, q)
	check(t, operation{Method: q.Method, Path: "/batch", doc: document().Paths.Value("/batch").Post}, q, r)
	return r
}

// statuses returns the statuses of the results.
func statuses(t testing.TB, r *harness.Response) string {
	t.Helper()
	return fmt.Sprint(r.Status(t, 200).Column(t, "results", "status"))
}

// shown is the body of a result as on its own, in a canonical form.
func shown(t testing.TB, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestBatchRunsEveryOperation: each result is the response of the request on its own.
func TestBatchRunsEveryOperation(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		var requests []map[string]any
		var want []string
		for _, op := range operations() {
			if op.writes() || len(requests) == 50 {
				continue
			}
			q := w.request(op, 0)
			q.Token = token
			alone := e.Do(t, q).Status(t, 200)
			if op.ID == "getRateLimit" || op.Path == "/users/current" || op.Path == "/user" {
				continue // the rest of the limit, and the last use of the token
			}
			requests = append(requests, item(q))
			want = append(want, alone.Header.Get("ETag"))
		}
		r := sendBatch(t, e, token, batch(false, requests...), nil)
		for i, tag := range want {
			result := r.List(t, "results")[i].(map[string]any)
			if got := result["headers"].(map[string]any)["ETag"]; fmt.Sprint(result["status"]) != "200" || got != tag {
				t.Errorf("%s: status %v, ETag %v, want %s", requests[i]["path"], result["status"], got, tag)
			}
		}
		if !strings.Contains(string(r.Raw), `"committed":true`) || len(want) < 20 {
			t.Errorf("%d results, %.100s", len(want), r.Raw)
		}
	})
}

// TestBatchedWritesAreRequestsOfTheirOwn: each has its checks, scopes, limit and key, and a
// failure leaves the others.
func TestBatchedWritesAreRequestsOfTheirOwn(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token := loadWorld(t, e, "demo"), e.Token(t, "appointment patient:update patient:read")
		patient := "/v1/patients/" + w.ids["patients"][0]
		name := func(s string) any { return map[string]any{"patient": map[string]any{"preferred_name": s}} }
		booking := w.request(find(t, "createAppointment"), 0)
		booking.Body.(map[string]any)["appointment"].(map[string]any)["force_changes"] = false
		body := batch(false,
			map[string]any{"id": "first", "method": "PATCH", "path": patient, "body": name("Ada")},
			item(booking), item(booking), // the second one overlaps
			map[string]any{"method": "PATCH", "path": patient, "body": name("Bea"), "headers": map[string]string{"if-match": `"other"`}},
			map[string]any{"id": map[string]int{"n": 7}, "method": "GET", "path": patient},
			map[string]any{"method": "GET", "path": "/v1/invoices"},
			map[string]any{"method": "GET", "path": "/healthz"},
			map[string]any{"method": "GET", "path": "/v1/patients?page=0"},
			map[string]any{"method": "PUT", "path": "/v1/patients"},
			map[string]any{"method": "DELETE", "path": "/v1/appointments/" + w.ids["appointments"][0]},
		)
		r := sendBatch(t, e, token, body, nil)
		if got := statuses(t, r); got != "[200 201 409 412 200 403 404 400 405 204]" {
			t.Errorf("%s: %s", got, r.Raw)
		}
		if r.Text(t, "results.0.id") != "first" || r.At(t, "results.9.body") != nil || r.At(t, "results.1.id") != nil {
			t.Errorf("%s", r.Raw)
		}
		if got := r.Text(t, "results.4.body.patient.preferred_name"); got != "Ada" {
			t.Errorf("the name is %s", got)
		}
		e.Settle()
		log := e.Log.String()
		for i := range 10 {
			id := r.Text(t, fmt.Sprintf("results.%d.headers.X-Request-Id", i))
			if id == "" || !strings.Contains(log, id) {
				t.Errorf("request %d has no log line", i)
			}
		}
	})
}

// TestRequestsOfABatchCountAgainstTheLimit; the batch itself does not.
func TestRequestsOfABatchCountAgainstTheLimit(t *testing.T) {
	t.Parallel()
	e := harness.Start(t, harness.SQLite(t), harness.Patient, func(o *server.Options) { o.RateLimit = 4 })
	token := e.Token(t, "")
	requests := slices.Repeat([]map[string]any{{"method": "GET", "path": "/v1/user"}}, 6)
	r := sendBatch(t, e, token, batch(false, requests...), nil)
	if got := statuses(t, r); got != "[200 200 200 200 429 429]" || r.Text(t, "results.5.headers.Retry-After") == "" {
		t.Errorf("%s: %s", got, r.Raw)
	}
	e.Get(t, "/v1/user", token).Error(t, 429, "rate_limited")

	other := e.Token(t, "")
	for range 4 {
		sendBatch(t, e, other, `{"requests": [{}]}`, nil).Error(t, 422, "validation_failed")
	}
	sendBatch(t, e, other, `{"requests": [{}]}`, nil).Error(t, 429, "rate_limited")
	third, key := e.Token(t, ""), map[string]string{"Idempotency-Key": "again"}
	write := batch(true, item(loadWorld(t, e, "demo").request(find(t, "createPatient"), 0)))
	for range 4 { // stored, and replayed three times
		sendBatch(t, e, third, write, key).Status(t, 200)
	}
	sendBatch(t, e, third, write, key).Error(t, 429, "rate_limited")
}

func TestMalformedBatchesAreRefused(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		ok := map[string]any{"method": "GET", "path": "/v1/sites"}
		for _, c := range []struct {
			body   any
			params []string
		}{
			{batch(false), []string{"requests"}},
			{`{}`, []string{"requests"}},
			{`[]`, []string{"requests"}},
			{`{"requests": {}}`, []string{"requests"}},
			{batch(false, slices.Repeat([]map[string]any{ok}, 51)...), []string{"requests"}},
			{batch(false, ok, map[string]any{"method": "get", "path": "x"}), []string{"requests[1].method", "requests[1].path"}},
			{batch(false, map[string]any{"method": "GET", "path": "http://elsewhere.example/v1/sites"}), []string{"requests[0].path"}},
			{batch(false, map[string]any{"method": "GET", "path": "//elsewhere.example/v1/sites"}), []string{"requests[0].path"}},
			{batch(false, map[string]any{"method": "POST", "path": "/v1/batch"}), []string{"requests[0].path"}},
			{batch(false, map[string]any{"method": "POST", "path": "/batch?x=1"}), []string{"requests[0].path"}},
			{batch(false, map[string]any{"method": "GET", "path": "/v1/changes?wait=30"}, map[string]any{"method": "GET", "path": "/v1/snapshot"}), []string{"requests[0].path", "requests[1].path"}},
			{batch(false, map[string]any{"method": "GET", "path": "/v1/sites", "headers": map[string]string{"Authorization": "Bearer x"}}), []string{"requests[0].headers"}},
			{batch(false, map[string]any{"method": "GET", "path": "/v1/sites", "headers": map[string]string{"Prefer": "a\r\nX-Injected: b"}}), []string{"requests[0].headers"}},
			{batch(true, ok), []string{"requests[0].method"}},
			{batch(true, map[string]any{"method": "DELETE", "path": "/v1/patients/1", "headers": map[string]string{"Prefer": "dry-run"}}), []string{"requests[0].headers"}},
		} {
			sendBatch(t, e, token, c.body, nil).Error(t, 422, "validation_failed", c.params...)
		}
		sendBatch(t, e, token, `{`, nil).Error(t, 400, "malformed_json")
		sendBatch(t, e, token, `{"requests": [{"id": "`+strings.Repeat("x", 1<<20)+`"}]}`, nil).Error(t, 413, "body_too_large")
		sendBatch(t, e, token, batch(false, ok), map[string]string{"Content-Type": "text/plain"}).Error(t, 415, "unsupported_media_type")
		sendBatch(t, e, "", batch(false, ok), nil).Error(t, 401, "missing_token")
		sendBatch(t, e, token, batch(false, ok), map[string]string{"Idempotency-Key": "a b"}).Error(t, 400, "invalid_parameter", "Idempotency-Key")
		if r := e.Get(t, "/v1/batch", token).Error(t, 405, "method_not_allowed"); r.Header.Get("Allow") != "POST, OPTIONS" {
			t.Errorf("Allow: %s", r.Header.Get("Allow"))
		}
	})
}

// TestAtomicBatchIsAllOrNothing, also on the database, and also for locks and conditions.
func TestAtomicBatchIsAllOrNothing(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		e.Get(t, "/v1/sites", token) // writes the token's last use
		booking := w.request(find(t, "createAppointment"), 0)
		booking.Body.(map[string]any)["appointment"].(map[string]any)["force_changes"] = false
		patient, fee := w.request(find(t, "createPatient"), 0), w.request(find(t, "updateFee"), 0)
		removal := harness.Request{Method: http.MethodDelete, Path: "/v1/appointments/" + w.ids["appointments"][0]}

		before := everyRow(t, e)
		r := sendBatch(t, e, token, batch(true, item(patient), item(booking), item(fee), item(booking), item(removal)), nil)
		if got := statuses(t, r); got != "[424 424 424 409 424]" || r.At(t, "committed") != false || r.Text(t, "results.3.body.error.code") != "double_booking" {
			t.Errorf("%s: %s", got, r.Raw)
		}
		if !maps.Equal(before, everyRow(t, e)) {
			t.Error("a batch that failed has stored something")
		}
		r = sendBatch(t, e, token, batch(true, item(patient), item(booking), item(fee), item(removal)), map[string]string{"Prefer": "dry-run"})
		if got := statuses(t, r); got != "[201 201 200 204]" || r.At(t, "committed") != false || r.Header.Get("Preference-Applied") != "dry-run" || !maps.Equal(before, everyRow(t, e)) {
			t.Errorf("dry run: %s", r.Raw)
		}
		r = sendBatch(t, e, token, batch(false, item(patient), item(fee)), map[string]string{"Prefer": "dry-run"})
		if got := statuses(t, r); got != "[201 200]" || r.At(t, "committed") != false || !maps.Equal(before, everyRow(t, e)) {
			t.Errorf("dry run of a batch that is not atomic: %s", r.Raw)
		}
		r = sendBatch(t, e, token, batch(true, item(patient), item(booking), item(fee), item(removal)), nil)
		if got := statuses(t, r); got != "[201 201 200 204]" || r.At(t, "committed") != true {
			t.Errorf("%s: %s", got, r.Raw)
		}
		e.Get(t, "/v1/patients/"+r.Text(t, "results.0.body.patient.id"), token).Status(t, 200)
		e.Get(t, removal.Path, token).Status(t, 404)
		e.Do(t, harness.Request{Method: booking.Method, Path: booking.Path, Token: token, Body: booking.Body}).Error(t, 409, "double_booking")
	})
}

// TestBatchesAreReplayed: an atomic batch as a whole, another one request by request.
func TestBatchesAreReplayed(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		patient, fee := w.request(find(t, "createPatient"), 0), w.request(find(t, "updateFee"), 0)
		for _, atomic := range []bool{true, false} {
			key := map[string]string{"Idempotency-Key": uuid.NewString()}
			body := batch(atomic, item(patient), item(fee))
			first := sendBatch(t, e, token, body, key)
			if got := statuses(t, first); got != "[201 200]" {
				t.Fatalf("%s: %s", got, first.Raw)
			}
			before := everyRow(t, e)
			second := sendBatch(t, e, token, body, key)
			if !maps.Equal(before, everyRow(t, e)) {
				t.Errorf("atomic %v: sent again, the batch has stored something", atomic)
			}
			for i := range 2 {
				path := fmt.Sprintf("results.%d.body", i)
				if a, b := shown(t, first.At(t, path)), shown(t, second.At(t, path)); a != b {
					t.Errorf("atomic %v: %s, then %s", atomic, a, b)
				}
			}
			if whole := replayed(second) && bytes.Equal(first.Raw, second.Raw) && first.Header.Get("ETag") == second.Header.Get("ETag"); whole != atomic {
				t.Errorf("atomic %v: %s, then %s", atomic, first.Raw, second.Raw)
			}
			if a, b := recordsRead(t, e, first), recordsRead(t, e, second); atomic && (a != b || a == "") {
				t.Errorf("the access log has %s, then %s", a, b)
			}
			other := sendBatch(t, e, token, batch(atomic, item(fee), item(patient)), key)
			if atomic {
				other.Error(t, 422, "idempotency_key_reused")
			} else if got := statuses(t, other); got != "[422 422]" {
				t.Errorf("%s", other.Raw)
			}
		}
		// Keys inside an atomic batch are rolled back with it.
		keyed := withKey(patient, "inside")
		bad := harness.Request{Method: http.MethodDelete, Path: "/v1/patients/" + missing(w.ids["patients"][0])}
		if got := statuses(t, sendBatch(t, e, token, batch(true, item(keyed), item(bad)), nil)); got != "[424 404]" {
			t.Error(got)
		}
		if got := statuses(t, sendBatch(t, e, token, batch(true, item(keyed), item(keyed)), nil)); got != "[201 201]" {
			t.Error(got)
		}
		keyed.Token = token
		if !replayed(e.Do(t, keyed).Status(t, 201)) {
			t.Error("a key inside a batch is not stored")
		}
	})
}
