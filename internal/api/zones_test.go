package api_test

import (
	"net/url"
	"slices"
	"testing"
	"time"

	"chairside/ent"
	"chairside/internal/diary"
	"chairside/internal/test/harness"
	"chairside/ogent"
)

// relocate moves the demo practice to another time zone.
func relocate(t *testing.T, e *harness.Env, zone string) {
	t.Helper()
	e.ChangePractice(t, func(p *ent.PracticeUpdateOne) { p.SetTimeZone(zone) })
}

// TestTimesAreInThePracticesZone: in responses, in bodies without an offset, and in filters by
// day, even if midnight is skipped.
func TestTimesAreInThePracticesZone(t *testing.T) {
	cases := map[string]struct {
		zone         string
		local, shown string // a start without an offset, and the start in the response
		day          string
		in, out      []string // starts on the day, and on the days around it
	}{
		"west":               {"America/New_York", "2026-07-06T09:30", "2026-07-06T09:30:00.000-04:00", "2026-07-06", []string{"2026-07-06T04:00:00Z", "2026-07-07T03:59:00Z"}, []string{"2026-07-06T03:59:00Z", "2026-07-07T04:00:00Z"}},
		"east, by half":      {"Asia/Kolkata", "2026-07-06T09:30", "2026-07-06T09:30:00.000+05:30", "2026-07-06", []string{"2026-07-05T18:30:00Z", "2026-07-06T18:29:00Z"}, []string{"2026-07-05T18:29:00Z", "2026-07-06T18:30:00Z"}},
		"skipped midnight":   {"Asia/Beirut", "2022-03-27T01:30", "2022-03-27T01:30:00.000+03:00", "2022-03-27", []string{"2022-03-26T22:00:00Z", "2022-03-27T20:59:00Z"}, []string{"2022-03-26T21:59:00Z", "2022-03-27T21:00:00Z"}},
		"no midnight either": {"America/Sao_Paulo", "2018-11-04T01:30", "2018-11-04T01:30:00.000-02:00", "2018-11-04", []string{"2018-11-04T03:00:00Z", "2018-11-05T01:59:00Z"}, []string{"2018-11-04T02:59:00Z", "2018-11-05T02:00:00Z"}},
		"25 hours":           {"America/Havana", "2026-11-01T09:30", "2026-11-01T09:30:00.000-05:00", "2026-11-01", []string{"2026-11-01T04:00:00Z", "2026-11-01T05:00:00Z", "2026-11-02T04:59:00Z"}, []string{"2026-11-01T03:59:00Z", "2026-11-02T05:00:00Z"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			harness.Each(t, func(t *testing.T, e *harness.Env) {
				relocate(t, e, c.zone)
				token := e.Token(t, "appointment")
				local := row{"start_time": c.local, "finish_time": shown(instant(c.shown).Add(time.Minute))}
				if got := e.Post(t, "/v1/appointments", token, rawBooking(hire(t, e), "", "", local)).Status(t, 201).Text(t, "appointment.start_time"); got != c.shown {
					t.Errorf("%s is answered as %s, want %s", c.local, got, c.shown)
				}
				practitioner := hire(t, e)
				var want []string
				for i, start := range append(slices.Clone(c.in), c.out...) {
					a := book(t, e.Client(t, token), practitioner, "09:00", "09:30", starts(instant(start)), finishes(instant(start).Add(time.Minute)), forced)
					if i < len(c.in) {
						want = append(want, text(a.ID))
					}
				}
				query := url.Values{"practitioner_id": {text(practitioner)}, "on": {c.day}}
				if got := e.Get(t, "/v1/appointments?"+query.Encode(), token).Status(t, 200).Column(t, "appointments", "id"); !slices.Equal(got, want) {
					t.Errorf("on=%s: got %v, want %v", c.day, got, want)
				}
				next := instant(c.day).AddDate(0, 0, 1).Format(time.DateOnly)
				between := url.Values{"practitioner_id": query["practitioner_id"], "after": {c.day}, "before": {next}}
				if got := e.Get(t, "/v1/appointments?"+between.Encode(), token).Status(t, 200).Column(t, "appointments", "id"); !slices.Equal(got, want) {
					t.Errorf("after=%s, before=%s: got %v, want %v", c.day, next, got, want)
				}
			})
		})
	}
}

func TestAvailabilityIsInThePracticesZone(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		relocate(t, e, "America/Havana")
		havana, err := time.LoadLocation("America/Havana")
		if err != nil {
			t.Fatal(err)
		}
		c := e.Client(t, e.Token(t, "appointment"))
		practitioner := hire(t, e, diary.Hours{Weekday: time.Sunday, Start: 0, Finish: 120}, diary.Hours{Weekday: time.Monday, Start: 0, Finish: 60})
		for day, want := range map[string][]string{
			"2026-11-01": {"00:00-02:00 180", "00:00-01:00 60"}, // 00:00 to 01:00 is repeated
			"2027-03-14": {"01:00-02:00 60", "00:00-01:00 60"},  // 00:00 to 01:00 is skipped
			"2026-07-05": {"00:00-02:00 120", "00:00-01:00 60"},
		} {
			start, err := time.ParseInLocation(time.DateOnly, day, havana)
			if err != nil {
				t.Fatal(err)
			}
			days := between(start.Format(time.RFC3339), start.AddDate(0, 0, 2).Format(time.RFC3339))
			if got := free(t, c, window(practitioner, days)); !slices.Equal(got, want) {
				t.Errorf("%s: got %v, want %v", day, got, want)
			}
		}
	})
}

// TestBirthTodayIsInThePracticesZone: 23:30 UTC is the next day in London in summer.
func TestBirthTodayIsInThePracticesZone(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		c := e.Client(t, e.Token(t, ""))
		e.Clock.Set(time.Date(2026, 6, 30, 23, 30, 0, 0, time.UTC))
		born := func(day string) field { return func(in *ogent.PatientInput) { in.DateOfBirth.SetTo(instant(day)) } }
		register(t, c, born("2026-07-01"))
		_, err := c.CreatePatient(t.Context(), newPatient(t, c, born("2026-07-02")))
		harness.Refused(t, err, 422, "validation_failed", "date_of_birth")
	})
}
