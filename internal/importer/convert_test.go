package importer

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"chairside/internal/civil"
	"chairside/internal/codec"
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
		forms, text, want string
		past              bool
	}{
		{"", "2026-02-03", "2026-02-03", false},
		{"", "2026-02-03 00:00:00.000", "2026-02-03", false},
		{"", "2026-02-03T23:30:00-05:00", "2026-02-04", false}, // the practice's day
		{"", "03/02/2026", "is not a date", false},
		{"", "2026-02-30", "is not a date", false},
		{"DD/MM/YYYY", "03/02/2026", "2026-02-03", false},
		{"DD/MM/YYYY", "3/2/2026", "2026-02-03", false},
		{"DD/MM/YYYY", "03/02/2026 14:15", "2026-02-03", false},
		{"DD/MM/YYYY", "13/13/2026", "is not a date", false},
		{"DD/MM/YYYY;MM/DD/YYYY", "03/02/2026", "is ambiguous: it could be 2026-02-03 or 2026-03-02", false},
		{"DD/MM/YYYY;MM/DD/YYYY", "03/03/2026", "2026-03-03", false},
		{"DD/MM/YYYY;MM/DD/YYYY", "23/02/2026", "2026-02-23", false},
		{"DD.MM.YY", "05.06.70", "1970-06-05", false},
		{"DD.MM.YY", "05.06.30", "2030-06-05", false},
		{"DD.MM.YY", "05.06.30", "1930-06-05", true},
		{"D MMMM YYYY", "5 june 1970", "1970-06-05", true},
		{"DD-MMM-YY", "05-Jun-70", "1970-06-05", true},
		{"D-MMM-YY", "5-Sept-24", "2024-09-05", false},
		{"MMM D, YYYY", "Sept 5th, 2024", "2024-09-05", false},
		{"D MMM YYYY", "Thurs., 5th Sept. 2024", "2024-09-05", false},
		{"D MMMM YYYY", "Monday 1st August 2024", "2024-08-01", false},
		{"D MMMM YYYY", "22nd September 2024", "2024-09-22", false},
		{"DD/MM/YYYY", "tue 03/02/2026 2.15 pm", "2026-02-03", false},
		{"DD/MM/YYYY", "Montag 03/02/2026", "is not a date", false},
		{"YYYYMMDD", "19700605", "1970-06-05", true},
		{"YYYYMMDD", "1970605", "is not a date", true},
	} {
		var forms []string
		if test.forms != "" {
			forms = strings.Split(test.forms, ";")
		}
		c, err := newCalendar(forms, nil, london(t), today)
		if err != nil {
			t.Fatal(err)
		}
		got, message := c.date(test.text, test.past)
		if message == "" {
			message = got.String()
		}
		if !strings.HasPrefix(message, test.want) {
			t.Errorf("%q as %q is %s, want %s", test.text, test.forms, message, test.want)
		}
	}
}

// The day of a time is the practice's, also where the file counts by another
// clock; a day alone keeps its own.
func TestDaysOfAnotherZone(t *testing.T) {
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
			if got, message := c.date(text, false); got.String() != want {
				t.Errorf("%q is %s %s in %s, want %s", text, got, message, home, want)
			}
		}
	}
}

func TestMoments(t *testing.T) {
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
		got, message := c.moment(text, false)
		if message == "" != (want != "") || want != "" && got.Format(time.RFC3339) != want {
			t.Errorf("%q is %s %s, want %s", text, got, message, want)
		}
	}
}

// No text that a form reads is left out for its shape.
func TestShapes(t *testing.T) {
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
		s = tidyTime(s)
		for _, l := range layouts {
			if _, err := time.Parse(l.pattern, s); err == nil && !l.couldRead(shapeOf(s)) {
				t.Errorf("%q is of the form %q, but has another shape", s, l.pattern)
			}
		}
	}
}

func TestForms(t *testing.T) {
	t.Parallel()
	for _, wrong := range []string{"", "DD/MM", "MM/YYYY", "DD/MM/YYYY DD", "TT.MM.YYYY?x", "%d/%m/%Y", "2006-01-02"} {
		if l, err := readLayout(wrong); err == nil {
			t.Errorf("%q is %+v", wrong, l)
		}
	}
}

func TestAmounts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, mark, want string }{
		{"12.50", "", "12.50"}, {"12.5", "", "12.5"}, {"12", "", "12"}, {"-3.00", "", "-3.00"}, {"3.00-", "", "-3.00"}, {"(3.00)", "", "-3.00"},
		{"£1,234.50", "", "1234.50"}, {"-£5", "", "-5"}, {"£-5", "", "-5"}, {"$ 7.00", "", "7.00"}, {"7,00 €", "", "7.00"}, {"1 234.50", "", "1234.50"},
		{"12.5000", "", "12.50"}, {".50", "", "0.50"}, {"1,234", "", "1234"}, {"1.234,50", ",", "1234.50"}, {"12,5", ",", "12.5"}, {"1.234", ",", "1234"},
		{"1\u202f234,50 €", ",", "1234.50"}, {"1\u00a0234,5", ",", "1234.5"}, {"1’234.50", "", "1234.50"}, {"12.50", ",", ""}, {"1,234.50", ",", ""},
		{"12,-", ",", "12"}, {"€ 1.250,-", ",", "1250"}, {"12,-- €", ",", "12"}, {"12,–", ",", "12"}, {"(12,-)", ",", "-12"}, {"-12,-", ",", "-12"}, {"12,-", "", "12"},
		{"12.-", "", "12"}, {"12.00-", "", "-12.00"}, {"12,00-", ",", "-12.00"}, {"12-", ",", "-12"}, {"\u221212.50", "", "-12.50"}, {"12,-5", ",", ""},
		{"£(3.00)", "", "-3.00"}, {"(£(3.00))", "", ""}, {"£ -", "", "0"}, {"-  €", ",", "0"}, {"-", "", ""}, {"–", "", ""}, {"£", "", ""},
		{"37.199999999999996", "", "37.20"}, {"-0.30000000000000004", "", "-0.30"}, {"99,99999999999999", ",", "100.00"}, {"1234.5650000000001", "", "1234.5650000000001"},
		{"12.345", "", "12.345"}, // refused by the API's reader
		{"1,23,4", "", ""}, {"abc", "", ""}, {"", "", ""}, {"1e5", "", ""}, {"--5", "", ""}, {"(5", "", ""},
	} {
		got, message := foreignAmount(test.text, test.mark)
		if got != test.want || (message == "") != (test.want != "") {
			t.Errorf("%q with %q is %q (%s), want %q", test.text, test.mark, got, message, test.want)
		}
	}
}

// Whole numbers are written like amounts.
func TestWholeNumbers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, mark, want string }{
		{"12", "", "12"}, {"12.00", "", "12"}, {"1,234", "", "1234"}, {"1.234", "", "1.234"}, {"12.5", "", "12.5"},
		{"12", ",", "12"}, {"12,00", ",", "12"}, {"1.000", ",", "1000"}, {"12.000,0", ",", "12000"}, {"1\u00a0234", ",", "1234"}, {"1,5", ",", "1,5"}, {"-3,0", ",", "-3"},
	} {
		read := translator{decimalMark: test.mark}
		if got, message := foreignValue(codec.Field{Kind: codec.Integer}, test.text, &read); got != test.want || message != "" {
			t.Errorf("%q with %q is %q (%s), want %q", test.text, test.mark, got, message, test.want)
		}
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	read, err := newTranslator(reading{}, nil, nil, time.UTC, today)
	if err != nil {
		t.Fatal(err)
	}
	titles := codec.Field{Kind: codec.Enum, Values: []string{"Mr", "Mrs", "Dr", "Master"}}
	for _, test := range []struct {
		field      codec.Field
		text, want string
	}{
		{titles, "MR.", "Mr"}, {titles, "mrs", "Mrs"}, {titles, "Doctor", "Dr"}, {titles, "mstr", "Master"}, {titles, "Herr", "Herr"},
		{codec.Field{Kind: codec.Boolean}, "Y", "true"}, {codec.Field{Kind: codec.Boolean}, "no", "false"}, {codec.Field{Kind: codec.Boolean}, "0", "false"}, {codec.Field{Kind: codec.Boolean}, "maybe", ""},
		{codec.Field{Kind: codec.Consent}, "Yes", "1"}, {codec.Field{Kind: codec.Consent}, "2", "2"},
		{codec.Field{Kind: codec.Gender}, "F", "female"}, {codec.Field{Kind: codec.Gender}, "Male", "male"}, {codec.Field{Kind: codec.Gender}, "U", ""},
		{codec.Field{Kind: codec.Country}, "uk", "GB"}, {codec.Field{Kind: codec.Country}, "ie", "ie"},
		{codec.Field{Kind: codec.Integer}, "30.0", "30"}, {codec.Field{Kind: codec.Integer}, "30.5", "30.5"}, {codec.Field{Kind: codec.Integer}, "1:30", "90"},
		{codec.Field{Kind: codec.Integer, Name: "start_minute"}, "540", "540"}, {codec.Field{Kind: codec.Integer, Name: "start_minute"}, "9:00", "540"},
		{codec.Field{Kind: codec.Integer, Name: "start_minute"}, "5:30 p.m.", "1050"}, {codec.Field{Kind: codec.Integer, Name: "start_minute"}, "9h00", "540"},
		{codec.Field{Kind: codec.Integer, Name: "start_minute"}, "1899-12-30 09:00:00", "540"}, {codec.Field{Kind: codec.Integer, Name: "finish_minute"}, "24:00", "1440"},
		{codec.Field{Kind: codec.Integer, Name: "weekday"}, "MONDAY", "1"}, {codec.Field{Kind: codec.Integer, Name: "weekday"}, "Sun.", "0"}, {codec.Field{Kind: codec.Integer, Name: "weekday"}, "6", "6"},
		{codec.Field{Kind: codec.Integer, Name: "start_minute"}, "0900", ""}, {codec.Field{Kind: codec.Integer, Name: "start_minute"}, "9.00", ""},
	} {
		got, message := foreignValue(test.field, test.text, &read)
		if got != test.want || (message == "") != (test.want != "") {
			t.Errorf("%s %q is %q (%s), want %q", test.field.Kind, test.text, got, message, test.want)
		}
	}
}

// readAll reads a file and shows each row: its line and cells, or what is wrong.
func readAll(t testing.TB, content string) (header []string, rows []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.csv")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := openSource(path, 0, 0)
	if err != nil {
		return nil, []string{err.Error()}
	}
	defer s.close()
	for {
		row, err := s.next()
		if errors.Is(err, io.EOF) {
			return s.header, rows
		}
		if err != nil {
			t.Fatal(err)
		}
		shown := string(rune('0'+row.line)) + ":" + strings.Join(row.cells, "|")
		if row.message != "" {
			shown = string(rune('0'+row.line)) + " " + row.message
		}
		rows = append(rows, shown)
	}
}

func TestSources(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		content, header, rows string
	}{
		"plain":              {"a,b\n1,2\n3,4\n", "a b", "2:1|2 3:3|4"},
		"no end":             {"a,b\r\n1,2", "a b", "2:1|2"},
		"mark and tabs":      {"\ufeffa\tb\r\n1\t2,3\r\n", "a b", "2:1|2,3"},
		"excel":              {"sep=;\na;b\n1;2\n", "a b", "3:1|2"},
		"pipes":              {"a|b\n1|2\n", "a b", "2:1|2"},
		"lines in quotes":    {"a,b\n\"1\n1\",2\n3,4\n", "a b", "2:1\n1|2 4:3|4"},
		"blank lines":        {"a,b\n\n1,2\n,\n  ,\n3,4\n\n", "a b", "3:1|2 6:3|4"},
		"too short":          {"a,b\n1\n3,4\n", "a b", "2 has 1 columns, the header has 2 3:3|4"},
		"separators after":   {"a,b\n1,2,,\n3,4,5\n", "a b", "2:1|2 3 has 3 columns, the header has 2"},
		"an inch":            {"a,b\n5\" nail,2\n3,4\n", "a b", "2:5\" nail|2 3:3|4"},
		"a quotation":        {"a,b\n\"x \"y\" z\",2\n3,4\n", "a b", "2 has a quotation mark in the wrong place, or one that is not closed 3:3|4"},
		"not closed":         {"a,b\n\n1,\"2\n3,4\n5,6\n", "a b", "3 has a quotation mark in the wrong place, or one that is not closed 4:3|4 5:5|6"},
		"spaces before":      {"a,b\n , \n\n1,\"2\n3,4\n", "a b", "4 has a quotation mark in the wrong place, or one that is not closed 5:3|4"},
		"not closed, big":    {"a,b\n1,\"2\n" + strings.Repeat("3,4\n", 3) + "5," + strings.Repeat("x", 2*maxRecord) + "\n7,8\n", "a b", ""},
		"empty":              {"", "", ""},
		"a header alone":     {"a,b\n", "a b", ""},
		"sixteen bits":       {"\xff\xfea\x00,\x00b\x00\n\x00\xe9\x00,\x002\x00\n\x00", "a b", "2:é|2"},
		"sixteen, turned":    {"\xfe\xff\x00a\x00;\x00b\x00\r\x00\n\x00\"\x001\x00\n\x001\x00\"\x00;\x20\xac\x00\n\x00\n\x003\x00;\x004", "a b", "2:1\n1|€ 5:3|4"},
		"returns":            {"\ufeffa;b\r1;\"2\r3\"\r\r4;5\r", "a b", "2:1|2\n3 5:4|5"},
		"sixteen, returns":   {"\xff\xfea\x00,\x00b\x00\r\x001\x00,\x002\x00", "a b", "2:1|2"},
		"sixteen, no end":    {"\xff\xfea\x00,\x00b\x00\n\x001\x00,\x00\"\x002\x00", "a b", "2 has a quotation mark in the wrong place, or one that is not closed"},
		"sixteen, no mark":   {"a\x00,\x00", "", "is UTF-16 without its mark; save it as UTF-8"},
		"commas in a header": {"\"a,x\";b\n1;2\n", "a,x b", "2:1|2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			header, rows := readAll(t, test.content)
			if strings.Join(header, " ") != test.header {
				t.Errorf("the header is %q", header)
			}
			if name == "not closed, big" {
				if n := len(rows); n != 6 || rows[1] != "3:3|4" || rows[5] != "7:7|8" {
					t.Errorf("%d rows", n)
				}
				return
			}
			if got := strings.Join(rows, " "); got != test.rows {
				t.Errorf("got  %q\nwant %q", got, test.rows)
			}
		})
	}
}

func TestEncodings(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		bytes, encoding, want string
		ok                    bool
	}{
		{"Jos\xe9", latin1, "José", true}, {"Jos\xe9", utf8Encoding, "Jos\ufffd", false}, {"Jos\xe9", mixed, "José", true},
		{"José", mixed, "José", true}, {"\x80 5", windows, "€ 5", true}, {"x\x81", windows, "x\ufffd", false},
	} {
		if got, ok := decodeText(test.bytes, test.encoding); got != test.want || ok != test.ok {
			t.Errorf("%q in %s is %q, %v", test.bytes, test.encoding, got, ok)
		}
	}
}

// Spreadsheets count days, and write them so where a cell has lost its form.
func TestDaysOfSpreadsheets(t *testing.T) {
	t.Parallel()
	c, err := newCalendar([]string{"DD/MM/YYYY", "excel"}, nil, london(t), today)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"45123": "2023-07-16", "45123.0": "2023-07-16", "45123.99": "2023-07-16", "16/07/2023": "2023-07-16", "25569": "1970-01-01", "367": "1901-01-01",
		"0": "is not a date", "-3": "is not a date", "2958466": "is not a date", "19700605": "is not a date",
	} {
		got, message := c.date(text, false)
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
		got, message := c.moment(text, true)
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
	if got, message := both.moment("1700000000", true); message != "" || got.Unix() != 1700000000 {
		t.Errorf("seconds beside days of spreadsheets are %v %s", got, message)
	}
}
