package list

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"entgo.io/ent/dialect/sql"
	"github.com/google/uuid"

	"chairside/internal/apierror"
	"chairside/internal/civil"
	"chairside/internal/codec"
)

// position is the place in a list after one of its rows. A cursor is its JSON in base64. It
// holds the value by which the row is sorted, so that it stays valid when the row changes or
// is deleted.
type position struct {
	Query string // hash of the list, its order and its filters
	Page  int    // number of the page that follows, for the meta
	Value string // by which the last row is sorted; "" in order of id
	ID    string // of the last row
}

func (p position) encode() (string, error) {
	text, err := json.Marshal([]any{p.Query, p.Page, p.Value, p.ID})
	return base64.RawURLEncoding.EncodeToString(text), err
}

// decodePosition returns the position of a cursor; ok is false for a cursor of another query.
func decodePosition(cursor, query string) (p position, ok bool) {
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return p, false
	}
	parts := []any{&p.Query, &p.Page, &p.Value, &p.ID}
	if err := json.Unmarshal(text, &parts); err != nil || len(parts) != 4 {
		return p, false
	}
	return p, p.Query == query && p.Page > 1 && p.Page < math.MaxInt32
}

// errCursor refuses a cursor that did not come from this list.
func errCursor() error {
	return apierror.InvalidParameter(apierror.Params{"cursor": {"is not a cursor of this list, order and filters"}})
}

// key is what a page by cursor is sorted by, apart from the id.
func (l *List[Q, P, O, R]) key(r Request[P]) (s Sort[O]) {
	for _, s := range l.Sorts {
		if s.Key == r.SortBy {
			return s
		}
	}
	return s
}

// fingerprint identifies the list, order and filters of a request.
func (l *List[Q, P, O, R]) fingerprint(r Request[P]) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%t\n%s", l.Table, r.SortBy, r.Descending, r.Query))
	return base64.RawURLEncoding.EncodeToString(sum[:9])
}

// after returns the condition for the rows after a position, or errCursor.
func (l *List[Q, P, O, R]) after(r Request[P], at position) (P, error) {
	key := l.key(r)
	id, ok := argument(at.ID, l.IDKind)
	value, valid := argument(at.Value, key.Kind)
	if !ok || !valid {
		return nil, errCursor()
	}
	op := sql.OpGT
	if r.Descending {
		op = sql.OpLT
	}
	return func(s *sql.Selector) {
		s.Where(sql.P(func(b *sql.Builder) {
			if key.SQL == "" {
				b.Ident(s.C("id")).WriteOp(op).Arg(id)
				return
			}
			b.WriteString("(" + key.SQL + ", ").Ident(s.C("id")).WriteByte(')').WriteOp(op).WriteByte('(').Arg(value).Comma().Arg(id).WriteByte(')')
		}))
	}, nil
}

// argument returns the argument of a statement for a value in a cursor; ok is false if it is
// not of its kind.
func argument(text string, kind codec.Kind) (value any, ok bool) {
	var err error
	switch kind {
	case "":
		return nil, text == ""
	case codec.ID, codec.Integer, codec.Decimal:
		value, err = strconv.ParseInt(text, 10, 64)
	case codec.Time:
		value, err = time.Parse(time.RFC3339Nano, text)
	case codec.Date:
		value, err = civil.Parse(text)
	case codec.UUID:
		value, err = uuid.Parse(text)
	default:
		return text, !strings.ContainsRune(text, 0)
	}
	return value, err == nil
}

// valueAt returns a column as text, for a cursor.
func valueAt(x *Reader, column int, kind codec.Kind) string {
	switch kind {
	case codec.ID, codec.Integer, codec.Decimal:
		return strconv.FormatInt(x.Int64(column), 10)
	case codec.Time:
		return x.Time(column).UTC().Format(time.RFC3339Nano)
	case codec.Date:
		return x.Date(column).String()
	case codec.UUID:
		return x.UUID(column).String()
	}
	return x.Text(column)
}

// readAfter reads the page that follows a cursor; all is the query for all pages. It reads one
// row more than the page has, to know whether there is a next page.
func (x *reading[Q, P, O, R]) readAfter(ctx context.Context, q, all Q) (rows []R, meta Meta, err error) {
	if x.WithPage {
		return nil, meta, apierror.InvalidParameter(apierror.Params{"page": {"cannot be combined with cursor"}})
	}
	here := position{Query: x.fingerprint(x.Request), Page: 1}
	if x.Cursor != "" {
		at, ok := decodePosition(x.Cursor, here.Query)
		if !ok {
			return nil, meta, errCursor()
		}
		after, err := x.after(x.Request, at)
		if err != nil {
			return nil, meta, err
		}
		q.Where(after)
		here.Page = at.Page
	}
	total, err := x.count(ctx, all)
	if err != nil {
		return nil, meta, err
	}
	wanted := Page{Number: 1, Size: x.Limit() + 1}
	order := x.Order(x.Request)
	q.Order(order...)
	if how, ok := choose(x.SortBy, x.Ordered, x.Filters); ok && total <= maxSortRows {
		q.Shape(filtered(how.column, x.column(x.Request), order, wanted))
	} else {
		q.Limit(wanted.Limit())
	}
	more := false
	rows, err = All(ctx, x.view, q, x.withPosition(&here, &more), wanted.Limit())
	if err != nil {
		return nil, meta, err
	}
	meta = Page{Number: here.Page, Size: x.Size}.Meta(total)
	meta.ByCursor = true
	if more {
		rows = rows[:x.Limit()]
		here.Page++
		next, err := here.encode()
		meta.Next = &next
		return rows, meta, err
	}
	return rows, meta, nil
}

// withPosition is the form of a page by cursor: it keeps the position of the last row, and sets
// more instead of reading the row after the page.
func (x *reading[Q, P, O, R]) withPosition(last *position, more *bool) Form[R] {
	key := x.key(x.Request)
	columns := x.Form.Columns + `, "` + x.Table + `"."id"`
	if key.SQL != "" {
		columns += ", " + key.SQL
	}
	width, read := x.Form.Width+1, 0
	if key.SQL != "" {
		width++
	}
	return Form[R]{columns, width, func(r *Reader, row *R) {
		if read++; read > x.Limit() {
			*more = true
			return
		}
		x.Form.Take(r, row)
		last.ID = valueAt(r, x.Form.Width, x.IDKind)
		if key.SQL != "" {
			last.Value = valueAt(r, x.Form.Width+1, key.Kind)
		}
	}}
}
