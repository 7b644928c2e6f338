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
)

// Form is the response form of a row.
type Form[R any] struct {
	Columns string // as SQL
	Width   int    // the number of columns
	Take    func(*Reader, *R)
}

// Reader is the current row as Form.Take sees it.
type Reader struct {
	*rowscan.Scanner
	View codec.View
	Log  *audit.Log // notes each row of patient data
}

// Rows is a generated query, create or update, which gives columns of its rows.
type Rows interface {
	Rows(ctx context.Context, columns string) (*sql.Rows, error)
}

// All reads all rows of q, about size of them.
func All[R any](ctx context.Context, view codec.View, q Rows, form Form[R], size int) ([]R, error) {
	all := make([]R, 0, size)
	err := each(ctx, view, q, form.Columns, form.Width, func(x *Reader) {
		// append would copy an empty row, and rows are large. The one that Grow uncovers
		// is empty already.
		all = slices.Grow(all, 1)[:len(all)+1]
		form.Take(x, &all[len(all)-1])
	})
	return all, err
}

// One reads the only row of q, or gives apierror.NotFound.
func One[R any](ctx context.Context, view codec.View, q Rows, form Form[R]) (*R, error) {
	shown, err := All(ctx, view, q, form, 1)
	switch {
	case err != nil:
		return nil, err
	case len(shown) == 0:
		return nil, apierror.NotFound()
	}
	return &shown[0], nil
}

// OneWithParts is One for a query that joins the row with each row of a list that it
// shows, if there are any: take adds one.
func OneWithParts[R, P any](ctx context.Context, view codec.View, q Rows, form Form[R], part Form[P], add func(*R, P)) (*R, error) {
	var shown *R
	err := each(ctx, view, q, form.Columns+", "+part.Columns, form.Width+part.Width, func(x *Reader) {
		if shown == nil {
			shown = new(R)
			form.Take(x, shown)
		}
		x.Offset(form.Width, func() {
			if !x.Null(0) {
				var p P
				part.Take(x, &p)
				add(shown, p)
			}
		})
	})
	if err == nil && shown == nil {
		err = apierror.NotFound()
	}
	return shown, err
}

// AddParts reads the rows of q, which belong to those shown, and adds each one to its
// owner. Owner is the column of its id, which id reads.
func AddParts[ID comparable, R, P any](ctx context.Context, view codec.View, q Rows, form Form[P], owner string, id func(*Reader, int) ID, shown []R, add func(*R, ID, P) bool) error {
	type part struct {
		owner ID
		shown P
	}
	parts, err := All(ctx, view, q, Form[part]{form.Columns + ", " + owner, form.Width + 1, func(x *Reader, p *part) {
		form.Take(x, &p.shown)
		p.owner = id(x, form.Width)
	}}, len(shown))
	for _, p := range parts {
		for i := range shown {
			if add(&shown[i], p.owner, p.shown) {
				break
			}
		}
	}
	return err
}

// counted is All with the number of all rows in one more column, total, unless that is
// empty. The number is 0 if no row was read.
func counted[R any](ctx context.Context, view codec.View, q Rows, form Form[R], size int, total string) (all []R, n int, err error) {
	if total == "" {
		all, err = All(ctx, view, q, form, size)
		return all, 0, err
	}
	all, err = All(ctx, view, q, Form[R]{form.Columns + ", " + total, form.Width + 1, func(x *Reader, r *R) {
		form.Take(x, r)
		n = x.Int(form.Width)
	}}, size)
	return all, n, err
}

// each calls take for all rows of q, which have so many columns.
func each(ctx context.Context, view codec.View, q Rows, columns string, width int, take func(*Reader)) error {
	rows, err := q.Rows(ctx, columns)
	if err != nil {
		return err
	}
	x := &Reader{View: view, Log: audit.From(ctx)}
	return rowscan.ForEach(rows, width, func(r *rowscan.Scanner) {
		x.Scanner = r
		take(x)
	})
}

// Metadata is a JSON column of strings, without any where it is null.
func Metadata(x *Reader, column int) jx.Raw {
	if all := decoded[map[string]string](x, column); len(all) > 0 {
		return encoded(x, column, all)
	}
	return jx.Raw("{}")
}

// Object is a JSON column of any type. A database may print what it stores in its own
// way; json.Marshal makes both alike.
func Object[T any](x *Reader, column int) jx.Raw { return encoded(x, column, decoded[T](x, column)) }

// Strings is a JSON column that lists strings.
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
