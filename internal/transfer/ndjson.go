package transfer

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/go-faster/jx"
)

// maxLine is the longest line of an export that is read, in bytes: many times
// what a row can hold.
const maxLine = 64 << 20

// ndjsonWriter writes a row as one JSON object a line: every column, in the
// order of the table. Amounts, dates, times, uuids and bytes are strings.
type ndjsonWriter struct {
	to  io.Writer
	row jx.Writer
}

func (w *ndjsonWriter) header([]column) error { return nil }

func (w *ndjsonWriter) write(columns []column, values []any) error {
	w.row.Reset()
	w.row.ObjStart()
	for i, c := range columns {
		if i > 0 {
			w.row.Comma()
		}
		w.row.FieldStart(c.name)
		shown, ok, err := c.kind.show(values[i])
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", c.name, err)
		case !ok:
			w.row.Null()
		case c.kind == integer || c.kind == boolean || c.kind == document:
			w.row.RawStr(shown)
		default:
			w.row.Str(shown)
		}
	}
	w.row.ObjEnd()
	w.row.RawStr("\n")
	_, err := w.to.Write(w.row.Buf)
	return err
}

func (w *ndjsonWriter) finish() error { return nil }

// ndjsonReader reads what ndjsonWriter wrote.
type ndjsonReader struct {
	lines   *bufio.Scanner
	columns []column
	places  map[string]int
	decoder *jx.Decoder
}

func newNDJSONReader(from io.Reader, columns []column) *ndjsonReader {
	r := &ndjsonReader{lines: bufio.NewScanner(from), columns: columns, places: map[string]int{}, decoder: jx.DecodeStr("")}
	r.lines.Buffer(make([]byte, 1<<20), maxLine)
	for i, c := range columns {
		r.places[c.name] = i
	}
	return r
}

func (r *ndjsonReader) read(values []any) error {
	if !r.lines.Scan() {
		if err := r.lines.Err(); err != nil {
			return err
		}
		return io.EOF
	}
	r.decoder.ResetBytes(r.lines.Bytes())
	expected, given := 0, 0
	seen := make([]bool, len(r.columns))
	err := r.decoder.ObjBytes(func(d *jx.Decoder, key []byte) error {
		place := expected
		if place >= len(r.columns) || r.columns[place].name != string(key) {
			var ok bool
			if place, ok = r.places[string(key)]; !ok {
				return errors.New("it has an unknown column")
			}
		}
		if seen[place] {
			return fmt.Errorf("%s is there twice", r.columns[place].name)
		}
		seen[place] = true
		expected, given = place+1, given+1
		v, err := r.columns[place].decode(d)
		if err != nil {
			return fmt.Errorf("%s: %w", r.columns[place].name, err)
		}
		values[place] = v
		return nil
	})
	switch {
	case err != nil:
		return err
	case given != len(r.columns):
		return fmt.Errorf("it has %d of %d columns", given, len(r.columns))
	}
	return nil
}

func (c column) decode(d *jx.Decoder) (any, error) {
	if d.Next() == jx.Null {
		if err := d.Null(); err != nil {
			return nil, err
		}
		switch {
		case c.nullable:
			return nil, nil
		case c.kind == document:
			return "null", nil
		}
		return nil, errors.New("must not be null")
	}
	var shown string
	switch c.kind {
	case integer:
		return d.Int64()
	case boolean:
		return d.Bool()
	case document:
		raw, err := d.Raw()
		return string(raw), err
	default:
		var err error
		if shown, err = d.Str(); err != nil {
			return nil, errors.New("is not a string")
		}
	}
	return c.kind.read(shown)
}

func lineError(file string, line int, err error) error {
	return fmt.Errorf("%s, line %s: %w", file, strconv.Itoa(line), err)
}
