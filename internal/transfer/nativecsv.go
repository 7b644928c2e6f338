package transfer

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// null is how a CSV export writes a null. In texts a backslash is written
// twice and a carriage return as \r, so that nothing else looks like it and
// readers that tidy line ends change nothing.
const null = `\N`

var (
	escapeCSV   = strings.NewReplacer(`\`, `\\`, "\r", `\r`)
	unescapeCSV = strings.NewReplacer(`\\`, `\`, `\r`, "\r")
)

// csvWriter writes a header with the names of the columns, and the same texts
// as ndjsonWriter without their quotes.
type csvWriter struct {
	to     *csv.Writer
	record []string
}

func newCSVWriter(to io.Writer) *csvWriter { return &csvWriter{to: csv.NewWriter(to)} }

func (w *csvWriter) header(columns []column) error {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.name
	}
	return w.to.Write(names)
}

func (w *csvWriter) write(columns []column, values []any) error {
	w.record = w.record[:0]
	for i, c := range columns {
		shown, ok, err := c.kind.show(values[i])
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		if !ok {
			shown = null
		} else if c.kind == text || c.kind == document {
			shown = escapeCSV.Replace(shown)
		}
		w.record = append(w.record, shown)
	}
	return w.to.Write(w.record)
}

func (w *csvWriter) finish() error {
	w.to.Flush()
	return w.to.Error()
}

// csvReader reads what csvWriter wrote.
type csvReader struct {
	from    *csv.Reader
	columns []column
}

func newCSVReader(from io.Reader, columns []column) (*csvReader, error) {
	r := &csvReader{csv.NewReader(from), columns}
	r.from.ReuseRecord = true
	header, err := r.from.Read()
	if err != nil {
		return nil, fmt.Errorf("read the header: %w", err)
	}
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.name
	}
	if !slices.Equal(header, names) {
		return nil, errors.New("the header does not have this program's columns")
	}
	return r, nil
}

func (r *csvReader) read(values []any) error {
	record, err := r.from.Read()
	if err != nil {
		return err
	}
	for i, c := range r.columns {
		if values[i], err = c.parse(record[i]); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return nil
}

func (c column) parse(shown string) (any, error) {
	if shown == null {
		if !c.nullable {
			return nil, errors.New("must not be null")
		}
		return nil, nil
	}
	if c.kind == text || c.kind == document {
		shown = unescapeCSV.Replace(shown)
	}
	return c.kind.read(shown)
}
