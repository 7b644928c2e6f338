package api_test

import (
	"strings"
	"testing"

	"chairside/internal/test/harness"
)

// TestLongQueriesAreRefused: before they reach the database.
func TestLongQueriesAreRefused(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token, practitioner := e.Token(t, ""), hire(t, e, mondays...)
		for _, query := range []string{strings.Repeat("a ", 100_000), strings.Repeat("1 ", 100_000), strings.Repeat("x", 300_000)} {
			e.Get(t, "/v1/patients?query="+strings.ReplaceAll(query, " ", "+"), token).Error(t, 400, "invalid_parameter", "query")
		}
		e.Get(t, "/v1/patients?query="+strings.Repeat("%C3%A9+", 127), token).Status(t, 200)

		same := strings.Repeat(text(practitioner)+",", 70_000) + text(practitioner)
		if got := e.Get(t, rawWindow(same), token).Status(t, 200).List(t, "availability"); len(got) != 2 {
			t.Errorf("one practitioner named often has %v", got)
		}
		var many strings.Builder
		for id := range 70_000 {
			many.WriteString(text(id) + ",")
		}
		e.Get(t, rawWindow(many.String()+"1"), token).Error(t, 400, "invalid_parameter", "practitioner_ids")
	})
}

// TestUnknownParametersOfWritesAreReported: and refused before anything is written if the
// client prefers strict handling.
func TestUnknownParametersOfWritesAreReported(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		path := appointmentPath(book(t, e.Client(t, token), hire(t, e), "09:00", "09:30"))
		for method, path := range map[string]string{"GET": path, "PATCH": path, "PUT": path, "POST": "/v1/appointments", "DELETE": path} {
			q := harness.Request{Method: method, Path: path + "?zebra=1", Token: token, Body: rawBooking(hire(t, e), "09:00", "09:30"), Header: map[string]string{"Prefer": "handling=strict"}}
			before := systemRows(t, e, "SELECT count(*) FROM audit_events")
			e.Do(t, q).Error(t, 400, "invalid_parameter", "zebra")
			if systemRows(t, e, "SELECT count(*) FROM audit_events") != before {
				t.Errorf("%s was executed", method)
			}
			q.Header = nil
			if method != "DELETE" {
				if res := e.Do(t, q); res.Code > 299 || res.Header.Get("X-Unknown-Parameters") != "zebra" {
					t.Errorf("%s: %d, X-Unknown-Parameters %q", method, res.Code, res.Header.Get("X-Unknown-Parameters"))
				}
			}
		}
		if res := e.Get(t, rawWindow(hire(t, e), map[string]string{"sort_by": "id"}), token).Status(t, 200); res.Header.Get("X-Unknown-Parameters") != "sort_by" {
			t.Errorf("availability has no order: %q", res.Header.Get("X-Unknown-Parameters"))
		}
	})
}
