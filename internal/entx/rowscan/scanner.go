package rowscan

import (
	"database/sql/driver"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"chairside/internal/civil"
	"chairside/internal/decimal"
)

// Scanner holds the current row. Values that its methods return stay valid after it moves on.
type Scanner struct {
	cells []cell
	from  int // added to every column (Offset)
	err   error
}

// cell holds one value of the driver. Bytes are copied into memory that the cell reuses:
// the driver may overwrite its own once the context of the query has ended.
type cell struct {
	value any // *bytes for bytes
	bytes []byte
}

// Scan implements sql.Scanner, for a row in one column (RawRows).
func (r *Scanner) Scan(value any) error {
	values, ok := value.(*[]driver.Value)
	if !ok {
		return fmt.Errorf("rowscan: %T is not a row: run the query in a context of RawRows", value)
	}
	if len(*values) != len(r.cells) {
		return fmt.Errorf("rowscan: %d columns, want %d", len(*values), len(r.cells))
	}
	for i, v := range *values {
		c := &r.cells[i]
		if given, ok := v.([]byte); ok {
			c.bytes = append(c.bytes[:0], given...)
			v = &c.bytes
		}
		c.value = v
	}
	return nil
}

// Columns returns columns of a table as SQL text, for the Rows method of a query.
func Columns(table string, names ...string) string {
	return `"` + table + `"."` + strings.Join(names, `", "`+table+`"."`) + `"`
}

// Rows is the result of a query.
type Rows interface {
	Next() bool
	Scan(destinations ...any) error
	Err() error
	Close() error
}

// ForEach calls take for each row and closes rows; columns is their number of columns. The
// Scanner is the same for all rows.
func ForEach(rows Rows, columns int, take func(*Scanner)) (err error) {
	defer func() { err = errors.Join(err, rows.Close()) }()
	r := &Scanner{cells: make([]cell, columns)}
	for rows.Next() {
		if err := rows.Scan(r); err != nil {
			return err
		}
		take(r)
	}
	return errors.Join(rows.Err(), r.err)
}

// Fail makes ForEach return an error after the last row. Only the first error is kept.
func (r *Scanner) Fail(column int, err error) {
	if r.err == nil {
		r.err = fmt.Errorf("rowscan: column %d: %w", r.from+column, err)
	}
}

// Offset runs take with column numbers that begin after the first columns, for rows that hold
// the columns of two tables side by side.
func (r *Scanner) Offset(columns int, take func()) {
	r.from += columns
	take()
	r.from -= columns
}

func (r *Scanner) value(column int) any { return r.cells[r.from+column].value }

// Null reports whether a column is NULL.
func (r *Scanner) Null(column int) bool { return r.value(column) == nil }

// Int64 reads a whole number.
func (r *Scanner) Int64(column int) int64 {
	switch v := r.value(column).(type) {
	case int64:
		return v
	case nil:
	default:
		r.mismatch(column, "a whole number")
	}
	return 0
}

// ID reads the id of a row as text: a whole number or a UUID.
func (r *Scanner) ID(column int) string {
	if n, ok := r.value(column).(int64); ok {
		return strconv.FormatInt(n, 10)
	}
	return r.UUID(column).String()
}

// Int reads a whole number.
func (r *Scanner) Int(column int) int { return int(r.Int64(column)) }

// Decimal reads an amount, which is stored in hundredths.
func (r *Scanner) Decimal(column int) decimal.Decimal { return decimal.Decimal(r.Int64(column)) }

// Bool reads a boolean, which SQLite stores as a number.
func (r *Scanner) Bool(column int) bool {
	switch v := r.value(column).(type) {
	case bool:
		return v
	case int64:
		return v != 0
	case nil:
	default:
		r.mismatch(column, "a boolean")
	}
	return false
}

// Text reads a string. It cannot recognise a day, time or UUID in the form in which
// PostgreSQL stores it: it returns those bytes, without an error.
func (r *Scanner) Text(column int) string {
	switch v := r.value(column).(type) {
	case string:
		return v
	case *[]byte:
		return string(*v)
	case nil:
	default:
		r.mismatch(column, "text")
	}
	return ""
}

// JSON decodes a JSON column into the value that to points at. NULL leaves it unchanged.
func (r *Scanner) JSON(column int, to any) {
	var text []byte
	switch v := r.value(column).(type) {
	case *[]byte:
		text = *v
	case string:
		text = []byte(v)
	case nil:
		return
	default:
		r.mismatch(column, "JSON")
		return
	}
	if err := json.Unmarshal(text, to); err != nil {
		r.Fail(column, err)
	}
}

// epoch is the zero of PostgreSQL's binary times and dates.
var epoch = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)

// Time reads a time, or the 8 bytes of PostgreSQL's binary form.
func (r *Scanner) Time(column int) time.Time {
	switch v := r.value(column).(type) {
	case time.Time:
		return v
	case *[]byte:
		if len(*v) != 8 {
			r.mismatch(column, "a time")
			break
		}
		since := int64(binary.BigEndian.Uint64(*v)) // µs
		if since == math.MaxInt64 || since == math.MinInt64 {
			r.Fail(column, errors.New("infinity is not a time"))
			break
		}
		const second = int64(time.Second / time.Microsecond)
		return time.Unix(epoch.Unix()+since/second, since%second*int64(time.Microsecond)).UTC()
	case nil:
	default:
		r.mismatch(column, "a time")
	}
	return time.Time{}
}

// Date reads a date, or the 4 bytes of PostgreSQL's binary form; NULL is the zero Date.
func (r *Scanner) Date(column int) (d civil.Date) {
	value := r.value(column)
	if b, ok := value.(*[]byte); ok && len(*b) == 4 {
		since := int32(binary.BigEndian.Uint32(*b)) // days
		if since == math.MaxInt32 || since == math.MinInt32 {
			r.Fail(column, errors.New("infinity is not a day"))
			return d
		}
		const day = int64(24 * time.Hour / time.Second)
		return civil.Of(time.Unix(epoch.Unix()+int64(since)*day, 0).UTC())
	} else if ok {
		value = *b
	}
	if err := d.Scan(value); err != nil {
		r.Fail(column, err)
	}
	return d
}

// UUID reads a UUID from its text or its 16 bytes.
func (r *Scanner) UUID(column int) (id uuid.UUID) {
	var err error
	switch v := r.value(column).(type) {
	case *[]byte:
		if len(*v) == len(id) {
			copy(id[:], *v)
			return id
		}
		id, err = uuid.ParseBytes(*v)
	case string:
		id, err = uuid.Parse(v)
	case nil:
	default:
		r.mismatch(column, "a uuid")
	}
	if err != nil {
		r.Fail(column, err)
	}
	return id
}

func (r *Scanner) mismatch(column int, wanted string) {
	r.Fail(column, fmt.Errorf("%T is not %s", r.value(column), wanted))
}
