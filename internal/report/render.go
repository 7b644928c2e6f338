package report

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// Format is a form in which an answer is written.
type Format string

// The formats.
const (
	// AsTable is for the eye: all sections, for a terminal.
	AsTable Format = "table"
	// AsCSV is for a spreadsheet: the first section, RFC 4180, one header row.
	AsCSV Format = "csv"
	// AsJSON is for programs: one object with all sections.
	AsJSON Format = "json"
	// AsHTML is a page that needs nothing beside itself, with charts.
	AsHTML Format = "html"
)

// Formats are all of them, the default one first.
func Formats() []Format { return []Format{AsTable, AsCSV, AsJSON, AsHTML} }

// Write writes the answer. width is that of the terminal in columns, 0 for any;
// only AsTable heeds it.
func (a *Answer) Write(w io.Writer, format Format, width int) error {
	switch format {
	case AsTable:
		return a.writeTable(w, width)
	case AsCSV:
		return a.writeCSV(w)
	case AsJSON:
		return a.writeJSON(w)
	case AsHTML:
		return a.writeHTML(w)
	}
	return fmt.Errorf("report: there is no format %q", format)
}

// writeCSV writes the first section: a spreadsheet takes one table, whose rows
// are all alike, so without the sum. Text that a spreadsheet would take for a
// formula has an apostrophe before it.
func (a *Answer) writeCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	out.UseCRLF = true
	s := a.Sections[0]
	record := make([]string, len(s.Columns))
	for i, c := range s.Columns {
		record[i] = c.Key
	}
	if err := out.Write(record); err != nil {
		return err
	}
	for _, part := range a.Sections {
		if part.Key != s.Key {
			break
		}
		for _, row := range part.Rows {
			for i, c := range s.Columns {
				record[i] = c.Kind.plain(row[i])
				if c.Kind == Text && strings.IndexAny(record[i], "=+-@\t\r") == 0 {
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

// writeJSON writes one object: what the report is about, the summary, and each
// section under its key, as an array of objects.
func (a *Answer) writeJSON(w io.Writer) error {
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
		summary = append(summary, member{f.Key, f.Kind.json(f.Value)})
	}
	o = append(o, member{"summary", summary})
	for i, s := range a.Sections {
		rows := make([]object, 0, len(s.Rows))
		if i > 0 && a.Sections[i-1].Key == s.Key { // the same table goes on
			rows, o = o[len(o)-1].value.([]object), o[:len(o)-1]
		}
		for _, row := range s.Rows {
			line := make(object, len(row))
			for i, c := range s.Columns {
				line[i] = member{c.Key, c.Kind.json(row[i])}
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
