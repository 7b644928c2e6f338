package render

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/xuri/excelize/v2"

	"chairside/internal/civil"
	"chairside/internal/decimal"
	"chairside/internal/report"
)

// summarySheet is the first sheet: the heading, the figures and the definitions.
const summarySheet = "Summary"

// workbook is an answer as an Excel workbook.
type workbook struct {
	*excelize.File
	err    error
	styles map[report.Kind]int
	head   int // of headings
	body   int // of definitions
}

// cellFormats returns the number formats of Excel for the values of each kind. Excel shows the
// separators of its user's country.
func cellFormats(l report.Locale) map[report.Kind]string {
	money := "#,##0.00"
	if symbol := `"` + l.Symbol + `"`; l.SymbolLast {
		money += symbol
	} else if l.Symbol != "" {
		money = symbol + money
	}
	return map[report.Kind]string{
		report.Count: "#,##0", report.Money: money, report.Units: "#,##0.00", report.Percent: "0.00%", report.Minutes: `[h]" h "mm" min"`,
		report.Date: "d mmm yyyy", report.Month: "mmm yyyy", report.Clock: "hh:mm",
	}
}

// writeXLSX writes a workbook with the summary and a sheet for each table, without totals: a sheet
// is sorted and filtered as one table. Values are numbers, days and times of Excel. Texts are never
// formulas.
func writeXLSX(w io.Writer, a *report.Answer) error {
	b := workbook{File: excelize.NewFile(), styles: map[report.Kind]int{}}
	formats := cellFormats(a.Locale)
	for _, kind := range slices.Sorted(maps.Keys(formats)) { // the same answer gives the same bytes
		format := formats[kind]
		b.styles[kind] = b.style(&excelize.Style{CustomNumFmt: &format})
	}
	b.head = b.style(&excelize.Style{Font: &excelize.Font{Bold: true}})
	b.body = b.style(&excelize.Style{Alignment: &excelize.Alignment{WrapText: true, Vertical: "top"}})
	b.keep(b.SetSheetName(b.GetSheetName(0), summarySheet))
	b.summary(a)
	row, sheet, used := 0, "", map[string]bool{strings.ToLower(summarySheet): true}
	for i, s := range a.Sections {
		if i == 0 || a.Sections[i-1].Key != s.Key {
			row, sheet = 1, sheetName(s.Title, used)
			b.begin(sheet, &s)
			b.paper(sheet, a.Title)
			b.keep(b.SetDefinedName(&excelize.DefinedName{Name: "_xlnm.Print_Titles", RefersTo: "'" + strings.ReplaceAll(sheet, "'", "''") + "'!$1:$1", Scope: sheet}))
		}
		for _, values := range s.Rows {
			row++
			b.row(sheet, row, s.Columns, values)
		}
	}
	if b.err == nil {
		b.err = b.Write(w)
	}
	if err := b.Close(); b.err == nil {
		b.err = err
	}
	if b.err != nil {
		return fmt.Errorf("write the workbook: %w", b.err)
	}
	return nil
}

// keep keeps the first error.
func (b *workbook) keep(err error) {
	if b.err == nil {
		b.err = err
	}
}

func (b *workbook) style(s *excelize.Style) int {
	id, err := b.NewStyle(s)
	b.keep(err)
	return id
}

// summary fills the first sheet.
func (b *workbook) summary(a *report.Answer) {
	row := 0
	line := func(style int, texts ...string) {
		row++
		for i, text := range texts {
			b.text(summarySheet, i+1, row, report.Printable(text), style)
		}
	}
	line(b.head, a.Title)
	line(0, a.Practice)
	line(0, a.Scope())
	row++
	if a.Before != nil {
		line(b.head, "", "", "Period before", "Change")
		line(0, "", "", a.NameBefore())
	}
	for _, f := range a.Figures() {
		if a.Before == nil {
			line(0, f.Label, "", f.Note)
		} else {
			before := a.FigureBefore(f)
			line(0, f.Label, "", "", a.Locale.Change(f.Kind, f.Value, before), f.Note)
			b.cell(summarySheet, 3, row, f.Kind, before)
		}
		b.cell(summarySheet, 2, row, f.Kind, f.Value)
	}
	row++
	line(b.head, "Definitions")
	for _, d := range a.Definitions {
		meaning := d.Meaning
		if d.Source != "" {
			meaning += " Source: " + d.Source
		}
		line(b.body, d.Term, meaning)
		b.keep(b.MergeCell(summarySheet, fmt.Sprint("B", row), fmt.Sprint("E", row)))
		// Excel does not fit the height of merged cells to their text.
		b.keep(b.SetRowHeight(summarySheet, row, lineHeight*float64(1+utf8.RuneCountInString(meaning)/meaningWidth)))
	}
	b.keep(b.SetColWidth(summarySheet, "A", "A", 32))
	b.keep(b.SetColWidth(summarySheet, "B", "D", 16))
	b.keep(b.SetColWidth(summarySheet, "E", "E", 52))
	b.paper(summarySheet, a.Title)
}

// The room for a definition: characters in a line of the columns B to E, and points of a line.
const (
	meaningWidth = 95
	lineHeight   = 15
)

// paper makes a sheet print on A4, as wide as the paper, with its name and the page's number at
// the foot.
func (b *workbook) paper(sheet, title string) {
	const a4, asNeeded = 9, 0
	b.keep(b.SetPageLayout(sheet, &excelize.PageLayoutOptions{Size: new(a4), Orientation: new("landscape"), FitToWidth: new(1), FitToHeight: new(asNeeded)}))
	b.keep(b.SetSheetProps(sheet, &excelize.SheetPropsOptions{FitToPage: new(true)}))
	b.keep(b.SetHeaderFooter(sheet, &excelize.HeaderFooterOptions{OddFooter: "&L" + title + ": &A&RPage &P of &N"}))
}

// begin adds the sheet of a table, with its headings.
func (b *workbook) begin(name string, s *report.Section) {
	_, err := b.NewSheet(name)
	b.keep(err)
	for i, c := range s.Columns {
		b.text(name, i+1, 1, c.Title, b.head)
		letter, err := excelize.ColumnNumberToName(i + 1)
		b.keep(err)
		b.keep(b.SetColWidth(name, letter, letter, float64(max(12, utf8.RuneCountInString(c.Title)+3))))
	}
	b.keep(b.SetPanes(name, &excelize.Panes{Freeze: true, YSplit: 1, TopLeftCell: "A2", ActivePane: "bottomLeft"}))
	last, err := excelize.CoordinatesToCellName(max(len(s.Columns), 1), 1)
	b.keep(err)
	b.keep(b.AutoFilter(name, "A1:"+last, nil))
}

// longestSheetName is the most characters that Excel allows.
const longestSheetName = 31

// sheetName returns the name of a table's sheet, its title: "NHS and private". Characters that
// Excel forbids become spaces, long titles are cut, and a name that is used already, in whatever
// case, gets a number.
func sheetName(title string, used map[string]bool) string {
	clean := []rune(strings.Trim(strings.Map(func(r rune) rune {
		if strings.ContainsRune(`:\/?*[]`, r) {
			return ' '
		}
		return r
	}, report.Printable(title)), " '"))
	name := strings.TrimRight(string(clean[:min(len(clean), longestSheetName)]), " '")
	for n := 2; used[strings.ToLower(name)]; n++ {
		end := fmt.Sprintf(" (%d)", n)
		name = strings.TrimRight(string(clean[:min(len(clean), longestSheetName-len(end))]), " '") + end
	}
	used[strings.ToLower(name)] = true
	return name
}

func (b *workbook) row(sheet string, row int, columns []report.Column, values []any) {
	for i, c := range columns {
		b.cell(sheet, i+1, row, c.Kind, values[i])
	}
}

// cell writes a value. Decimals are written as their digits, so that none is rounded.
func (b *workbook) cell(sheet string, column, row int, kind report.Kind, value any) {
	if value == nil {
		return
	}
	at, err := excelize.CoordinatesToCellName(column, row)
	b.keep(err)
	switch v := value.(type) {
	case string:
		b.keep(b.SetCellStr(sheet, at, report.Printable(v)))
		return
	case civil.Date:
		b.keep(b.SetCellValue(sheet, at, v.Time()))
	case time.Time:
		b.keep(b.SetCellValue(sheet, at, time.Date(v.Year(), v.Month(), v.Day(), v.Hour(), v.Minute(), 0, 0, time.UTC))) // Excel has no zones
	case int:
		digits := strconv.Itoa(v)
		if kind == report.Minutes {
			digits = strconv.FormatFloat(float64(v)/(24*60), 'f', -1, 64) // days
		}
		b.keep(b.SetCellDefault(sheet, at, digits))
	default:
		digits := kind.Plain(v)
		if kind == report.Percent {
			digits = strconv.FormatFloat(float64(v.(decimal.Decimal))/100_00, 'f', -1, 64)
		}
		b.keep(b.SetCellDefault(sheet, at, digits))
	}
	if style, ok := b.styles[kind]; ok {
		b.keep(b.SetCellStyle(sheet, at, at, style))
	}
}

func (b *workbook) text(sheet string, column, row int, text string, style int) {
	at, err := excelize.CoordinatesToCellName(column, row)
	b.keep(err)
	b.keep(b.SetCellStr(sheet, at, text))
	if style != 0 {
		b.keep(b.SetCellStyle(sheet, at, at, style))
	}
}
