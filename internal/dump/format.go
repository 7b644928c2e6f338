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

// The formats. NDJSON is the native one.
const (
	NDJSON Format = "ndjson"
	CSV    Format = "csv"
)

// newWriter returns a function that writes a row: scanned values, one for each column.
func newWriter(f Format, to *bufio.Writer, columns []table.Column) (write func(values []any) error, err error) {
	if f == CSV {
		return csvWriter(to, columns)
	}
	return ndjsonWriter(to, columns), nil
}

// newReader returns a function that reads the next row: values as they are stored. It returns
// io.EOF after the last.
func newReader(f Format, from io.Reader, columns []table.Column) (read func(values []any) error, err error) {
	if f == CSV {
		return csvReader(from, columns)
	}
	return ndjsonReader(from, columns), nil
}

// ndjsonWriter writes a row as one JSON object a line: every column, in the order of the table.
// Amounts, dates, times, uuids and bytes are strings.
func ndjsonWriter(to io.Writer, columns []table.Column) func(values []any) error {
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

// maxLine is the longest line of an export that is read, in bytes: many times what a row can
// hold.
const maxLine = 64 << 20

// ndjsonReader reads what ndjsonWriter wrote. The columns may be in any order.
func ndjsonReader(from io.Reader, columns []table.Column) func(values []any) error {
	lines := bufio.NewScanner(from)
	lines.Buffer(make([]byte, fileBuffer), maxLine)
	places := map[string]int{}
	for i, c := range columns {
		places[c.Name] = i
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
			place := next
			if place >= len(columns) || columns[place].Name != string(key) {
				var known bool
				if place, known = places[string(key)]; !known {
					return errors.New("it has an unknown column")
				}
			}
			c := &columns[place]
			if seen[place] {
				return fmt.Errorf("%s is there twice", c.Name)
			}
			seen[place], next = true, place+1
			if values[place], err = decode(c, d); err != nil {
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

// decode reads the value of a column from JSON.
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

// null is how a CSV export writes a null. In texts a backslash is written twice and a carriage
// return as \r, so that nothing else looks like it and readers that tidy line ends change
// nothing.
const null = `\N`

var (
	escapeCSV   = strings.NewReplacer(`\`, `\\`, "\r", `\r`)
	unescapeCSV = strings.NewReplacer(`\\`, `\`, `\r`, "\r")
)

// csvWriter writes a header with the names of the columns, and the same texts as ndjsonWriter
// without their quotes.
func csvWriter(to *bufio.Writer, columns []table.Column) (func(values []any) error, error) {
	w := csv.NewWriter(to) // which is its buffer, too
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

// csvReader reads what csvWriter wrote.
func csvReader(from io.Reader, columns []table.Column) (func(values []any) error, error) {
	r := csv.NewReader(from)
	r.ReuseRecord = true
	header, err := r.Read()
	if err != nil {
		return nil, fmt.Errorf("read the header: %w", err)
	}
	if !slices.EqualFunc(header, columns, func(name string, c table.Column) bool { return name == c.Name }) {
		return nil, errors.New("the header does not have this program's columns")
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
