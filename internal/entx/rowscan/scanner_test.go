package rowscan

import (
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"chairside/internal/civil"
	"chairside/internal/decimal"
)

// result returns rows as a driver does.
type result struct {
	rows   [][]driver.Value
	failed error // of Err
	closed bool
}

func (r *result) Next() bool   { return len(r.rows) > 0 }
func (r *result) Err() error   { return r.failed }
func (r *result) Close() error { r.closed = true; return nil }

func (r *result) Scan(destinations ...any) error {
	values := r.rows[0]
	r.rows = r.rows[1:]
	return destinations[0].(*Scanner).Scan(&values)
}

var (
	someID   = uuid.MustParse("6f1f6f0c-3c3a-4a52-8f0e-0d3c5a9e7b11")
	someTime = time.Date(2026, 7, 1, 9, 15, 0, 0, time.UTC)
	someDay  = civil.MustParse("2026-07-01")
)

// stored returns a number as PostgreSQL stores it: microseconds of a time, or days of a date,
// since the year 2000.
func stored[N int32 | int64](n N) []byte {
	b, err := binary.Append(nil, binary.BigEndian, n)
	if err != nil {
		panic(err)
	}
	return b
}

func TestScannerReadsEachType(t *testing.T) {
	t.Parallel()
	int64s := func(r *Scanner) any { return r.Int64(0) }
	texts := func(r *Scanner) any { return r.Text(0) }
	bools := func(r *Scanner) any { return r.Bool(0) }
	times := func(r *Scanner) any { return r.Time(0) }
	dates := func(r *Scanner) any { return r.Date(0) }
	uuids := func(r *Scanner) any { return r.UUID(0) }
	words := func(r *Scanner) any {
		var all []string
		r.JSON(0, &all)
		return all
	}
	for _, c := range []struct {
		name  string
		given any
		read  func(*Scanner) any
		want  any // nil if it is refused
	}{
		{"number", int64(7), int64s, int64(7)},
		{"null number", nil, int64s, int64(0)},
		{"number as text", "7", int64s, nil},
		{"int", int64(7), func(r *Scanner) any { return r.Int(0) }, 7},
		{"decimal", int64(1250), func(r *Scanner) any { return r.Decimal(0) }, decimal.Decimal(1250)},
		{"text", "a", texts, "a"},
		{"text of bytes", []byte("a"), texts, "a"},
		{"null text", nil, texts, ""},
		{"text of a number", int64(7), texts, nil},
		{"JSON", []byte(`["a"]`), words, []string{"a"}},
		{"JSON of text", `["a"]`, words, []string{"a"}},
		{"null JSON", nil, words, []string(nil)},
		{"JSON of another type", []byte(`{}`), words, nil},
		{"JSON of a time", someTime, words, nil},
		{"boolean", true, bools, true},
		{"SQLite's boolean", int64(1), bools, true},
		{"SQLite's false", int64(0), bools, false},
		{"null boolean", nil, bools, false},
		{"boolean of text", "true", bools, nil},
		{"time", someTime, times, someTime},
		{"PostgreSQL's time", stored(someTime.Sub(epoch).Microseconds()), times, someTime},
		{"PostgreSQL's time with a fraction", stored(int64(1)), times, epoch.Add(time.Microsecond)},
		{"PostgreSQL's time before the year 2000", stored(int64(-1)), times, epoch.Add(-time.Microsecond)},
		{"PostgreSQL's infinity", stored(int64(math.MaxInt64)), times, nil},
		{"PostgreSQL's negative infinity", stored(int64(math.MinInt64)), times, nil},
		{"time of 4 bytes", []byte{0, 0, 0, 0}, times, nil},
		{"null time", nil, times, time.Time{}},
		{"time of text", "2026-07-01", times, nil},
		{"date", someTime, dates, someDay},
		{"SQLite's date", "2026-07-01", dates, someDay},
		{"PostgreSQL's date", stored(int32(someDay.Time().Sub(epoch) / (24 * time.Hour))), dates, someDay},
		{"PostgreSQL's date before the year 2000", stored(int32(-1)), dates, civil.MustParse("1999-12-31")},
		{"PostgreSQL's infinite date", stored(int32(math.MaxInt32)), dates, nil},
		{"PostgreSQL's negative infinite date", stored(int32(math.MinInt32)), dates, nil},
		{"null date", nil, dates, civil.Date{}},
		{"date of words", "soon", dates, nil},
		{"uuid", []byte(someID.String()), uuids, someID},
		{"uuid as text", someID.String(), uuids, someID},
		{"uuid as 16 bytes", someID[:], uuids, someID},
		{"null uuid", nil, uuids, uuid.Nil},
		{"uuid of words", "soon", uuids, nil},
		{"uuid of a number", int64(7), uuids, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := ForEach(&result{rows: [][]driver.Value{{c.given}}}, 1, func(r *Scanner) {
				got := c.read(r)
				if c.want != nil && !reflect.DeepEqual(got, c.want) {
					t.Errorf("got %#v, want %#v", got, c.want)
				}
				if r.Null(0) != (c.given == nil) {
					t.Errorf("Null is %v", r.Null(0))
				}
			})
			if refused := err != nil; refused != (c.want == nil) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

// TestScannerCopiesBytesOfTheDriver checks that the scanner keeps no memory of the driver:
// lib/pq reuses that of the current row when a query is cancelled.
func TestScannerCopiesBytesOfTheDriver(t *testing.T) {
	t.Parallel()
	given := []byte(`{"patient": 1000}`)
	err := ForEach(&result{rows: [][]driver.Value{{given}}}, 1, func(r *Scanner) {
		copy(given, `{"patient": 1292}`)
		if got := r.Text(0); got != `{"patient": 1000}` {
			t.Errorf("read %s", got)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestFirstErrorIsReturned checks that errors of later rows do not hide the first one.
func TestFirstErrorIsReturned(t *testing.T) {
	t.Parallel()
	rows := &result{rows: [][]driver.Value{{"x", int64(1)}, {int64(2), int64(3)}}}
	read := 0
	err := ForEach(rows, 2, func(r *Scanner) {
		r.Int64(0)
		r.Fail(1, errors.New("later"))
		read++
	})
	if err == nil || !strings.Contains(err.Error(), "column 0") || strings.Contains(err.Error(), "later") {
		t.Errorf("the error is %v", err)
	}
	if read != 2 || !rows.closed {
		t.Errorf("%d rows, closed %v", read, rows.closed)
	}
}

// TestLostConnectionIsAnError checks that ForEach does not mistake it for the last row.
func TestLostConnectionIsAnError(t *testing.T) {
	t.Parallel()
	errLost := errors.New("connection lost")
	rows := &result{rows: [][]driver.Value{{int64(1)}}, failed: errLost}
	if err := ForEach(rows, 1, func(*Scanner) {}); !errors.Is(err, errLost) || !rows.closed {
		t.Errorf("the error is %v, closed %v", err, rows.closed)
	}
}

func TestOffset(t *testing.T) {
	t.Parallel()
	var got []any
	err := ForEach(&result{rows: [][]driver.Value{{int64(1), int64(2), nil}}}, 3, func(r *Scanner) {
		r.Offset(1, func() { got = append(got, r.Int64(0), r.Null(1)) })
		got = append(got, r.Int64(0))
	})
	if want := []any{int64(2), true, int64(1)}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("took %v, want %v: %v", got, want, err)
	}
	err = ForEach(&result{rows: [][]driver.Value{{int64(1), "2"}}}, 2, func(r *Scanner) { r.Offset(1, func() { r.Int64(0) }) })
	if err == nil || !strings.Contains(err.Error(), "column 1:") {
		t.Errorf("the error does not count the skipped column: %v", err)
	}
}

func TestWrongNumberOfColumnsIsAnError(t *testing.T) {
	t.Parallel()
	for _, columns := range []int{1, 3} {
		if err := ForEach(&result{rows: [][]driver.Value{{int64(1), "2"}}}, columns, func(*Scanner) {}); err == nil {
			t.Errorf("a row of 2 columns was read as one of %d", columns)
		}
	}
}

func TestColumnsQuotesNames(t *testing.T) {
	t.Parallel()
	if got, want := Columns("sites", "id", "name"), `"sites"."id", "sites"."name"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
