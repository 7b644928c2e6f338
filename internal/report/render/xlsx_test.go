package render

import (
	"bytes"
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
	if got := book.GetSheetList(); len(got) != 3 || got[0] != "Summary" || got[1] != "Lines" || got[2] != "Second table" {
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
	check("Second table", "A2", "7", "7")
	check("Second table", "B2", "1,234", "1234")
	check("Second table", "A3", "", "") // no totals
}
