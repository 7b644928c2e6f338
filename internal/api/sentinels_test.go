package api_test

import (
	"net/url"
	"strings"
	"testing"

	"chairside/internal/test/harness"
)

// TestFiltersAcceptAnyYear: of four digits: clients send the first and the last for "always"
// and "never".
func TestFiltersAcceptAnyYear(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		for _, c := range []struct {
			list   string
			params []string
			all    bool // or none
		}{
			{"appointments", []string{"before=9999-12-31", "before=9999-12-31T23:59:59.999Z", "after=0001-01-01", "after=0001-01-01T00:00:00", "updated_after=0001-01-01T00:00:00Z"}, true},
			{"appointments", []string{"after=9999-12-31", "before=0001-01-01", "on=9999-12-31", "on=0001-01-01", "updated_after=9999-12-31T23:59:59-12:00"}, false},
			{"patients", []string{"created_after=0001-01-01", "created_before=9999-12-31", "updated_since=0001-01-01T00:00:00+14:00"}, true},
			{"patients", []string{"created_after=9999-12-31", "created_before=0001-01-01"}, false},
			{"payments", []string{"start_date=0001-01-01", "end_date=9999-12-31"}, true},
			{"payments", []string{"start_date=9999-12-31", "end_date=0001-01-01"}, false},
			{"invoices", []string{"dated_on_after=0001-01-01", "dated_on_before=9999-12-31"}, true},
			{"invoices", []string{"dated_on_after=9999-12-31", "dated_on_before=0001-01-01"}, false},
			{"nhs_claims", []string{"after=9999-12-31", "before=0001-01-01"}, false},
			{"accounts", []string{"as_at=9999-12-31", "as_at=0001-01-01"}, true},
		} {
			whole := e.Get(t, "/v1/"+c.list+"?per_page=1", token).Status(t, 200).Text(t, "meta.total")
			if !c.all {
				whole = "0"
			}
			for _, param := range c.params {
				name, value, _ := strings.Cut(param, "=")
				path := "/v1/" + c.list + "?" + url.Values{name: {value}, "per_page": {"1"}}.Encode()
				if got := e.Get(t, path, token).Status(t, 200).Text(t, "meta.total"); got != whole {
					t.Errorf("%s?%s has %s, want %s", c.list, param, got, whole)
				}
			}
		}
		claims := func(query string) string {
			return e.Get(t, "/v1/nhs_claims?per_page=1&"+query, token).Status(t, 200).Text(t, "meta.total")
		}
		if got, want := claims("before=9999-12-31"), claims("after=0001-01-01"); got != want || got == "0" { // claims that have the date
			t.Errorf("%s claims before the last day, but %s after the first", got, want)
		}
		for _, value := range []string{"0000-12-31", "10000-01-01", "0000-12-31T23:59:59Z"} {
			e.Get(t, "/v1/appointments?after="+value, token).Error(t, 400, "invalid_parameter", "after")
		}
	})
}

// TestDatesOfAnyYear: dates are stored as sent; times are limited to the years that have four
// digits in every zone.
func TestDatesOfAnyYear(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		path := patientPath(t, rawRegister(t, e, token).Status(t, 201))
		for _, day := range []string{"9999-12-31", "0001-01-01", "0999-02-28"} {
			e.Patch(t, path, token, edit("patient", row{"dentist_recall_date": day, "hygienist_recall_date": day})).Status(t, 200)
			res := e.Get(t, path, token).Status(t, 200)
			if got := res.Text(t, "patient.dentist_recall_date") + res.Text(t, "patient.hygienist_recall_date"); got != day+day {
				t.Errorf("%s is returned as %s", day, got)
			}
		}
		e.Patch(t, path, token, edit("patient", row{"dentist_recall_date": "0000-01-01", "hygienist_recall_date": "10000-01-01"})).
			Error(t, 422, "validation_failed", "dentist_recall_date", "hygienist_recall_date")
		appointment := appointmentPath(book(t, e.Client(t, token), hire(t, e), "09:00", "09:30"))
		for _, at := range []string{"0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"} {
			res := e.Patch(t, appointment, token, edit("appointment", row{"start_time": at, "finish_time": at})).Error(t, 422, "validation_failed", "start_time", "finish_time")
			if got := res.Text(t, "error.params.start_time.0"); got != "must be of the years 1000 to 9998" {
				t.Errorf("%s: %s", at, got)
			}
		}
	})
}
