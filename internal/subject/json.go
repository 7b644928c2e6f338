package subject

import (
	"io"
	"time"

	"github.com/go-faster/jx"

	"chairside/internal/entx/table"
)

// WriteJSON writes the file as one JSON object. Its records have the names of the tables and of
// their columns. Times are in the practice's zone; money is a string.
func (f *File) WriteJSON(to io.Writer) error {
	var e jx.Encoder
	e.SetIdent(2)
	e.Obj(func(e *jx.Encoder) {
		e.Field("practice", func(e *jx.Encoder) { e.Str(f.Practice.Name) })
		e.Field("patient_id", func(e *jx.Encoder) { e.Int64(f.Patient.ID) })
		e.Field("created_at", func(e *jx.Encoder) { e.Str(f.At.Format(time.RFC3339)) })
		e.Field("marketing_consent", func(e *jx.Encoder) {
			e.Arr(func(e *jx.Encoder) {
				for _, c := range f.Consent() {
					e.Obj(func(e *jx.Encoder) { encodeConsent(e, c) })
				}
			})
		})
		e.Field("records", func(e *jx.Encoder) {
			e.Obj(func(e *jx.Encoder) {
				for _, s := range f.Sections {
					e.Field(s.Table.Name, func(e *jx.Encoder) {
						e.Arr(func(e *jx.Encoder) {
							for _, row := range s.Rows {
								e.Obj(func(e *jx.Encoder) { encodeRow(e, s.Table, row) })
							}
						})
					})
				}
			})
		})
	})
	_, err := to.Write(append(e.Bytes(), '\n'))
	return err
}

// encodeRow encodes the columns of a row, and after a reference the name of its row.
func encodeRow(e *jx.Encoder, t *table.Table, row []Value) {
	for i, v := range row {
		c := &t.Columns[i]
		if c.Name == "practice_id" { // the same for all rows
			continue
		}
		e.FieldStart(c.Name)
		switch {
		case v.Null:
			e.Null()
		case c.Stored == table.Integer || c.Stored == table.Boolean || c.Stored == table.JSON:
			e.Raw([]byte(v.Text))
		default:
			e.Str(v.Text)
		}
		if v.Label != "" {
			e.FieldStart(labelName(c.Name))
			e.Str(v.Label)
		}
	}
}

// encodeConsent encodes a change of the consent to marketing.
func encodeConsent(e *jx.Encoder, c ConsentChange) {
	e.Field("at", func(e *jx.Encoder) { e.Str(c.At) })
	e.Field("user", func(e *jx.Encoder) { orNull(e, c.User != "", func() { e.Str(c.User) }) })
	e.Field("old", func(e *jx.Encoder) { orNull(e, c.Old != nil, func() { e.Int64(*c.Old) }) })
	e.Field("new", func(e *jx.Encoder) { e.Int64(c.New) })
}

// orNull encodes null, or what f does.
func orNull(e *jx.Encoder, ok bool, f func()) {
	if ok {
		f()
	} else {
		e.Null()
	}
}
