package render

import (
	"encoding/csv"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"chairside/internal/report"
)

// Format is an output format.
type Format string

// The formats.
const (
	Table Format = "table" // for people: all sections, for a terminal
	CSV   Format = "csv"   // for a spreadsheet: one table, RFC 4180, one header row
	XLSX  Format = "xlsx"  // for Excel: a workbook with a summary and a sheet for each table
	JSON  Format = "json"  // for programs: one object with all sections
	HTML  Format = "html"  // a self-contained page, with charts
)

// Formats returns all formats, the default one first.
func Formats() []Format { return []Format{Table, CSV, XLSX, JSON, HTML} }

// Options are options of single formats.
type Options struct {
	Width int    // of Table: character columns of the terminal, 0 for no limit
	Table string // of CSV: the key of the table, "" for the first
}

// UnknownTableError means that an answer has no table with a key.
type UnknownTableError struct {
	Table string
	Known []string
}

// Error lists the tables.
func (e UnknownTableError) Error() string {
	return fmt.Sprintf("the report has no table %q: must be one of %s", e.Table, strings.Join(e.Known, ", "))
}

// Write writes the answer to w.
func Write(w io.Writer, a *report.Answer, format Format, options Options) error {
	switch format {
	case Table:
		return writeTable(w, a, options.Width)
	case CSV:
		return writeCSV(w, a, options.Table)
	case XLSX:
		return writeXLSX(w, a)
	case JSON:
		return writeJSON(w, a)
	case HTML:
		return writeHTML(w, a)
	}
	return fmt.Errorf("format must be one of table, csv, xlsx, json, html, not %q", format)
}

// sectionsOf returns the sections of a table, those of the first for "".
func sectionsOf(a *report.Answer, table string) (sections []report.Section, err error) {
	var known []string
	for _, s := range a.Sections {
		if table == "" {
			table = s.Key
		}
		if s.Key == table {
			sections = append(sections, s)
		}
		if !slices.Contains(known, s.Key) {
			known = append(known, s.Key)
		}
	}
	if sections == nil {
		return nil, UnknownTableError{table, known}
	}
	return sections, nil
}

// phoneNumber matches a telephone number with a country code, with which a spreadsheet cannot calculate.
var phoneNumber = regexp.MustCompile(`^\+[0-9][0-9 ()]*$`)

// writeCSV writes a table, without its totals: spreadsheets expect one table whose rows all
// mean the same. The header names the units. It puts an apostrophe before text that a
// spreadsheet would take for a formula, but not before telephone numbers.
func writeCSV(w io.Writer, a *report.Answer, table string) error {
	sections, err := sectionsOf(a, table)
	if err != nil {
		return err
	}
	out := csv.NewWriter(w)
	out.UseCRLF = true
	s := sections[0]
	record := make([]string, len(s.Columns))
	for i, c := range s.Columns {
		record[i] = c.Header(a.Locale)
	}
	if err := out.Write(record); err != nil {
		return err
	}
	for _, part := range sections {
		for _, row := range part.Rows {
			for i, c := range s.Columns {
				record[i] = c.Kind.Plain(row[i])
				if c.Kind == report.Text && strings.IndexAny(record[i], "=+-@\t\r") == 0 && !phoneNumber.MatchString(record[i]) {
					record[i] = "'" + record[i]
				}
			}
			if err := out.Write(record); err != nil {
				return err
			}
		}
	}
	out.Flush()
	return out.Error()
}
