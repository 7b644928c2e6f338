package render

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/text"

	"chairside/internal/civil"
	"chairside/internal/decimal"
	"chairside/internal/report"
)

// sample is an answer with text that needs escaping in every format.
func sample(rows ...[]any) *report.Answer {
	r := &report.Report{Name: "sample", Title: "Sample", Definitions: []report.Definition{{Term: "Counted", Meaning: "<all> & everything."}}}
	return &report.Answer{
		Report: r, Locale: report.LocaleOf("GB"), Practice: "Smile & \x1b[31mCo", Filter: report.Filter{From: civil.MustParse("2026-04-01"), To: civil.MustParse("2026-04-30")},
		Result: &report.Result{
			Summary: []report.Figure{{Key: "sum", Label: "Sum", Kind: report.Money, Value: decimal.Decimal(-1234567_05), Note: "a <note>"}},
			Sections: []report.Section{{
				Key: "lines", Title: "Lines", Empty: "There is nothing: do something.",
				Columns: []report.Column{
					{Key: "name", Title: "Name of the thing"}, {Key: "money", Title: "Money", Kind: report.Money}, {Key: "minutes", Title: "Time", Kind: report.Minutes},
					{Key: "share", Title: "Share", Kind: report.Percent}, {Key: "on", Title: "On", Kind: report.Date}, {Key: "month", Title: "Month", Kind: report.Month, Minor: true},
				},
				Rows: rows,
			}},
		},
	}
}

func TestCSVIsSafeInASpreadsheet(t *testing.T) {
	t.Parallel()
	day := civil.MustParse("2026-04-09")
	names := []string{"=1+2", "+1-2", "-x", "@cmd", "\tx", "plain", "+44 (0)20 7946 0000", "a \"quoted\", one", "two\nlines"}
	var rows [][]any
	for _, n := range names {
		rows = append(rows, []any{n, decimal.Decimal(-12_50), 90, decimal.Decimal(33_33), day, day})
	}
	var b strings.Builder
	if err := Write(&b, sample(rows...), CSV, Options{}); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(b.String(), "name,money_gbp,minutes,share_percent,on,month\r\n") {
		t.Errorf("it starts with %.60q", b.String())
	}
	records, err := csv.NewReader(strings.NewReader(b.String())).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range names {
		want := n
		if i < 5 {
			want = "'" + n
		}
		if got := records[i+1]; got[0] != want || got[1] != "-12.50" || got[2] != "90" || got[3] != "33.33" || got[4] != "2026-04-09" || got[5] != "2026-04" {
			t.Errorf("%q: got %q", n, got)
		}
	}
}

func TestJSONIsTyped(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	day := civil.MustParse("2026-04-09")
	if err := Write(&b, sample([]any{"<a>", decimal.Decimal(5), 90, nil, day, day}), JSON, Options{}); err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(b.String()), &got); err != nil {
		t.Fatal(err)
	}
	want := `map[currency:GBP from:2026-04-01 lines:[map[minutes:90 money:0.05 month:2026-04 name:<a> on:2026-04-09 share:<nil>]] ` +
		`practice:Smile & ` + "\x1b" + `[31mCo practitioner_id:<nil> report:sample site_id:<nil> summary:map[sum:-1234567.05] to:2026-04-30]`
	if fmt.Sprint(got) != want {
		t.Errorf("got  %v\nwant %s", got, want)
	}
}

// TestJSONIsIndented: the text is as json.Indent writes it, empty tables and any text included.
func TestJSONIsIndented(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "plain", "Zoë \u2028 Ł", "a<b>&\"c\"\\d\t\x7f"} {
		var b strings.Builder
		a := sample([]any{name, nil, nil, nil, nil, nil}, []any{nil, nil, nil, nil, nil, nil})
		a.Before = &report.Before{From: a.Filter.From, To: a.Filter.To, Started: a.Filter.To, Result: a.Result}
		if err := Write(&b, a, JSON, Options{}); err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf(`"first_appointment_on": "%v"`, a.Filter.To); !strings.Contains(b.String(), want) {
			t.Errorf("%s is missing: %s", want, b.String())
		}
		var lines bytes.Buffer
		if err := json.Indent(&lines, []byte(b.String()), "", "  "); err != nil {
			t.Fatal(err)
		}
		if b.String() != lines.String() {
			t.Errorf("%q: got %s, want %s", name, b.String(), lines.String())
		}
		var read struct{ Lines []struct{ Name string } }
		if err := json.Unmarshal([]byte(b.String()), &read); err != nil || len(read.Lines) == 0 || read.Lines[0].Name != name {
			t.Errorf("%q became %+v: %v", name, read, err)
		}
	}
}

func TestEmptySectionsSaySo(t *testing.T) {
	t.Parallel()
	for format, want := range map[Format]string{Table: "There is nothing: do something.", HTML: "There is nothing: do something.", JSON: `"lines": []`, CSV: "name,"} {
		var b strings.Builder
		if err := Write(&b, sample(), format, Options{Width: 80}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s lacks %q:\n%s", format, want, b.String())
		}
	}
}

func TestTablesFitTheTerminal(t *testing.T) {
	t.Parallel()
	day := civil.MustParse("2026-04-09")
	row := []any{strings.Repeat("long name ", 12), decimal.Decimal(1234567_89), 12345, decimal.Decimal(100_00), day, day}
	for _, width := range []int{200, 100, 80, 60, 40} {
		var b strings.Builder
		if err := Write(&b, sample(row), Table, Options{Width: width}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			line = strings.TrimSuffix(line, "\n")
			if text.StringWidth(line) > width || strings.HasSuffix(line, " ") {
				t.Errorf("at %d: %q", width, line)
			}
			if strings.ContainsRune(line, '\x1b') {
				t.Errorf("a control character reaches the terminal: %q", line)
			}
		}
	}
}

func TestFitHidesLeastImportantColumns(t *testing.T) {
	t.Parallel()
	columns := []drawn{
		{Column: report.Column{Title: "a", Spare: true}, minWidth: 7}, {Column: report.Column{Title: "b", Minor: true}, minWidth: 7},
		{Column: report.Column{Title: "c", Spare: true}, minWidth: 7}, {Column: report.Column{Title: "d"}, minWidth: 7}, {Column: report.Column{Title: "e"}, minWidth: 7},
	}
	for width, want := range map[int]string{51: "", 50: "b", 40: "b c", 30: "b c a", 1: "b c a"} {
		if _, hidden := fit(slices.Clone(columns), width); strings.Join(hidden, " ") != want {
			t.Errorf("at %d: %v are hidden, want %s", width, hidden, want)
		}
	}
}

func TestGroupedRowsHaveHeadings(t *testing.T) {
	t.Parallel()
	a := sample()
	a.Sections[0] = report.Section{
		Columns: []report.Column{{Title: "Who", Group: true}, {Title: "Where"}, {Title: "Time", Kind: report.Minutes}},
		Rows:    [][]any{{"Ann", "Here", 60}, {"Ann", "There", 30}, {"Bob", "Here", 15}, {"", "There", 0}},
		Total:   []any{"All", nil, 105},
	}
	whole, err := Fragment(a, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	body := string(whole)
	if n := strings.Count(body, "<tbody>"); n != 3 {
		t.Errorf("%d bodies for three groups", n)
	}
	for _, want := range []string{`<span>Ann</span>`, `<span>Bob</span>`, `<span>–</span>`, `<tr><td class="text">All</td><td class="number">1 h 45 min</td></tr>`} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in\n%s", want, body)
		}
	}
}

func TestHTMLIsEscaped(t *testing.T) {
	t.Parallel()
	day := civil.MustParse("2026-04-09")
	a := sample([]any{"<script>alert(1)</script>", decimal.Decimal(5), 90, nil, day, day})
	a.Sections[0].Chart = &report.Chart{Form: report.HorizontalBars, Title: `A "chart" & $1`, Kind: report.Money, Labels: []string{"<script>alert(1)</script>"}, Series: []report.Series{{Name: "<b>", Values: []int64{5}}}}
	whole, err := Fragment(a, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"<script", "<b>", " style=", "<note>", "<all>"} {
		if strings.Contains(string(whole), bad) {
			t.Errorf("the page holds %s", bad)
		}
	}
	if !strings.Contains(string(whole), `role="img" aria-label="A &#34;chart&#34; &amp; $1.`) {
		t.Error("the chart has no name")
	}
}

func TestShapeClasses(t *testing.T) {
	t.Parallel()
	for v, want := range map[any]string{
		"": " word", "UDA": " word", "Adam Jones": "", 12: "", "abigail.butterworth@example.org": " unbroken long", "a name of " + strings.Repeat("Ж", 31): " unbroken long",
		strings.Repeat("Ж", 30): " word", "The NHS refused the claim, see comment.": " long",
	} {
		if got := shape(v); got != want {
			t.Errorf("%v: got %q, want %q", v, got, want)
		}
	}
}
