package render

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"chairside/internal/civil"
	"chairside/internal/decimal"
	"chairside/internal/report"
)

// TestWorkbook has every table, with values that a spreadsheet calculates with.
func TestWorkbook(t *testing.T) {
	t.Parallel()
	day := civil.MustParse("2026-04-09")
	a := sample([]any{"=1+2", decimal.Decimal(-1234567_05), 90, decimal.Decimal(33_33), day, day}, []any{"plain", nil, nil, nil, nil, nil})
	a.Sections = append(a.Sections, a.Sections[0], report.Section{
		Key: "second_table", Title: "Second", Columns: []report.Column{{Key: "id", Title: "ID", Kind: report.ID}, {Key: "n", Title: "Number", Kind: report.Count}},
		Rows: [][]any{{int64(7), 1234}}, Total: []any{"Total", 1234},
	})
	var file bytes.Buffer
	if err := Write(&file, a, XLSX, Options{}); err != nil {
		t.Fatal(err)
	}
	book, err := excelize.OpenReader(&file)
	if err != nil {
		t.Fatal(err)
	}
	if got := book.GetSheetList(); len(got) != 3 || got[0] != "Summary" || got[1] != "Lines" || got[2] != "Second" {
		t.Errorf("sheets %v", got)
	}
	check := func(sheet, at, shown, stored string) {
		t.Helper()
		if got, err := book.GetCellValue(sheet, at); err != nil || got != shown {
			t.Errorf("%s %s shows %q, want %q: %v", sheet, at, got, shown, err)
		}
		if got, err := book.GetCellValue(sheet, at, excelize.Options{RawCellValue: true}); err != nil || got != stored {
			t.Errorf("%s %s holds %q, want %q: %v", sheet, at, got, stored, err)
		}
		if formula, err := book.GetCellFormula(sheet, at); err != nil || formula != "" {
			t.Errorf("%s %s is a formula: %q, %v", sheet, at, formula, err)
		}
	}
	check("Summary", "A1", "Sample", "Sample")
	check("Summary", "A2", "Smile &  [31mCo", "Smile &  [31mCo")
	check("Summary", "B5", "-£1,234,567.05", "-1234567.05")
	check("Lines", "B1", "Money", "Money")
	check("Lines", "A2", "=1+2", "=1+2")
	check("Lines", "B2", "-£1,234,567.05", "-1234567.05")
	check("Lines", "C2", "1 h 30 min", "0.0625")
	check("Lines", "D2", "33.33%", "0.3333")
	check("Lines", "E2", "9 Apr 2026", "46121")
	check("Lines", "F2", "Apr 2026", "46121")
	check("Lines", "B3", "", "")
	check("Lines", "A4", "=1+2", "=1+2") // the section that continues the table
	check("Second", "A2", "7", "7")
	check("Second", "B2", "1,234", "1234")
	check("Second", "A3", "", "") // no totals
}

// TestSheetsHaveTheTitlesOfTables, as far as Excel allows it.
func TestSheetsHaveTheTitlesOfTables(t *testing.T) {
	t.Parallel()
	used := map[string]bool{"summary": true}
	for _, c := range []struct{ title, want string }{
		{"NHS and private", "NHS and private"}, {"nhs and private", "nhs and private (2)"}, {"Summary", "Summary (2)"},
		{"Paid/owed: [all]", "Paid owed   all"}, {"'Quoted'", "Quoted"}, {"Patients’ charges of the practice", "Patients’ charges of the practi"},
		{"Patients’ charges of the practitioners", "Patients’ charges of the pr (2)"},
	} {
		if got := sheetName(c.title, used); got != c.want {
			t.Errorf("%s: %q, want %q", c.title, got, c.want)
		}
	}
}

// TestWorkbookPrints checks that each sheet is as wide as the paper, that tables repeat their
// headings, and that definitions are lines of the summary, as high as their texts.
func TestWorkbookPrints(t *testing.T) {
	t.Parallel()
	a := sample([]any{"text", nil, nil, nil, nil, nil})
	long := strings.Repeat("what counts ", 30)
	a.Definitions = []report.Definition{{Term: "Short", Meaning: "A line."}, {Term: "Long", Meaning: long, Source: "the rules"}}
	var file bytes.Buffer
	if err := Write(&file, a, XLSX, Options{}); err != nil {
		t.Fatal(err)
	}
	book, err := excelize.OpenReader(&file)
	if err != nil {
		t.Fatal(err)
	}
	for _, sheet := range book.GetSheetList() {
		layout, err := book.GetPageLayout(sheet)
		props, other := book.GetSheetProps(sheet)
		if err != nil || other != nil {
			t.Fatal(err, other)
		}
		if *layout.Size != 9 || *layout.Orientation != "landscape" || *layout.FitToWidth != 1 || *layout.FitToHeight != 0 || !*props.FitToPage {
			t.Errorf("%s does not print on landscape A4, fitted to its width", sheet)
		}
		if f, err := book.GetHeaderFooter(sheet); err != nil || f.OddFooter != "&LSample: &A&RPage &P of &N" {
			t.Errorf("the foot of %s is %v, %v", sheet, f, err)
		}
	}
	if names := book.GetDefinedName(); len(names) == 0 || !slices.ContainsFunc(names, func(n excelize.DefinedName) bool {
		return n.Name == "_xlnm.Print_Titles" && n.RefersTo == "'Lines'!$1:$1" && n.Scope == "Lines"
	}) {
		t.Errorf("the names are %v, without the print titles of Lines", names)
	}
	rows, err := book.GetRows(summarySheet)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(rows, func(row []string) bool { return len(row) > 0 && row[0] == "Definitions" }) + 1
	if at == 0 || rows[at+1][1] != long+" Source: the rules" {
		t.Fatalf("the summary has no definitions: %q", rows)
	}
	short, _ := book.GetRowHeight(summarySheet, at+1)
	if high, err := book.GetRowHeight(summarySheet, at+2); err != nil || short != lineHeight || high < 4*lineHeight {
		t.Errorf("the definitions are %v and %v points high: %v", short, high, err)
	}
}
