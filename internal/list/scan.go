package list

import (
	"context"
	"encoding/json"
	"slices"

	"entgo.io/ent/dialect/sql"
	"github.com/go-faster/jx"

	"chairside/internal/apierror"
	"chairside/internal/audit"
	"chairside/internal/codec"
	"chairside/internal/entx/rowscan"
	"chairside/internal/seal"
)

// Form describes how the columns of a row become a response R.
type Form[R any] struct {
	Columns string            // SQL text
	Width   int               // number of columns
	Take    func(*Reader, *R) // reads the columns by position
}

// Reader is the current row, as Form.Take reads it.
type Reader struct {
	*rowscan.Scanner
	View codec.View
	Log  *audit.Log // of the patient records that the request reads
}

// Open opens a sealed column of the table's row whose id is in another column of the query. Null
// is "". A value that does not open fails the request.
func (x *Reader) Open(column int, table, name string, id int) string {
	if x.Null(column) {
		return ""
	}
	v, err := seal.Parse(x.Text(column))
	if err != nil {
		x.Fail(column, err)
		return ""
	}
	plain, err := x.View.Keys.Open(seal.Place{Practice: x.View.Practice, Table: table, Column: name, Row: x.ID(id)}, v)
	if err != nil {
		x.Fail(column, err)
	}
	return plain
}

// Rows is a generated query, create or update that returns columns of its rows.
type Rows interface {
	Rows(ctx context.Context, columns string) (*sql.Rows, error)
}

// All reads all rows of q; size is their expected number.
func All[R any](ctx context.Context, view codec.View, q Rows, form Form[R], size int) ([]R, error) {
	rows, err := q.Rows(ctx, form.Columns)
	if err != nil {
		return nil, err
	}
	all := make([]R, 0, size)
	x := &Reader{View: view, Log: audit.From(ctx)}
	err = rowscan.ForEach(rows, form.Width, func(current *rowscan.Scanner) {
		x.Scanner = current
		// append would copy an empty row, and rows are large. Grow adds one that is empty
		// already.
		all = slices.Grow(all, 1)[:len(all)+1]
		form.Take(x, &all[len(all)-1])
	})
	return all, err
}

// One reads the only row of q, or returns apierror.NotFound.
func One[R any](ctx context.Context, view codec.View, q Rows, form Form[R]) (*R, error) {
	found, err := All(ctx, view, q, form, 1)
	switch {
	case err != nil:
		return nil, err
	case len(found) == 0:
		return nil, apierror.NotFound()
	}
	return &found[0], nil
}

// OneWithParts is One for a query that joins a row to its parts. The query returns one row for
// each part, or a single row if there are no parts. add appends a part to the row.
func OneWithParts[R, P any](ctx context.Context, view codec.View, q Rows, form Form[R], part Form[P], add func(*R, P)) (*R, error) {
	var found *R
	joined := Form[struct{}]{form.Columns + ", " + part.Columns, form.Width + part.Width, func(x *Reader, _ *struct{}) {
		if found == nil {
			found = new(R)
			form.Take(x, found)
		}
		x.Offset(form.Width, func() {
			if !x.Null(0) {
				var p P
				part.Take(x, &p)
				add(found, p)
			}
		})
	}}
	_, err := All(ctx, view, q, joined, 1)
	if err == nil && found == nil {
		err = apierror.NotFound()
	}
	return found, err
}

// AddParts reads the parts of several rows with q and adds each to its owner. owner is
// the column of the owner's id, which id reads; add reports whether the row is the owner.
func AddParts[ID comparable, R, P any](ctx context.Context, view codec.View, q Rows, form Form[P], owner string, id func(*Reader, int) ID, rows []R, add func(*R, ID, P) bool) error {
	type owned struct {
		owner ID
		part  P
	}
	parts, err := All(ctx, view, q, Form[owned]{form.Columns + ", " + owner, form.Width + 1, func(x *Reader, p *owned) {
		form.Take(x, &p.part)
		p.owner = id(x, form.Width)
	}}, len(rows))
	for _, p := range parts {
		for i := range rows {
			if add(&rows[i], p.owner, p.part) {
				break
			}
		}
	}
	return err
}

// withTotal adds a column with the number of all rows to the form; each row that is read
// sets total. Without a column it changes nothing.
func (f Form[R]) withTotal(column string, total *int) Form[R] {
	if column == "" {
		return f
	}
	return Form[R]{f.Columns + ", " + column, f.Width + 1, func(x *Reader, r *R) {
		f.Take(x, r)
		*total = x.Int(f.Width)
	}}
}

// Metadata reads a JSON object of strings; null reads as one without keys.
func Metadata(x *Reader, column int) jx.Raw {
	if all := decoded[map[string]string](x, column); len(all) > 0 {
		return encoded(x, column, all)
	}
	return jx.Raw("{}")
}

// Object reads a JSON column of any type. json.Marshal prints it, because the two databases
// print JSON differently.
func Object[T any](x *Reader, column int) jx.Raw { return encoded(x, column, decoded[T](x, column)) }

// Strings reads a JSON array of strings.
func Strings(x *Reader, column int) []string { return decoded[[]string](x, column) }

func decoded[T any](x *Reader, column int) (v T) {
	x.JSON(column, &v)
	return v
}

func encoded(x *Reader, column int, v any) jx.Raw {
	text, err := json.Marshal(v)
	if err != nil {
		x.Fail(column, err)
	}
	return text
}
