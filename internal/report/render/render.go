package render

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
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

// writeCSV writes a table, without its totals: spreadsheets expect one table whose rows all
// mean the same. The header names the units. It puts an apostrophe before text that a
// spreadsheet would take for a formula.
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
				if c.Kind == report.Text && strings.IndexAny(record[i], "=+-@\t\r") == 0 {
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

// writeJSON writes one object: the report's name and filter, the summary, and each section
// under its key as an array of objects.
func writeJSON(w io.Writer, a *report.Answer) error {
	o := object{{"report", a.Name}, {"practice", a.Practice}}
	if a.AsAt {
		o = append(o, member{"as_at", a.Filter.To})
	} else {
		var from any // null for no beginning
		if !a.Filter.From.IsZero() {
			from = a.Filter.From
		}
		o = append(o, member{"from", from}, member{"to", a.Filter.To})
	}
	o = append(o, member{"site_id", a.Filter.SiteID}, member{"practitioner_id", a.Filter.PractitionerID})
	summary := object{}
	for _, f := range a.Summary {
		summary = append(summary, member{f.Key, jsonValue(f.Kind, f.Value)})
	}
	o = append(o, member{"currency", a.Locale.Currency}, member{"summary", summary})
	if a.Before != nil {
		o = append(o, member{"before", beforeOf(a)})
	}
	for i, s := range a.Sections {
		rows := make([]object, 0, len(s.Rows))
		if i > 0 && a.Sections[i-1].Key == s.Key { // this section continues the table
			rows, o = o[len(o)-1].value.([]object), o[:len(o)-1]
		}
		for _, row := range s.Rows {
			line := make(object, len(row))
			for i, c := range s.Columns {
				line[i] = member{c.Key, jsonValue(c.Kind, row[i])}
			}
			rows = append(rows, line)
		}
		o = append(o, member{s.Key, rows})
	}
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	out.SetEscapeHTML(false)
	return out.Encode(o)
}

// beforeOf returns the period before: its days, summary and totals.
func beforeOf(a *report.Answer) object {
	summary, tables := object{}, object{}
	for _, f := range a.Summary {
		summary = append(summary, member{f.Key, jsonValue(f.Kind, a.FigureBefore(f))})
	}
	for i := range a.Sections {
		s := &a.Sections[i]
		line := object{}
		for i, v := range s.Total {
			if _, label := v.(string); v != nil && !label {
				line = append(line, member{s.Columns[i].Key, jsonValue(s.Columns[i].Kind, a.TotalBefore(s, i))})
			}
		}
		if s.Total != nil {
			tables = append(tables, member{s.Key, line})
		}
	}
	return object{{"from", a.Before.From}, {"to", a.Before.To}, {"summary", summary}, {"totals", tables}}
}

// jsonValue returns a value for encoding/json: integers stay numbers, everything else
// becomes a string.
func jsonValue(k report.Kind, v any) any {
	switch v.(type) {
	case nil, int, int64:
		return v
	}
	return k.Plain(v)
}

// object is a JSON object whose members keep their order.
type object []member

type member struct {
	key   string
	value any
}

// MarshalJSON writes the members in order.
func (o object) MarshalJSON() ([]byte, error) {
	text := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			text = append(text, ',')
		}
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		text = append(append(append(append(text, '"'), m.key...), '"', ':'), value...)
	}
	return append(text, '}'), nil
}
