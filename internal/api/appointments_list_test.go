package api_test

import (
	"net/url"
	"slices"
	"testing"

	"chairside/internal/chairsidetest"
)

// TestOnIsTheLocalDay also where it has 23 or 25 hours.
func TestOnIsTheLocalDay(t *testing.T) {
	cases := map[string]struct {
		on      []string // several ways to name the day
		in, out []string // starts of appointments on the day, and beside it
	}{
		"24 hours": {
			[]string{"2026-07-06", "2026-07-06T12:00:00", "2026-07-06T22:59:59Z", "2026-07-05T23:00:00Z", "2026-07-06T23:59:59+01:00", "2026-07-07T04:00:00+05:30"},
			[]string{"2026-07-05T23:00:00Z", "2026-07-06T12:00:00Z", "2026-07-06T22:59:00Z"}, []string{"2026-07-05T22:59:00Z", "2026-07-06T23:00:00Z"},
		},
		"23 hours": {
			[]string{"2026-03-29", "2026-03-29T00:00:00Z", "2026-03-29T22:59:59Z", "2026-03-29T01:30:00"},
			[]string{"2026-03-29T00:00:00Z", "2026-03-29T01:00:00Z", "2026-03-29T22:59:00Z"}, []string{"2026-03-28T23:59:00Z", "2026-03-29T23:00:00Z"},
		},
		"25 hours": {
			[]string{"2026-10-25", "2026-10-24T23:00:00Z", "2026-10-25T23:59:59Z", "2026-10-25T01:30:00"},
			[]string{"2026-10-24T23:00:00Z", "2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z", "2026-10-25T23:59:00Z"}, []string{"2026-10-24T22:59:00Z", "2026-10-26T00:00:00Z"},
		},
	}
	chairsidetest.Each(t, func(t *testing.T, e *chairsidetest.Env) {
		token := e.Token(t, "appointment")
		for name, c := range cases {
			practitioner := hire(t, e)
			var want []string
			for i, start := range append(slices.Clone(c.in), c.out...) {
				finish := shown(instant(start).Add(1e9 * 60))
				res := e.Post(t, "/v1/appointments", token, booking(practitioner, "", "", row{"start_time": start, "finish_time": finish})).Status(t, 201)
				if i < len(c.in) {
					want = append(want, res.Text(t, "appointment.id"))
				}
			}
			for _, on := range c.on {
				query := url.Values{"practitioner_id": {text(practitioner)}, "on": {on}}
				if got := e.Get(t, "/v1/appointments?"+query.Encode(), token).Status(t, 200).Column(t, "appointments", "id"); !slices.Equal(got, want) {
					t.Errorf("%s: on=%s: got %v, want %v", name, on, got, want)
				}
			}
		}
	})
}

// TestBeforeAndAfterCompareTheStart: after is inclusive, before is exclusive,
// and neither looks at when an appointment ends.
func TestBeforeAndAfterCompareTheStart(t *testing.T) {
	chairsidetest.Each(t, func(t *testing.T, e *chairsidetest.Env) {
		token, practitioner := e.Token(t, "appointment"), hire(t, e)
		book(t, e, token, practitioner, "10:00", "11:00")
		for query, want := range map[string]string{
			"after=2026-07-06T10:00:00": "1", "after=2026-07-06T10:00:00.001": "0", "after=2026-07-06T09:00:00Z": "1", "after=2026-07-06": "1", "after=2026-07-07": "0", "after=2026-07-06T10:30:00": "0",
			"before=2026-07-06T10:00:00": "0", "before=2026-07-06T10:00:00.001": "1", "before=2026-07-06": "0", "before=2026-07-07": "1",
			"after=2026-07-06T10:00:00&before=2026-07-06T10:00:00": "0", "after=2026-07-06T09:00:00&before=2026-07-06T10:01:00": "1", "on=2026-07-06&before=2026-07-06T10:00:00": "0",
		} {
			if got := e.Get(t, "/v1/appointments?practitioner_id="+text(practitioner)+"&"+query, token).Status(t, 200).Text(t, "meta.total"); got != want {
				t.Errorf("%s: %s rows, want %s", query, got, want)
			}
		}
	})
}

// TestUpdatedAfterFindsChanges at the very instant, not before, and not what
// changed nothing.
func TestUpdatedAfterFindsChanges(t *testing.T) {
	chairsidetest.Each(t, func(t *testing.T, e *chairsidetest.Env) {
		token, practitioner := e.Token(t, "appointment"), hire(t, e)
		path := book(t, e, token, practitioner, "10:00", "11:00")
		e.Clock.Advance(1e9)
		since := func() string { return url.Values{"updated_after": {shown(e.Clock.Now())}}.Encode() }
		list := "/v1/appointments?practitioner_id=" + text(practitioner) + "&cancelled=true&"
		expect := func(when, want string) {
			t.Helper()
			if got := e.Get(t, list+since(), token).Status(t, 200).Text(t, "meta.total"); got != want {
				t.Errorf("%s: %s rows, want %s", when, got, want)
			}
		}
		expect("before the change", "0")
		e.Patch(t, path, token, edit("appointment", row{"state": "Pending", "notes": null})).Status(t, 200)
		expect("after what changes nothing", "0")
		e.Patch(t, path, token, edit("appointment", row{"state": "Cancelled"})).Status(t, 200)
		expect("after the change", "1")
		e.Clock.Advance(1e6)
		expect("a millisecond later", "0")
	})
}
