package render

import (
	"encoding/json"
	"io"
	"strconv"
	"unicode/utf8"

	"chairside/internal/report"
)

// writeJSON writes one object: the report's name and filter, the summary, and each section
// under its key as an array of objects.
func writeJSON(w io.Writer, a *report.Answer) error {
	o := &jsonText{}
	o.open('{')
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
	o.object("summary", func() {
		for _, f := range a.Summary {
			o.member(f.Key, f.Kind, f.Value)
		}
	})
	if a.Before != nil {
		o.object("before", func() { o.before(a) })
	}
	for i := range a.Sections {
		s := &a.Sections[i]
		if i == 0 || a.Sections[i-1].Key != s.Key { // or this section continues the table
			o.key(s.Key)
			o.open('[')
		}
		for _, row := range s.Rows {
			o.next()
			o.open('{')
			for i, c := range s.Columns {
				o.member(c.Key, c.Kind, row[i])
			}
			o.close('}')
		}
		if i == len(a.Sections)-1 || a.Sections[i+1].Key != s.Key {
			o.close(']')
		}
	}
	o.close('}')
	_, err := w.Write(append(o.b, '\n'))
	return err
}

// before writes the members of the period before: its days, summary and totals.
func (o *jsonText) before(a *report.Answer) {
	o.text("from", a.Before.From.String())
	o.text("to", a.Before.To.String())
	o.object("summary", func() {
		for _, f := range a.Summary {
			o.member(f.Key, f.Kind, a.FigureBefore(f))
		}
	})
	o.object("totals", func() {
		for i := range a.Sections {
			s := &a.Sections[i]
			if s.Total == nil {
				continue
			}
			o.object(s.Key, func() {
				for i, v := range s.Total {
					if _, label := v.(string); v != nil && !label {
						o.member(s.Columns[i].Key, s.Columns[i].Kind, a.TotalBefore(s, i))
					}
				}
			})
		}
	})
}

// jsonText is JSON with a line for each member and element. A report can have tens of thousands
// of rows; encoding/json would format and check each value several times.
type jsonText struct {
	b     []byte
	depth int
	empty bool // the object or array has no member or element yet
}

// open begins an object or array.
func (o *jsonText) open(bracket byte) {
	o.b, o.empty = append(o.b, bracket), true
	o.depth++
}

// close ends an object or array.
func (o *jsonText) close(bracket byte) {
	o.depth--
	if !o.empty {
		o.line()
	}
	o.b, o.empty = append(o.b, bracket), false
}

// next begins an element or member.
func (o *jsonText) next() {
	if !o.empty {
		o.b = append(o.b, ',')
	}
	o.empty = false
	o.line()
}

// line begins a line.
func (o *jsonText) line() {
	o.b = append(o.b, '\n')
	for range o.depth {
		o.b = append(o.b, ' ', ' ')
	}
}

// key begins a member.
func (o *jsonText) key(key string) {
	o.next()
	o.b = append(appendString(o.b, key), ':', ' ')
}

// object writes a member that is an object.
func (o *jsonText) object(key string, members func()) {
	o.key(key)
	o.open('{')
	members()
	o.close('}')
}

// text writes a member that is a string.
func (o *jsonText) text(key, value string) { o.member(key, report.Text, value) }

// member writes a member: integers as numbers, every other value as a string.
func (o *jsonText) member(key string, k report.Kind, value any) {
	o.key(key)
	switch v := value.(type) {
	case nil:
		o.b = append(o.b, "null"...)
	case int:
		o.b = strconv.AppendInt(o.b, int64(v), 10)
	case int64:
		o.b = strconv.AppendInt(o.b, v, 10)
	default:
		o.b = appendString(o.b, k.Plain(v))
	}
}

// appendString appends a JSON string.
func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			quoted, _ := json.Marshal(s) // cannot fail
			return append(b, quoted...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}
