package dump

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-faster/jx"

	"chairside/internal/entx/table"
)

// Format is the encoding of an export's files.
type Format string

// The formats. NDJSON is the default.
const (
	NDJSON Format = "ndjson"
	CSV    Format = "csv"
)

// rowFunc reads or writes one row: a value for each column.
type rowFunc func(values []any) error

// newWriter returns a function that writes a row of scanned values.
func newWriter(f Format, to *bufio.Writer, columns []table.Column) (rowFunc, error) {
	if f == CSV {
		return csvWriter(to, columns)
	}
	return ndjsonWriter(to, columns), nil
}

// newReader returns a function that reads the next row into values, in the form in which they are
// stored. It returns io.EOF after the last row.
func newReader(f Format, from io.Reader, columns []table.Column) (rowFunc, error) {
	if f == CSV {
		return csvReader(from, columns)
	}
	return ndjsonReader(from, columns), nil
}

// ndjsonWriter writes a row as one line: a JSON object with every column, in the order of the
// table. Amounts, dates, times, UUIDs and bytes are strings.
func ndjsonWriter(to io.Writer, columns []table.Column) rowFunc {
	var row jx.Writer
	return func(values []any) error {
		row.Reset()
		row.ObjStart()
		for i := range columns {
			c := &columns[i]
			if i > 0 {
				row.Comma()
			}
			row.FieldStart(c.Name)
			text, ok, err := c.Stored.Format(values[i])
			switch {
			case err != nil:
				return fmt.Errorf("%s: %w", c.Name, err)
			case !ok:
				row.Null()
			case c.Stored == table.Integer || c.Stored == table.Boolean || c.Stored == table.JSON:
				row.RawStr(text)
			default:
				row.Str(text)
			}
		}
		row.ObjEnd()
		row.RawStr("\n")
		_, err := to.Write(row.Buf)
		return err
	}
}

// maxLine is the longest line that is read, in bytes: many times more than a row can have.
const maxLine = 64 << 20

// ndjsonReader reads what ndjsonWriter writes. Columns may be in any order, but in that of the
// table they are found faster.
func ndjsonReader(from io.Reader, columns []table.Column) rowFunc {
	lines := bufio.NewScanner(from)
	lines.Buffer(make([]byte, fileBuffer), maxLine)
	indexes := map[string]int{}
	for i, c := range columns {
		indexes[c.Name] = i
	}
	decoder := jx.DecodeStr("")
	seen := make([]bool, len(columns))
	return func(values []any) error {
		if !lines.Scan() {
			if err := lines.Err(); err != nil {
				return err
			}
			return io.EOF
		}
		decoder.ResetBytes(lines.Bytes())
		clear(seen)
		next := 0
		err := decoder.ObjBytes(func(d *jx.Decoder, key []byte) (err error) {
			i := next
			if i >= len(columns) || columns[i].Name != string(key) {
				var known bool
				if i, known = indexes[string(key)]; !known {
					return errors.New("it has an unknown column")
				}
			}
			c := &columns[i]
			if seen[i] {
				return fmt.Errorf("%s occurs twice", c.Name)
			}
			seen[i], next = true, i+1
			if values[i], err = decode(c, d); err != nil {
				return fmt.Errorf("%s: %w", c.Name, err)
			}
			return nil
		})
		if missing := slices.Index(seen, false); err == nil && missing >= 0 {
			return fmt.Errorf("%s is missing", columns[missing].Name)
		}
		return err
	}
}

var errNull = errors.New("must not be null")

// decode reads the value of a column from JSON, in the form in which it is stored.
func decode(c *table.Column, d *jx.Decoder) (any, error) {
	switch {
	case d.Next() == jx.Null && c.Null:
		return nil, d.Null()
	case d.Next() == jx.Null && c.Stored != table.JSON:
		return nil, errNull
	case c.Stored == table.Integer:
		return d.Int64()
	case c.Stored == table.Boolean:
		return d.Bool()
	case c.Stored == table.JSON:
		raw, err := d.Raw()
		return string(raw), err
	}
	text, err := d.Str()
	if err != nil {
		return nil, errors.New("is not a string")
	}
	return c.Stored.Parse(text)
}

// null is how CSV shows null. In texts, a backslash is written twice, so that none is read as
// null, and a carriage return as \r, because readers of CSV convert line ends.
const null = `\N`

var (
	escapeCSV   = strings.NewReplacer(`\`, `\\`, "\r", `\r`)
	unescapeCSV = strings.NewReplacer(`\\`, `\`, `\r`, "\r")
)

// csvWriter writes a header with the names of the columns, and rows with the same texts as
// ndjsonWriter, without quotes.
func csvWriter(to *bufio.Writer, columns []table.Column) (rowFunc, error) {
	w := csv.NewWriter(to) // uses to as its buffer
	record := make([]string, len(columns))
	for i, c := range columns {
		record[i] = c.Name
	}
	return func(values []any) error {
		for i := range columns {
			text, ok, err := columns[i].Stored.Format(values[i])
			switch {
			case err != nil:
				return fmt.Errorf("%s: %w", columns[i].Name, err)
			case !ok:
				text = null
			default:
				text = escapeCSV.Replace(text)
			}
			record[i] = text
		}
		return w.Write(record)
	}, w.Write(record)
}

// csvReader reads what csvWriter writes.
func csvReader(from io.Reader, columns []table.Column) (rowFunc, error) {
	r := csv.NewReader(from)
	r.ReuseRecord = true
	header, err := r.Read()
	if err != nil {
		return nil, fmt.Errorf("read the header: %w", err)
	}
	if !slices.EqualFunc(header, columns, func(name string, c table.Column) bool { return name == c.Name }) {
		return nil, errors.New("the columns in the header differ from this program's")
	}
	return func(values []any) error {
		record, err := r.Read()
		if err != nil {
			return err
		}
		for i := range columns {
			c := &columns[i]
			switch {
			case record[i] != null:
				values[i], err = c.Stored.Parse(unescapeCSV.Replace(record[i]))
			case c.Null:
				values[i] = nil
			default:
				err = errNull
			}
			if err != nil {
				return fmt.Errorf("%s: %w", c.Name, err)
			}
		}
		return nil
	}, nil
}
