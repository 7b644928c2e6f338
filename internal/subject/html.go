package subject

import (
	_ "embed"
	"encoding/json"
	"html/template"
	"io"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/currency"
	"golang.org/x/text/language"

	"chairside/internal/civil"
	"chairside/internal/codec"
	"chairside/internal/entx/table"
)

//go:embed subject.html
var markup string

var page = template.Must(template.New("").Funcs(template.FuncMap{"when": func(t time.Time) string { return t.Format(timeLayout) }}).Parse(markup))

const (
	dayLayout  = "2 January 2006"
	timeLayout = "2 January 2006, 15:04"
)

// WriteHTML writes the file as a page without scripts, to read and to print.
func (f *File) WriteHTML(to io.Writer) error { return page.Execute(to, f) }

// Title returns the name of the section: "Treatment plans".
func (s Section) Title() string { return table.Title(s.Table.Name) }

// Empty returns the sections without rows.
func (f *File) Empty() (all []Section) {
	for _, s := range f.Sections {
		if len(s.Rows) == 0 {
			all = append(all, s)
		}
	}
	return all
}

// Name returns the patient's name.
func (f *File) Name() string {
	return strings.TrimSpace(f.Patient.FirstName + " " + f.Patient.LastName)
}

// entry is a line of a record on the page.
type entry struct{ Name, Text string }

// Entries returns what the page shows of a row: no empty values, no columns that only repeat
// others, not whose the row is, and names in place of references.
func (f *File) Entries(s Section, row []Value) (all []entry) {
	for i, v := range row {
		c := &s.Table.Columns[i]
		if v.Null || v.Text == "" || c.Stored == table.Bytes || c.Name == "practice_id" || c.References == "patients" || repeats(c) {
			continue
		}
		e := entry{table.Title(c.Name), v.Text}
		switch own := map[string]*string{"custom_field_1": f.Practice.CustomPatientFieldLabel1, "custom_field_2": f.Practice.CustomPatientFieldLabel2}[c.Name]; {
		case own != nil && *own != "":
			e.Name = *own
		case v.Label != "":
			e.Name, e.Text = table.Title(labelName(c.Name)), v.Label
		case c.Stored == table.JSON:
			if e.Text = list(v.Text); e.Text == "" {
				continue
			}
		case c.Kind == codec.Gender:
			e.Text = map[string]string{"true": "Male", "false": "Female"}[v.Text]
		case c.Kind == codec.Consent && (v.Text == "0" || v.Text == "1"):
			e.Text = map[string]string{"1": "Yes", "0": "No"}[v.Text]
		case c.Stored == table.Boolean:
			e.Text = map[string]string{"true": "Yes", "false": "No"}[v.Text]
		case c.Stored == table.Date:
			if day, err := civil.Parse(v.Text); err == nil {
				e.Text = day.Time().Format(dayLayout)
			}
		case c.Stored == table.Time:
			if at, err := time.Parse(time.RFC3339Nano, v.Text); err == nil {
				e.Text = at.Format(timeLayout)
			}
		}
		all = append(all, e)
	}
	return all
}

// When returns the time of the change.
func (c ConsentChange) When() string {
	at, err := time.Parse(time.RFC3339Nano, c.At)
	if err != nil {
		return c.At
	}
	return at.Format(timeLayout)
}

// Text describes the change: "No to Yes, by Rose Ray".
func (c ConsentChange) Text() string {
	text := consentWord(c.New)
	if c.Old != nil {
		text = consentWord(*c.Old) + " to " + text
	}
	if c.User != "" {
		text += ", by " + c.User
	}
	return text
}

// consentWord returns a value of the consent as a word.
func consentWord(v int64) string {
	switch v {
	case 0:
		return "No"
	case 1:
		return "Yes"
	}
	return strconv.FormatInt(v, 10)
}

// list returns a JSON list of strings as "a, b", "" for an empty list or object, and other JSON as it is.
func list(text string) string {
	var items []string
	switch err := json.Unmarshal([]byte(text), &items); {
	case text == "{}":
		return ""
	case err != nil:
		return text
	}
	return strings.Join(items, ", ")
}

// Currency returns the currency of the practice's country, such as GBP, or "".
func (f *File) Currency() string {
	region, err := language.ParseRegion(f.Practice.Country)
	if err != nil {
		return ""
	}
	if unit, ok := currency.FromRegion(region); ok {
		return unit.String()
	}
	return ""
}

// repeats reports whether a column only has another one's value in the form that searches compare.
func repeats(c *table.Column) bool {
	return c.ReadOnly && (c.Name == "search_text" || c.Name == "nhs_number_hash" || strings.HasSuffix(c.Name, "_folded") || strings.HasSuffix(c.Name, "_normalized"))
}

// labelName returns the name for the label of a reference: practitioner_id → practitioner.
func labelName(column string) string { return strings.TrimSuffix(column, "_id") }
