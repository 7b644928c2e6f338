package civil_test

import (
	"cmp"
	"encoding/json"
	"testing"
	"time"

	"chairside/internal/civil"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

func TestParse(t *testing.T) {
	for _, good := range []string{"2026-07-01", "2024-02-29", "0001-01-01", "9999-12-31"} {
		if d, err := civil.Parse(good); err != nil || d.String() != good {
			t.Errorf("Parse(%q) = %v, %v", good, d, err)
		}
	}
	for _, bad := range []string{"", "2026-7-1", "2026-02-29", "2026-02-30", "2026-13-01", "2026-00-01", "2026-01-00", "0000-01-01",
		"20260701", "2026-07-01T00:00:00Z", " 2026-07-01", "2026-07-01 ", "+2026-07-01", "12026-07-01", "01/07/2026", "2026-W27-3"} {
		if d, err := civil.Parse(bad); err == nil {
			t.Errorf("Parse(%q) = %v, want an error", bad, d)
		}
	}
}

// TestFirstAtAndLastAt has the UTC instants at which the clocks of a zone show a minute of a day.
func TestFirstAtAndLastAt(t *testing.T) {
	for _, c := range []struct {
		name, zone, day string
		minute          int
		first, last     string
	}{
		{"ordinary", "Europe/London", "2026-07-01", 570, "2026-07-01T08:30:00Z", "2026-07-01T08:30:00Z"},
		{"in winter", "Europe/London", "2026-01-15", 570, "2026-01-15T09:30:00Z", "2026-01-15T09:30:00Z"},
		{"1440 is the next midnight", "Europe/London", "2026-07-01", 1440, "2026-07-01T23:00:00Z", "2026-07-01T23:00:00Z"},
		{"skipped hour", "Europe/London", "2026-03-29", 90, "2026-03-29T01:00:00Z", "2026-03-29T01:00:00Z"},
		{"start of the skipped hour", "Europe/London", "2026-03-29", 60, "2026-03-29T01:00:00Z", "2026-03-29T01:00:00Z"},
		{"last minute before the skip", "Europe/London", "2026-03-29", 59, "2026-03-29T00:59:00Z", "2026-03-29T00:59:00Z"},
		{"after the skip", "Europe/London", "2026-03-29", 540, "2026-03-29T08:00:00Z", "2026-03-29T08:00:00Z"},
		{"repeated hour", "Europe/London", "2026-10-25", 90, "2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"},
		{"first minute of the repeated hour", "Europe/London", "2026-10-25", 60, "2026-10-25T00:00:00Z", "2026-10-25T01:00:00Z"},
		{"end of the repeated hour", "Europe/London", "2026-10-25", 120, "2026-10-25T02:00:00Z", "2026-10-25T02:00:00Z"},
		{"after the repeat", "Europe/London", "2026-10-25", 540, "2026-10-25T09:00:00Z", "2026-10-25T09:00:00Z"},
		{"skipped midnight", "America/Sao_Paulo", "2018-11-04", 0, "2018-11-04T03:00:00Z", "2018-11-04T03:00:00Z"},
		{"1440 of the day before a skipped midnight", "America/Sao_Paulo", "2018-11-03", 1440, "2018-11-04T03:00:00Z", "2018-11-04T03:00:00Z"},
		{"repeated hour before midnight", "America/Sao_Paulo", "2018-02-17", 1410, "2018-02-18T01:30:00Z", "2018-02-18T02:30:00Z"},
		{"midnight after the repeated hour", "America/Sao_Paulo", "2018-02-18", 0, "2018-02-18T03:00:00Z", "2018-02-18T03:00:00Z"},
		{"skipped midnight east of Greenwich", "Asia/Beirut", "2022-03-27", 0, "2022-03-26T22:00:00Z", "2022-03-26T22:00:00Z"},
		{"repeated hour before midnight east of Greenwich", "Asia/Beirut", "2022-10-29", 1410, "2022-10-29T20:30:00Z", "2022-10-29T21:30:00Z"},
		{"repeated midnight", "America/Havana", "2026-11-01", 0, "2026-11-01T04:00:00Z", "2026-11-01T05:00:00Z"},
		{"half an hour skipped", "Australia/Lord_Howe", "2026-10-04", 135, "2026-10-03T15:30:00Z", "2026-10-03T15:30:00Z"},
		{"half an hour repeated", "Australia/Lord_Howe", "2026-04-05", 105, "2026-04-04T14:45:00Z", "2026-04-04T15:15:00Z"},
		{"a whole day skipped", "Pacific/Apia", "2011-12-30", 600, "2011-12-30T10:00:00Z", "2011-12-30T10:00:00Z"},
		{"far east", "Pacific/Kiritimati", "2026-07-01", 0, "2026-06-30T10:00:00Z", "2026-06-30T10:00:00Z"},
		{"far west", "Pacific/Pago_Pago", "2026-07-01", 1440, "2026-07-02T11:00:00Z", "2026-07-02T11:00:00Z"},
		{"UTC", "UTC", "2026-07-01", 1, "2026-07-01T00:01:00Z", "2026-07-01T00:01:00Z"},
	} {
		t.Run(c.name, func(t *testing.T) {
			day, loc := civil.MustParse(c.day), zone(t, c.zone)
			if got := day.FirstAt(c.minute, loc).UTC().Format(time.RFC3339); got != c.first {
				t.Errorf("FirstAt = %s, want %s", got, c.first)
			}
			if got := day.LastAt(c.minute, loc).UTC().Format(time.RFC3339); got != c.last {
				t.Errorf("LastAt = %s, want %s", got, c.last)
			}
		})
	}
}

// TestDayLengthFollowsTheClocks measures days from first instant to first instant, as filters
// and diaries do.
func TestDayLengthFollowsTheClocks(t *testing.T) {
	for _, c := range []struct {
		zone, day string
		hours     float64
	}{
		{"Europe/London", "2026-07-01", 24}, {"Europe/London", "2026-03-29", 23}, {"Europe/London", "2026-10-25", 25},
		{"America/Sao_Paulo", "2018-11-04", 23}, {"America/Sao_Paulo", "2018-02-17", 25}, {"Asia/Beirut", "2022-03-27", 23},
		{"America/Havana", "2026-11-01", 25}, {"Australia/Lord_Howe", "2026-10-04", 23.5}, {"Pacific/Apia", "2011-12-30", 0},
	} {
		day, loc := civil.MustParse(c.day), zone(t, c.zone)
		if got := day.AddDays(1).In(loc).Sub(day.In(loc)).Hours(); got != c.hours {
			t.Errorf("%s in %s has %v hours, want %v", c.day, c.zone, got, c.hours)
		}
	}
}

// FuzzFirstAtAndLastAt compares FirstAt and LastAt with a search over all offsets, for any minute
// of any day in very different zones. It also checks that later minutes are never earlier
// instants.
func FuzzFirstAtAndLastAt(f *testing.F) {
	zones := []string{"Europe/London", "America/Sao_Paulo", "Asia/Beirut", "America/Havana", "Australia/Lord_Howe", "Pacific/Apia",
		"Africa/Casablanca", "Asia/Kathmandu", "America/St_Johns", "Pacific/Chatham", "Antarctica/Troll", "Africa/Monrovia"}
	f.Add(uint8(0), int64(1_774_746_000), 90)
	f.Add(uint8(1), int64(1_541_300_400), 0)
	f.Add(uint8(5), int64(1_325_239_200), 600)
	f.Add(uint8(10), int64(1_774_746_000), 120)
	f.Fuzz(func(t *testing.T, z uint8, unix int64, minute int) {
		loc := zone(t, zones[int(z)%len(zones)])
		const from, span = 0, 70 * 366 * 24 * 3600 // 1970 to 2040
		unix = from + int64(uint64(unix)%span)
		minute = int(uint(minute) % 1441)
		day := civil.Of(time.Unix(unix, 0).In(loc))
		wall := time.Date(day.Year, day.Month, day.Day, 0, minute, 0, 0, time.UTC)

		var shown []time.Time // the instants that show the time, found by trying every offset
		for offset := -15 * time.Hour; offset <= 15*time.Hour; offset += time.Minute / 2 {
			at := wall.Add(-offset).In(loc)
			if _, o := at.Zone(); time.Duration(o)*time.Second == offset {
				shown = append([]time.Time{at}, shown...)
			}
		}
		first, last := day.FirstAt(minute, loc), day.LastAt(minute, loc)
		if len(shown) == 0 {
			if before := first.Add(-time.Nanosecond).In(loc); !first.Equal(last) || sameClock(before).After(wall) || sameClock(first.In(loc)).Before(wall) {
				t.Errorf("%s minute %d in %s is skipped; got %s and %s", day, minute, loc, first, last)
			}
		} else if earliest, latest := extremes(shown); !first.Equal(earliest) || !last.Equal(latest) {
			t.Errorf("%s minute %d in %s: got %s and %s, want %s and %s", day, minute, loc, first, last, earliest, latest)
		}
		if minute < 1440 && day.FirstAt(minute+1, loc).Before(first) {
			t.Errorf("%s minute %d in %s is after the next minute", day, minute, loc)
		}
	})
}

// sameClock returns the UTC time that shows the same as t.
func sameClock(t time.Time) time.Time {
	_, offset := t.Zone()
	return t.UTC().Add(time.Duration(offset) * time.Second)
}

func extremes(times []time.Time) (earliest, latest time.Time) {
	earliest, latest = times[0], times[0]
	for _, t := range times {
		if t.Before(earliest) {
			earliest = t
		}
		if t.After(latest) {
			latest = t
		}
	}
	return earliest, latest
}

func TestAddMonthsStaysInTheMonth(t *testing.T) {
	for _, c := range []struct {
		from string
		n    int
		want string
	}{
		{"2026-01-31", 1, "2026-02-28"}, {"2024-01-31", 1, "2024-02-29"}, {"2026-03-31", -1, "2026-02-28"}, {"2026-12-15", 1, "2027-01-15"},
		{"2026-01-15", -1, "2025-12-15"}, {"2026-08-31", 6, "2027-02-28"}, {"2026-05-05", 24, "2028-05-05"}, {"2026-05-05", 0, "2026-05-05"},
	} {
		if got := civil.MustParse(c.from).AddMonths(c.n).String(); got != c.want {
			t.Errorf("%s and %d months is %s, want %s", c.from, c.n, got, c.want)
		}
	}
}

func TestAddDaysFollowsTheCalendar(t *testing.T) {
	for from, want := range map[string]string{"2026-03-28": "2026-03-29", "2026-03-29": "2026-03-30", "2024-02-28": "2024-02-29", "2026-12-31": "2027-01-01"} {
		if got := civil.MustParse(from).AddDays(1); got.String() != want || got.AddDays(-1).String() != from {
			t.Errorf("the day after %s is %s, want %s", from, got, want)
		}
	}
	if d := civil.MustParse("2026-07-01"); d.Weekday() != time.Wednesday || !d.Before(d.AddDays(1)) || d.Before(d) {
		t.Error("1 July 2026 is a Wednesday, before the 2nd and not before itself")
	}
}

func TestCompareOrdersDays(t *testing.T) {
	days := []civil.Date{{}, civil.MustParse("2025-12-31"), civil.MustParse("2026-01-30"), civil.MustParse("2026-01-31"), civil.MustParse("2026-02-01")}
	for i, a := range days {
		for j, b := range days {
			if got := a.Compare(b); got != cmp.Compare(i, j) || a.Before(b) != (i < j) {
				t.Errorf("%s.Compare(%s) = %d, Before %t", a, b, got, a.Before(b))
			}
		}
	}
}

func TestScanAndValue(t *testing.T) {
	want := civil.MustParse("2026-07-01")
	for _, src := range []any{"2026-07-01", []byte("2026-07-01"), "2026-07-01 00:00:00+00:00", time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)} {
		var d civil.Date
		if err := d.Scan(src); err != nil || d != want {
			t.Errorf("Scan(%v) = %v, %v", src, d, err)
		}
	}
	for _, src := range []any{"", "yesterday", 5, 2.5} {
		var d civil.Date
		if err := d.Scan(src); err == nil {
			t.Errorf("Scan(%v) = %v, want an error", src, d)
		}
	}
	d := want
	if err := d.Scan(nil); err != nil || !d.IsZero() {
		t.Errorf("Scan(nil) = %v, %v", d, err)
	}
	if v, err := want.Value(); err != nil || v != "2026-07-01" {
		t.Errorf("Value() = %v, %v", v, err)
	}
	if v, err := (civil.Date{}).Value(); err != nil || v != nil {
		t.Errorf("Value() of the zero Date = %v, %v", v, err)
	}
}

func TestJSON(t *testing.T) {
	b, err := json.Marshal(civil.MustParse("2026-07-01"))
	if err != nil || string(b) != `"2026-07-01"` {
		t.Errorf("Marshal = %s, %v", b, err)
	}
	var d civil.Date
	if err := json.Unmarshal(b, &d); err != nil || d.String() != "2026-07-01" {
		t.Errorf("Unmarshal = %v, %v", d, err)
	}
	for _, bad := range []string{`"2026-02-30"`, `20260701`, `{}`} {
		if err := json.Unmarshal([]byte(bad), &d); err == nil {
			t.Errorf("Unmarshal(%s) = %v, want an error", bad, d)
		}
	}
}
