package importer

import (
	"slices"
	"strings"
	"testing"
	"time"

	"chairside/internal/civil"
)

func london(t testing.TB) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("Europe/London")
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

var today = civil.MustParse("2026-07-01")

func TestDates(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		formats, text, want string
		rule                yearRule
	}{
		{"", "2026-02-03", "2026-02-03", nearFuture},
		{"", "2026-02-03 00:00:00.000", "2026-02-03", nearFuture},
		{"", "2026-02-03T23:30:00-05:00", "2026-02-04", nearFuture}, // the practice's day
		{"", "03/02/2026", "is not a date", nearFuture},
		{"", "2026-02-30", "is not a date", nearFuture},
		{"DD/MM/YYYY", "03/02/2026", "2026-02-03", nearFuture},
		{"DD/MM/YYYY", "3/2/2026", "2026-02-03", nearFuture},
		{"DD/MM/YYYY", "03/02/2026 14:15", "2026-02-03", nearFuture},
		{"DD/MM/YYYY", "13/13/2026", "is not a date", nearFuture},
		{"DD/MM/YYYY;MM/DD/YYYY", "03/02/2026", "is ambiguous: it could be 2026-02-03 or 2026-03-02", nearFuture},
		{"DD/MM/YYYY;MM/DD/YYYY", "03/03/2026", "2026-03-03", nearFuture},
		{"DD/MM/YYYY;MM/DD/YYYY", "23/02/2026", "2026-02-23", nearFuture},
		{"DD.MM.YY", "05.06.70", "1970-06-05", nearFuture},
		{"DD.MM.YY", "05.06.30", "2030-06-05", nearFuture},
		{"DD.MM.YY", "05.06.30", "1930-06-05", notInFuture},
		{"D MMMM YYYY", "5 june 1970", "1970-06-05", notInFuture},
		{"DD-MMM-YY", "05-Jun-70", "1970-06-05", notInFuture},
		{"D-MMM-YY", "5-Sept-24", "2024-09-05", nearFuture},
		{"MMM D, YYYY", "Sept 5th, 2024", "2024-09-05", nearFuture},
		{"D MMM YYYY", "Thurs., 5th Sept. 2024", "2024-09-05", nearFuture},
		{"D MMMM YYYY", "Monday 1st August 2024", "2024-08-01", nearFuture},
		{"D MMMM YYYY", "22nd September 2024", "2024-09-22", nearFuture},
		{"DD/MM/YYYY", "tue 03/02/2026 2.15 pm", "2026-02-03", nearFuture},
		{"DD/MM/YYYY", "Montag 03/02/2026", "is not a date", nearFuture},
		{"YYYYMMDD", "19700605", "1970-06-05", notInFuture},
		{"YYYYMMDD", "1970605", "is not a date", notInFuture},
	} {
		var formats []string
		if test.formats != "" {
			formats = strings.Split(test.formats, ";")
		}
		c, err := newCalendar(formats, nil, london(t), today)
		if err != nil {
			t.Fatal(err)
		}
		got, message := c.date(test.text, test.rule)
		if message == "" {
			message = got.String()
		}
		if !strings.HasPrefix(message, test.want) {
			t.Errorf("%q as %q is %s, want %s", test.text, test.formats, message, test.want)
		}
	}
}

// A time is on the practice's day even if the file is in another time zone. A day without a
// time stays the same.
func TestDayOfTimeIsInPracticeZone(t *testing.T) {
	t.Parallel()
	chicago, err := time.LoadLocation("America/Chicago")
	if err != nil {
		t.Fatal(err)
	}
	for home, evening := range map[*time.Location]string{london(t): "2026-07-01", chicago: "2026-06-30"} {
		c, err := newCalendar([]string{"DD/MM/YYYY"}, []string{"unix"}, time.UTC, today)
		if err != nil {
			t.Fatal(err)
		}
		c.home = home
		for text, want := range map[string]string{
			"2026-06-30 23:00:00":  evening,
			"30/06/2026 23:00":     evening,
			"2026-06-30T23:00:00Z": evening,
			"1782860400":           evening,
			"2026-07-01 00:00:00":  "2026-07-01",
			"1782864000":           "2026-07-01",
			"01/07/2026":           "2026-07-01",
			"2026-07-01":           "2026-07-01",
		} {
			if got, message := c.date(text, nearFuture); got.String() != want {
				t.Errorf("%q is %s %s in %s, want %s", text, got, message, home, want)
			}
		}
	}
}

func TestTimes(t *testing.T) {
	t.Parallel()
	c, err := newCalendar([]string{"DD/MM/YYYY", "YYYYMMDD"}, []string{"DD/MM/YYYY@HH-mm", "unix"}, london(t), today)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"01/07/2026 09:30":                            "2026-07-01T08:30:00Z",
		"01/07/2026 9:30 pm":                          "2026-07-01T20:30:00Z",
		"01/07/2026 9:30PM":                           "2026-07-01T20:30:00Z",
		"01/07/2026 9.30 a.m.":                        "2026-07-01T08:30:00Z",
		"01/07/2026 12:00 AM":                         "2026-06-30T23:00:00Z",
		"01/12/2026 09:30:15":                         "2026-12-01T09:30:15Z",
		"01/07/2026@14-05":                            "2026-07-01T13:05:00Z",
		"2026-07-01 09:30":                            "2026-07-01T08:30:00Z",
		"2026-07-01T09:30:00+02:00":                   "2026-07-01T07:30:00Z",
		"2026-07-01T09:30:00Z":                        "2026-07-01T09:30:00Z",
		"01/07/2026":                                  "2026-06-30T23:00:00Z",
		"01/07/2026 00:00:00 30/12/1899 14:05:00":     "2026-07-01T13:05:00Z",
		"2026-07-01T00:00:00.000 1899-12-30T14:05:00": "2026-07-01T13:05:00Z",
		"01/07/2026 30/12/1899 14:05":                 "2026-07-01T13:05:00Z",
		"2026-07-01 00:00:00.000 1900-01-01 09:30:00": "2026-07-01T08:30:00Z",
		"2026-07-01 00:00:00.000 09:30:00.0000000":    "2026-07-01T08:30:00Z",
		"01/07/2026 00:00:00 9:30 pm":                 "2026-07-01T20:30:00Z",
		"01/07/2026 00:00 00:15":                      "2026-06-30T23:15:00Z",
		"01/07/2026 9h30":                             "2026-07-01T08:30:00Z",
		"01/07/2026 09:30 10:30":                      "",
		"2026-07-01T09:30 10:30":                      "",
		"2026-07-01 09:30:00 +0100":                   "2026-07-01T08:30:00Z",
		"2026-07-01 09:30:00 UTC":                     "2026-07-01T09:30:00Z",
		"2026-07-01 09:30:00+01":                      "2026-07-01T08:30:00Z",
		"2026-07-01 09:30 10:30":                      "",
		"2026-07-01 00:00 09:30":                      "2026-07-01T08:30:00Z",
		"01/07/2026 25:00":                            "",
		"1782894600":                                  "2026-07-01T08:30:00Z",
		"20260701":                                    "2026-06-30T23:00:00Z",
		"1782894600.500":                              "2026-07-01T08:30:00Z",
		"-86400":                                      "1969-12-31T00:00:00Z",
		"99999999999999":                              "",
		"1e9":                                         "",
		"noon":                                        "",
	} {
		got, message := c.time(text, dayOrTime)
		if message == "" != (want != "") || want != "" && got.Format(time.RFC3339) != want {
			t.Errorf("%q is %s %s, want %s", text, got, message, want)
		}
	}
}

// Every text that a layout parses has the shape of the layout.
func TestLayoutFitsWhatItParses(t *testing.T) {
	t.Parallel()
	c, err := newCalendar(
		[]string{"DD/MM/YYYY", "MM/DD/YY", "D MMMM YYYY", "DD-MMM-YY", "YYYYMMDD", "MMM D, YYYY"},
		[]string{"DD/MM/YYYY@HH-mm", "D MMM YYYY h:mm:ss a", "YYYYMMDDHHmmss"}, london(t), today)
	if err != nil {
		t.Fatal(err)
	}
	layouts := slices.Concat(c.dates, c.times)
	var texts []string
	for _, day := range []string{"2026-07-01T09:05:00Z", "1961-12-25T23:59:59.123Z", "2030-05-31T12:00:07Z"} {
		for _, l := range layouts {
			s := at(day).Format(l.pattern)
			texts = append(texts, s, strings.ToLower(s), s+".5", strings.Replace(s, "PM", ".25PM", 1), strings.ReplaceAll(s, " 0", " "))
		}
	}
	for _, s := range texts {
		s = tidyDate(s)
		for _, l := range layouts {
			if _, err := time.Parse(l.pattern, s); err == nil && !l.fits(shapeOf(s)) {
				t.Errorf("%q has the format %q, but another shape", s, l.pattern)
			}
		}
	}
}

func TestParseLayoutRefusesInvalidFormats(t *testing.T) {
	t.Parallel()
	for _, invalid := range []string{"", "DD/MM", "MM/YYYY", "DD/MM/YYYY DD", "TT.MM.YYYY?x", "%d/%m/%Y", "2006-01-02"} {
		if l, err := parseLayout(invalid); err == nil {
			t.Errorf("%q is accepted as %+v", invalid, l)
		}
	}
}

// Spreadsheets store dates as numbers of days and write those if a cell is not formatted as a
// date.
func TestExcelDates(t *testing.T) {
	t.Parallel()
	c, err := newCalendar([]string{"DD/MM/YYYY", "excel"}, nil, london(t), today)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"45123": "2023-07-16", "45123.0": "2023-07-16", "45123.99": "2023-07-16", "16/07/2023": "2023-07-16", "25569": "1970-01-01", "367": "1901-01-01",
		"0": "is not a date", "-3": "is not a date", "2958466": "is not a date", "19700605": "is not a date",
	} {
		got, message := c.date(text, nearFuture)
		if message == "" {
			message = got.String()
		}
		if !strings.HasPrefix(message, want) {
			t.Errorf("the day of %s is %s, want %s", text, message, want)
		}
	}
	for text, want := range map[string]string{
		"45123.395833333336": "2023-07-16T08:30:00Z", "45300.395833333": "2024-01-09T09:30:00Z", "45123": "is a day without a time", "45123.50": "2023-07-16T11:00:00Z",
	} {
		got, message := c.time(text, timeOnly)
		if message == "" {
			message = got.Format(time.RFC3339Nano)
		}
		if message != want {
			t.Errorf("the time of %s is %s, want %s", text, message, want)
		}
	}
	both, err := newCalendar(nil, []string{"unix", "excel"}, london(t), today)
	if err != nil {
		t.Fatal(err)
	}
	if got, message := both.time("1700000000", timeOnly); message != "" || got.Unix() != 1700000000 {
		t.Errorf("a Unix time, with excel allowed too, is %v %s", got, message)
	}
}
