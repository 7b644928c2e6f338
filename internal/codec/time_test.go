package codec_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"chairside/internal/codec"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

func TestParseTimeAcceptsISO8601(t *testing.T) {
	london := zone(t, "Europe/London")
	for _, c := range []struct{ name, sent, want string }{
		{"UTC", "2026-07-01T09:30:00Z", "2026-07-01T09:30:00.000Z"},
		{"offset", "2026-07-01T09:30:00+01:00", "2026-07-01T08:30:00.000Z"},
		{"offset west", "2026-07-01T09:30:00-05:00", "2026-07-01T14:30:00.000Z"},
		{"offset of a half hour", "2026-07-01T09:30:00+05:30", "2026-07-01T04:00:00.000Z"},
		{"offset without a colon", "2026-07-01T09:30:00+0100", "2026-07-01T08:30:00.000Z"},
		{"offset without minutes", "2026-07-01T09:30:00+01", "2026-07-01T08:30:00.000Z"},
		{"neither seconds nor minutes of the offset", "2026-07-01T09:30+01", "2026-07-01T08:30:00.000Z"},
		{"lower-case t and z", "2026-07-01t09:30:00z", "2026-07-01T09:30:00.000Z"},
		{"the largest offset", "2026-07-01T09:30:00+23:59", "2026-06-30T09:31:00.000Z"},
		{"milliseconds", "2026-07-01T09:30:00.123Z", "2026-07-01T09:30:00.123Z"},
		{"one fraction digit", "2026-07-01T09:30:00.1Z", "2026-07-01T09:30:00.100Z"},
		{"nanoseconds are truncated", "2026-07-01T09:30:00.123999999Z", "2026-07-01T09:30:00.123Z"},
		{"fraction after a comma", "2026-07-01T09:30:00,5Z", "2026-07-01T09:30:00.500Z"},
		{"local in summer", "2026-07-01T09:30:00", "2026-07-01T08:30:00.000Z"},
		{"local in winter", "2026-01-01T09:30:00", "2026-01-01T09:30:00.000Z"},
		{"local without seconds", "2026-07-01T09:30", "2026-07-01T08:30:00.000Z"},
		{"local with a fraction", "2026-07-01T09:30:00.250", "2026-07-01T08:30:00.250Z"},
		{"without seconds", "2026-07-01T09:30Z", "2026-07-01T09:30:00.000Z"},
		{"a space instead of the T", "2026-07-01 09:30:00", "2026-07-01T08:30:00.000Z"},
		{"lower-case t", "2026-07-01t09:30:00Z", "2026-07-01T09:30:00.000Z"},
		{"a plus that was not escaped in a query", "2026-07-01T09:30:00 01:00", "2026-07-01T08:30:00.000Z"},
		{"a space instead of the T and an unescaped plus", "2026-07-01 09:30:00 01:00", "2026-07-01T08:30:00.000Z"},
		{"the format of responses", "2026-07-01T09:30:00.000+01:00", "2026-07-01T08:30:00.000Z"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := codec.ParseTime(c.sent, london)
			if !ok || got.Format("2006-01-02T15:04:05.000Z07:00") != c.want {
				t.Errorf("%q is parsed as %v (%v), want %s", c.sent, got, ok, c.want)
			}
		})
	}
}

func TestParseTimeRefusesOtherText(t *testing.T) {
	for _, sent := range []string{
		"", " ", "now", "2026", "2026-07", "2026-07-01", "09:30", "2026-07-01T", "2026-7-1T09:30:00Z", "2026-07-01T09",
		"2026-07-01T25:00:00Z", "2026-07-01T09:60:00Z", "2026-07-01T09:30:60Z", "2026-02-30T09:30:00Z", "2026-07-01T09:30:00X",
		"2026-07-01T09:30:00+25:00", "2026-07-01T09:30:00+24:00", "2026-07-01T09:30:00-24:00", "2026-07-01T09:30:00z+01:00", "2026-07-01z", "2026-07-01T09:30:00+01:00 ", " 2026-07-01T09:30:00Z", "1751355000", "01/07/2026 09:30", "2026-07-01T09:30:00Z+01:00",
		"0000-01-01T00:00:00Z", "0999-12-31T23:59:59Z", "9999-06-01T00:00:00Z", "12026-07-01T09:30:00Z", "-2026-07-01T09:30:00Z", "2026-07-01T09:30:00\x00",
	} {
		if got, ok := codec.ParseTime(sent, zone(t, "Europe/London")); ok {
			t.Errorf("%q is parsed as %v", sent, got)
		}
	}
}

// TestParseTimeAcrossClockChanges checks local times that the clocks show twice, which mean
// the first one, and times that they skip: ParseTime reads these as if the clocks had not
// changed, and requests refuse them.
func TestParseTimeAcrossClockChanges(t *testing.T) {
	for _, c := range []struct{ zone, sent, want, message string }{
		{"Europe/London", "2026-10-25T01:30:00", "2026-10-25T00:30:00Z", ""},
		{"Europe/London", "2026-10-25T02:00", "2026-10-25T02:00:00Z", ""},
		{"Europe/London", "2026-03-29T00:59:59.999", "2026-03-29T00:59:59Z", ""},
		{"Europe/London", "2026-03-29T01:00", "2026-03-29T01:00:00Z", "does not exist in Europe/London on this day"},
		{"Europe/London", "2026-03-29T01:30:00", "2026-03-29T01:30:00Z", "does not exist in Europe/London on this day"},
		{"Europe/London", "2026-03-29T02:00", "2026-03-29T01:00:00Z", ""},
		{"America/New_York", "2026-11-01 01:00", "2026-11-01T05:00:00Z", ""},
		{"America/New_York", "2026-03-08T02:30", "2026-03-08T07:30:00Z", "does not exist in America/New_York on this day"},
		{"Australia/Lord_Howe", "2026-04-05T01:45", "2026-04-04T14:45:00Z", ""}, // half an hour is repeated
		{"Australia/Lord_Howe", "2026-10-04T02:15", "2026-10-03T15:45:00Z", "does not exist in Australia/Lord_Howe on this day"},
		{"America/Sao_Paulo", "2018-11-04T00:00", "2018-11-04T03:00:00Z", "does not exist in America/Sao_Paulo on this day"},
		{"America/Sao_Paulo", "2018-02-17T23:30", "2018-02-18T01:30:00Z", ""},                                      // the last hour of a day is repeated
		{"Pacific/Apia", "2011-12-30T12:00", "2011-12-30T22:00:00Z", "does not exist in Pacific/Apia on this day"}, // a day is skipped
	} {
		z := zone(t, c.zone)
		if got, ok := codec.ParseTime(c.sent, z); !ok || got.Format(time.RFC3339) != c.want {
			t.Errorf("%s in %s is parsed as %s (%v), want %s", c.sent, c.zone, got.Format(time.RFC3339), ok, c.want)
		}
		for _, kind := range []codec.Kind{codec.Time, codec.Day} {
			_, _, params := codec.ReadQuery(url.Values{"at": {c.sent}}, []codec.Param{{Name: "at", Kind: kind}}, z)
			if got := strings.Join(params["at"], ", "); got != c.message {
				t.Errorf("%s in %s as a parameter: %q, want %q", c.sent, c.zone, got, c.message)
			}
		}
	}
}

// FuzzParseTime checks that an accepted time, formatted in any zone, parses to the same
// instant.
func FuzzParseTime(f *testing.F) {
	for _, seed := range []string{"2026-07-01T09:30:00.123+01:00", "2026-10-25T01:30", "9998-12-31T23:59:59-14:00", "1000-01-01T00:00:00+14:00", "2026-07-01 09:30:00 01:00"} {
		f.Add(seed)
	}
	zones := []*time.Location{zone(f, "Europe/London"), zone(f, "Pacific/Kiritimati"), zone(f, "Asia/Kathmandu"), time.UTC}
	f.Fuzz(func(t *testing.T, sent string) {
		for _, z := range zones {
			got, ok := codec.ParseTime(sent, z)
			if !ok {
				continue
			}
			if got.Location() != time.UTC || got.Nanosecond()%int(time.Millisecond) != 0 {
				t.Errorf("%q is parsed as %v", sent, got)
			}
			shown := codec.View{Zone: z}.Time(got).Format("2006-01-02T15:04:05.000-07:00")
			if _, offset := got.In(z).Zone(); offset%60 != 0 {
				continue // local mean time, before time zones
			}
			if again, ok := codec.ParseTime(shown, z); !ok || !again.Equal(got) {
				t.Errorf("%q is formatted as %s, which parses as %v (%v)", sent, shown, again, ok)
			}
		}
	})
}

func TestParseID(t *testing.T) {
	for sent, want := range map[string]int64{"0": 0, "7": 7, "0042": 42, "9223372036854775807": 1<<63 - 1, "9223372036854775808": 1<<63 - 1, "99999999999999999999999999": 1<<63 - 1} {
		if got, ok := codec.ParseID(sent); !ok || got != want {
			t.Errorf("%q is parsed as %d (%v), want %d", sent, got, ok, want)
		}
	}
	for _, sent := range []string{"", " ", "-1", "+1", "1.0", "1e3", "0x10", "1 ", "٣", "12a", "１", "\x00"} {
		if got, ok := codec.ParseID(sent); ok {
			t.Errorf("%q is parsed as %d", sent, got)
		}
	}
}

func TestValidEmail(t *testing.T) {
	for _, good := range []string{"a@b.co", "zoe.o'brien+recall@mail.example.com", "用户@例子.example", "x_y@sub.example.org"} {
		if !codec.ValidEmail(good) {
			t.Errorf("%q is refused", good)
		}
	}
	for _, bad := range []string{"", "a", "a@", "@b.co", "a@b", "a b@c.de", "a@b.co, c@d.ef", "Zoe <a@b.co>", "<a@b.co>", " a@b.co", "a@b.co ", "a@@b.co", "a@b..co", "a@.co", "a@b.", "a@b.co\n"} {
		if codec.ValidEmail(bad) {
			t.Errorf("%q is accepted", bad)
		}
	}
}
