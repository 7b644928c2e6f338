package schedule_test

import (
	"testing"
	"time"

	"chairside/internal/civil"
	"chairside/internal/report"
	"chairside/internal/report/schedule"
)

func TestParseEvery(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"monday@07:00": "monday@07:00", "Sunday@00:00": "sunday@00:00", "SATURDAY@23:59": "saturday@23:59",
		"": "", "monday": "", "monday@7:00": "", "monday@24:00": "", "monday@07:60": "", "mon@07:00": "", "monday@07:00:00": "", "@07:00": "", "monday@+7:00": "", " monday@07:00": "",
	} {
		got, err := schedule.ParseEvery(text)
		if (err == nil) != (want != "") || err == nil && got.String() != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

// TestEveryFollowsTheClocks: a time that the clocks skip happens at the skip, and one that they show twice
// happens once.
func TestEveryFollowsTheClocks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ zone, every, after, want string }{
		{"Europe/London", "monday@07:00", "2026-07-01T00:00:00Z", "2026-07-06T06:00:00Z"},
		{"Europe/London", "monday@07:00", "2026-07-06T06:00:00Z", "2026-07-13T06:00:00Z"}, // strictly after
		{"Europe/London", "monday@07:00", "2026-07-06T05:59:59Z", "2026-07-06T06:00:00Z"},
		{"Europe/London", "monday@07:00", "2026-10-20T00:00:00Z", "2026-10-26T07:00:00Z"}, // winter time
		{"Europe/London", "sunday@01:30", "2026-03-23T00:00:00Z", "2026-03-29T01:00:00Z"}, // skipped
		{"Europe/London", "sunday@01:30", "2026-03-29T01:00:00Z", "2026-04-05T00:30:00Z"},
		{"Europe/London", "sunday@01:30", "2026-10-20T00:00:00Z", "2026-10-25T00:30:00Z"}, // shown twice
		{"Europe/London", "sunday@01:30", "2026-10-25T00:30:00Z", "2026-11-01T01:30:00Z"},
		{"America/Sao_Paulo", "sunday@00:00", "2018-11-03T12:00:00Z", "2018-11-04T03:00:00Z"}, // midnight is skipped
		{"Pacific/Auckland", "monday@00:00", "2026-07-05T11:59:59Z", "2026-07-05T12:00:00Z"},
		{"Pacific/Kiritimati", "friday@00:00", "2026-07-02T09:59:59Z", "2026-07-02T10:00:00Z"},
		{"Pacific/Pago_Pago", "friday@23:59", "2026-07-04T10:58:59Z", "2026-07-04T10:59:00Z"},
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		every, err := schedule.ParseEvery(c.every)
		if err != nil {
			t.Fatal(err)
		}
		after, want := instant(t, c.after), instant(t, c.want)
		if got := every.Next(after, zone); !got.Equal(want) {
			t.Errorf("%s in %s after %s: %v, want %v", c.every, c.zone, c.after, got, want)
		}
		if got := every.Latest(want, zone); !got.Equal(want) {
			t.Errorf("%s in %s until %s: %v", c.every, c.zone, c.want, got)
		}
	}
}

func instant(t testing.TB, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// TestEveryHappensOnceAWeek in zones of all kinds, over ten years.
func TestEveryHappensOnceAWeek(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Europe/London", "Europe/Dublin", "America/New_York", "America/Sao_Paulo", "Australia/Lord_Howe", "Africa/Casablanca", "Asia/Kathmandu", "Pacific/Apia"} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, every := range []schedule.Every{{Weekday: time.Sunday, Minute: 90}, {Weekday: time.Sunday, Minute: 150}, {Weekday: time.Saturday, Minute: 1439}, {Weekday: time.Friday, Minute: 0}} {
			at := every.Next(time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC), zone)
			for at.Year() < 2027 {
				next := every.Next(at, zone)
				if gap := next.Sub(at); gap < 6*24*time.Hour || gap > 8*24*time.Hour {
					t.Errorf("%s %s: from %v to %v", name, every, at, next)
				}
				if latest := every.Latest(next.Add(-time.Second), zone); !latest.Equal(at) {
					t.Errorf("%s %s: the latest before %v is %v, want %v", name, every, next, latest, at)
				}
				at = next
			}
		}
	}
}

func TestPeriods(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		period           schedule.Period
		report, due      string
		wantFrom, wantTo string
	}{
		{schedule.LastWeek, "income", "2026-07-06", "2026-06-29", "2026-07-05"}, // Monday
		{schedule.LastWeek, "income", "2026-07-05", "2026-06-22", "2026-06-28"}, // Sunday
		{schedule.LastWeek, "banking", "2027-01-01", "2026-12-21", "2026-12-27"},
		{schedule.LastMonth, "income", "2026-03-31", "2026-02-01", "2026-02-28"},
		{schedule.LastMonth, "income", "2027-01-01", "2026-12-01", "2026-12-31"},
		{schedule.Default, "capacity", "2026-07-01", "2026-07-01", "2026-08-23"},
	} {
		r, err := report.Find(c.report)
		if err != nil {
			t.Fatal(err)
		}
		from, to := c.period.Days(r, civil.MustParse(c.due))
		if from.String() != c.wantFrom || to.String() != c.wantTo {
			t.Errorf("%s of %s on %s: %s to %s", c.period, c.report, c.due, from, to)
		}
	}
	debt, err := report.Find("aged-debt")
	if err != nil {
		t.Fatal(err)
	}
	if _, to := schedule.LastMonth.Days(debt, civil.MustParse("2026-07-06")); to.String() != "2026-06-30" {
		t.Errorf("aged debt is as at %s", to)
	}
}
