package row

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"chairside/internal/civil"
	"chairside/internal/decimal"
)

// driver gives values as a driver does.
type driver []any

func (d driver) Scan(destinations ...any) error {
	for i, to := range destinations {
		if err := to.(*cell).Scan(d[i]); err != nil {
			return err
		}
	}
	return nil
}

var (
	someID   = uuid.MustParse("6f1f6f0c-3c3a-4a52-8f0e-0d3c5a9e7b11")
	someTime = time.Date(2026, 7, 1, 9, 15, 0, 0, time.UTC)
	someDay  = civil.MustParse("2026-07-01")
)

func TestColumns(t *testing.T) {
	t.Parallel()
	int64s := func(r *Row) any { return r.Int64(0) }
	texts := func(r *Row) any { return r.Text(0) }
	bools := func(r *Row) any { return r.Bool(0) }
	times := func(r *Row) any { return r.Time(0) }
	dates := func(r *Row) any { return r.Date(0) }
	uuids := func(r *Row) any { return r.UUID(0) }
	for _, c := range []struct {
		name  string
		given any
		read  func(*Row) any
		want  any // nil where it is refused
	}{
		{"number", int64(7), int64s, int64(7)},
		{"no number", nil, int64s, int64(0)},
		{"number as text", "7", int64s, nil},
		{"int", int64(7), func(r *Row) any { return r.Int(0) }, 7},
		{"decimal", int64(1250), func(r *Row) any { return r.Decimal(0) }, decimal.Decimal(1250)},
		{"text", "a", texts, "a"},
		{"text of bytes", []byte("a"), texts, "a"},
		{"no text", nil, texts, ""},
		{"text of a number", int64(7), texts, nil},
		{"bytes", []byte("a"), func(r *Row) any { return r.Bytes(0) }, []byte("a")},
		{"bytes of text", "a", func(r *Row) any { return r.Bytes(0) }, []byte("a")},
		{"no bytes", nil, func(r *Row) any { return r.Bytes(0) }, []byte(nil)},
		{"bytes of a time", someTime, func(r *Row) any { return r.Bytes(0) }, nil},
		{"boolean", true, bools, true},
		{"SQLite's boolean", int64(1), bools, true},
		{"SQLite's false", int64(0), bools, false},
		{"no boolean", nil, bools, false},
		{"boolean of text", "true", bools, nil},
		{"time", someTime, times, someTime},
		{"no time", nil, times, time.Time{}},
		{"time of text", "2026-07-01", times, nil},
		{"date", someTime, dates, someDay},
		{"SQLite's date", "2026-07-01", dates, someDay},
		{"no date", nil, dates, civil.Date{}},
		{"date of words", "soon", dates, nil},
		{"uuid", []byte(someID.String()), uuids, someID},
		{"uuid as text", someID.String(), uuids, someID},
		{"uuid as 16 bytes", someID[:], uuids, someID},
		{"no uuid", nil, uuids, uuid.Nil},
		{"uuid of words", "soon", uuids, nil},
		{"uuid of a number", int64(7), uuids, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := New(1)
			if err := r.Scan(driver{c.given}); err != nil {
				t.Fatal(err)
			}
			got := c.read(r)
			if refused := r.Err() != nil; refused != (c.want == nil) {
				t.Fatalf("the error is %v", r.Err())
			}
			if c.want != nil && !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %#v, want %#v", got, c.want)
			}
			if r.Null(0) != (c.given == nil) {
				t.Errorf("Null is %v", r.Null(0))
			}
		})
	}
}

// TestTheFirstErrorIsKept holds that a later row does not hide what went wrong.
func TestTheFirstErrorIsKept(t *testing.T) {
	t.Parallel()
	r := New(2)
	for _, values := range []driver{{"x", int64(1)}, {int64(2), int64(3)}} {
		if err := r.Scan(values); err != nil {
			t.Fatal(err)
		}
		r.Int64(0)
	}
	r.Fail(1, errors.New("later"))
	if err := r.Err(); err == nil || !strings.Contains(err.Error(), "column 0") {
		t.Errorf("the error is %v", err)
	}
}
