package render

import (
	"io"
	"slices"

	"github.com/go-faster/jx"

	"chairside/internal/report"
)

// writeJSON writes one object: the report's name and filter, the summary, and each table
// under its key as an array of objects.
func writeJSON(w io.Writer, a *report.Answer) error {
	o := &jsonText{}
	o.SetIdent(2)
	o.ObjStart()
	o.text("report", a.Name)
	o.text("practice", a.Practice)
	switch {
	case a.AsAt:
		o.text("as_at", a.Filter.To.String())
	case a.Filter.From.IsZero(): // no beginning
		o.member("from", report.Date, nil)
		o.text("to", a.Filter.To.String())
	default:
		o.text("from", a.Filter.From.String())
		o.text("to", a.Filter.To.String())
	}
	var site, practitioner any
	if id := a.Filter.SiteID; id != nil {
		site = id.String()
	}
	if id := a.Filter.PractitionerID; id != nil {
		practitioner = *id
	}
	o.member("site_id", report.Text, site)
	o.member("practitioner_id", report.ID, practitioner)
	o.text("currency", a.Locale.Currency)
	o.FieldStart("summary")
	o.object(len(a.Summary), func() {
		for _, f := range a.Summary {
			o.member(f.Key, f.Kind, f.Value)
		}
	})
	if a.Before != nil {
		o.FieldStart("before")
		o.before(a)
	}
	for i := 0; i < len(a.Sections); {
		table := continued(a.Sections[i:])
		o.FieldStart(table[0].Key)
		o.table(table)
		i += len(table)
	}
	o.ObjEnd()
	_, err := w.Write(append(o.Bytes(), '\n'))
	return err
}

// continued returns the first section with those that continue its table.
func continued(sections []report.Section) []report.Section {
	n := 1
	for n < len(sections) && sections[n].Key == sections[0].Key {
		n++
	}
	return sections[:n]
}

// jsonText is JSON with a line for each member and element. A report can have tens of thousands
// of rows; encoding/json would format and check each value several times.
type jsonText struct{ jx.Encoder }

// table writes the rows of a table.
func (o *jsonText) table(sections []report.Section) {
	rows := 0
	for i := range sections {
		rows += len(sections[i].Rows)
	}
	if rows == 0 {
		o.ArrEmpty()
		return
	}
	o.ArrStart()
	for i := range sections {
		for _, row := range sections[i].Rows {
			o.object(len(row), func() {
				for j, c := range sections[i].Columns {
					o.member(c.Key, c.Kind, row[j])
				}
			})
		}
	}
	o.ArrEnd()
}

// before writes the period before: its days, the day of the first appointment if that is later than its first day
// (or null), summary and totals.
func (o *jsonText) before(a *report.Answer) {
	o.ObjStart()
	o.text("from", a.Before.From.String())
	o.text("to", a.Before.To.String())
	if started := a.Before.Started; started.IsZero() {
		o.FieldStart("first_appointment_on")
		o.Null()
	} else {
		o.text("first_appointment_on", started.String())
	}
	o.FieldStart("summary")
	o.object(len(a.Summary), func() {
		for _, f := range a.Summary {
			o.member(f.Key, f.Kind, a.FigureBefore(f))
		}
	})
	totals := slices.DeleteFunc(slices.Clone(a.Sections), func(s report.Section) bool { return s.Total == nil })
	o.FieldStart("totals")
	o.object(len(totals), func() {
		for i := range totals {
			s := &totals[i]
			sums := numbers(s)
			o.FieldStart(s.Key)
			o.object(len(sums), func() {
				for _, column := range sums {
					o.member(s.Columns[column].Key, s.Columns[column].Kind, a.TotalBefore(s, column))
				}
			})
		}
	})
	o.ObjEnd()
}

// numbers returns the columns of a section that have a total.
func numbers(s *report.Section) (columns []int) {
	for i, v := range s.Total {
		if _, label := v.(string); v != nil && !label {
			columns = append(columns, i)
		}
	}
	return columns
}

// object writes an object with some members.
func (o *jsonText) object(members int, write func()) {
	if members == 0 {
		o.ObjEmpty()
		return
	}
	o.ObjStart()
	write()
	o.ObjEnd()
}

// text writes a member that is a string.
func (o *jsonText) text(key, value string) { o.member(key, report.Text, value) }

// member writes a member: integers as numbers, every other value as a string.
func (o *jsonText) member(key string, k report.Kind, value any) {
	o.FieldStart(key)
	switch v := value.(type) {
	case nil:
		o.Null()
	case int:
		o.Int(v)
	case int64:
		o.Int64(v)
	default:
		o.Str(k.Plain(v))
	}
}
