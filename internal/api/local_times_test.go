package api_test

import (
	"net/url"
	"slices"
	"testing"
	"time"

	"chairside/internal/diary"
	"chairside/internal/test/harness"
)

// TestLocalTimesAcrossClockChanges: a time that the clocks show twice is the first one, and
// one that they skip is refused, in bodies and in all filters.
func TestLocalTimesAcrossClockChanges(t *testing.T) {
	for name, c := range map[string]struct{ zone, twice, first, skipped, beside, until string }{
		"London":    {"Europe/London", "2026-10-25T01:30", "2026-10-25T01:30:00.000+01:00", "2027-03-28T01:30", "2027-03-28T02:00", "2027-03-28T03:00"},
		"New York":  {"America/New_York", "2026-11-01T01:30", "2026-11-01T01:30:00.000-04:00", "2027-03-14T02:30", "2027-03-14T03:00", "2027-03-14T04:00"},
		"Lord Howe": {"Australia/Lord_Howe", "2027-04-04T01:45", "2027-04-04T01:45:00.000+11:00", "2026-10-04T02:15", "2026-10-04T02:30", "2026-10-04T03:30"},
		"Havana":    {"America/Havana", "2026-11-01T00:30", "2026-11-01T00:30:00.000-04:00", "2027-03-14T00:00", "2027-03-14T01:00", "2027-03-14T02:00"},
	} {
		t.Run(name, func(t *testing.T) {
			harness.Each(t, func(t *testing.T, e *harness.Env) {
				relocate(t, e, c.zone)
				token, practitioner := e.Token(t, ""), hire(t, e)
				book := func(start, finish string) *harness.Response {
					return e.Post(t, "/v1/appointments", token, row{"appointment": row{"practitioner_id": practitioner, "reason": "Exam", "start_time": start, "finish_time": finish}})
				}
				message := "does not exist in " + c.zone + " on this day"
				refused := func(res *harness.Response, status int, code, param string) {
					t.Helper()
					res.Error(t, status, code, param)
					if got := res.Text(t, "error.params."+param+".0"); got != message {
						t.Errorf("%s: %q, want %q", param, got, message)
					}
				}
				booked := book(c.twice, shown(instant(c.first).Add(10*time.Minute))).Status(t, 201)
				if got := booked.Text(t, "appointment.start_time"); got != c.first {
					t.Errorf("%s is read as %s, want %s", c.twice, got, c.first)
				}
				refused(book(c.skipped, c.until), 422, "validation_failed", "start_time")
				refused(book(shown(instant(c.first).Add(100*time.Hour)), c.skipped), 422, "validation_failed", "finish_time")
				path := "/v1/appointments/" + booked.Text(t, "appointment.id")
				refused(e.Patch(t, path, token, row{"appointment": row{"start_time": c.skipped}}), 422, "validation_failed", "start_time")

				list := func(query url.Values) *harness.Response {
					return e.Get(t, "/v1/appointments?"+query.Encode(), token)
				}
				for _, param := range []string{"on", "before", "after", "updated_after"} {
					refused(list(url.Values{param: {c.skipped}}), 400, "invalid_parameter", param)
				}
				refused(e.Get(t, "/v1/patients?"+url.Values{"created_after": {c.skipped}}.Encode(), token), 400, "invalid_parameter", "created_after")
				id := booked.Text(t, "appointment.id")
				for param, want := range map[string]bool{"after": true, "before": false} { // after is inclusive, before is exclusive
					got := list(url.Values{param: {c.twice}, "practitioner_id": {text(practitioner)}}).Status(t, 200).Column(t, "appointments", "id")
					if slices.Contains(got, id) != want {
						t.Errorf("%s=%s: %v", param, c.twice, got)
					}
				}
				slots := func(start, finish string) *harness.Response {
					return e.Get(t, "/v1/appointments/availability?"+url.Values{"practitioner_ids[]": {text(practitioner)}, "start_time": {start}, "finish_time": {finish}}.Encode(), token)
				}
				refused(slots(c.skipped, c.until), 400, "invalid_parameter", "start_time")
				refused(slots("2026-07-02", c.skipped), 400, "invalid_parameter", "finish_time")
				slots(c.beside, c.until).Status(t, 200)
			})
		})
	}
}

// TestSessionsAcrossClockChanges: a session from a skipped hour starts when the clocks go on,
// one from a repeated hour starts with the first, and one until such an hour ends with the
// second.
func TestSessionsAcrossClockChanges(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		client := e.Client(t, e.Token(t, "appointment"))
		starts := hire(t, e, diary.Hours{Weekday: time.Sunday, Start: 90, Finish: 240})
		ends := hire(t, e, diary.Hours{Weekday: time.Sunday, Start: 0, Finish: 90})
		for _, c := range []struct {
			day          string
			starts, ends []string
		}{
			{"2027-03-28", []string{"02:00-04:00 120"}, []string{"00:00-02:00 60"}},
			{"2026-10-25", []string{"01:30-04:00 210"}, []string{"00:00-01:30 150"}},
			{"2026-07-05", []string{"01:30-04:00 150"}, []string{"00:00-01:30 90"}},
		} {
			next := instant(c.day).AddDate(0, 0, 1).Format(time.DateOnly)
			if got := free(t, client, window(starts, between(c.day, next))); !slices.Equal(got, c.starts) {
				t.Errorf("%s: from half past one there is %v, want %v", c.day, got, c.starts)
			}
			if got := free(t, client, window(ends, between(c.day, next))); !slices.Equal(got, c.ends) {
				t.Errorf("%s: until half past one there is %v, want %v", c.day, got, c.ends)
			}
		}
	})
}
