package extract

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/go-faster/jx"
	"github.com/parquet-go/parquet-go"

	"chairside/internal/civil"
	"chairside/internal/codec"
	"chairside/internal/entx/table"
)

// The most rows of a row group, and the size of the values in memory at which one ends. One row
// group is in memory at a time.
var (
	groupRows  = 20_000
	groupBytes = 16 << 20
)

// Amounts have at most 18 digits, two of them fractions.
const decimalDigits, fractionDigits = 18, 2

const secondsPerDay = 24 * 60 * 60

// typeOf returns the Parquet type of the values of a kind.
func typeOf(k codec.Kind) parquet.Node {
	switch k {
	case codec.Boolean, codec.Flag, codec.Gender:
		return parquet.Leaf(parquet.BooleanType)
	case codec.Integer, codec.Consent, codec.ID:
		return parquet.Int(64)
	case codec.Decimal:
		return parquet.Decimal(fractionDigits, decimalDigits, parquet.Int64Type)
	case codec.Time:
		return parquet.Timestamp(parquet.Millisecond)
	case codec.Date, codec.Day:
		return parquet.Date()
	}
	if isJSON(k) {
		return parquet.JSON()
	}
	return parquet.String()
}

// parquetRows writes rows as Parquet, with the columns in the order of their names.
type parquetRows struct {
	to      *parquet.GenericWriter[any]
	columns []parquetColumn // _run, _deleted, then those of the resource
	values  parquet.Row
	size    int // of the values of the open row group, in bytes
}

// parquetColumn is a column and its place in the file.
type parquetColumn struct {
	column
	place    int
	required bool
}

func newParquet(to io.Writer, resource string, run int, columns []column) encoder {
	e := &parquetRows{columns: []parquetColumn{
		{column: column{runColumn, codec.Integer}, required: true},
		{column: column{deletedColumn, codec.Boolean}, required: true},
	}}
	for i, c := range columns {
		e.columns = append(e.columns, parquetColumn{column: c, required: i == 0})
	}
	nodes := parquet.Group{}
	for _, c := range e.columns {
		if nodes[c.name] = typeOf(c.kind); !c.required {
			nodes[c.name] = parquet.Optional(typeOf(c.kind))
		}
	}
	schema := parquet.NewSchema(resource, nodes)
	for i, c := range e.columns {
		leaf, _ := schema.Lookup(c.name)
		e.columns[i].place = leaf.ColumnIndex
	}
	e.to = parquet.NewGenericWriter[any](to, schema, parquet.Compression(&parquet.Gzip), parquet.MaxRowsPerRowGroup(int64(groupRows)))
	e.values = make(parquet.Row, len(e.columns))
	e.set(0, parquet.Int64Value(int64(run)))
	return e
}

// set sets the value of a column of the row; the zero Value is null.
func (e *parquetRows) set(i int, v parquet.Value) {
	c, defined := e.columns[i], 0
	if !c.required && !v.IsNull() {
		defined = 1
	}
	e.values[c.place] = v.Level(0, defined, c.place)
}

func (e *parquetRows) write(r *row) error {
	e.set(1, parquet.BooleanValue(r.deleted))
	for i, value := range r.values {
		c := e.columns[2+i]
		v, err := c.parse(value)
		if err == nil && c.required && v.IsNull() {
			err = errors.New("must not be null")
		}
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		e.set(2+i, v)
		e.size += len(value)
	}
	if _, err := e.to.WriteRows([]parquet.Row{e.values}); err != nil {
		return err
	}
	if e.size < groupBytes {
		return nil
	}
	e.size = 0
	return e.to.Flush()
}

func (e *parquetRows) close() error { return e.to.Close() }

// parse reads a value, as JSON; nil is null.
func (c parquetColumn) parse(value jx.Raw) (v parquet.Value, err error) {
	if value == nil {
		return v, nil
	}
	d := jx.DecodeBytes(value)
	switch c.kind {
	case codec.Boolean, codec.Flag, codec.Gender:
		b, err := d.Bool()
		return parquet.BooleanValue(b), err
	case codec.Integer, codec.Consent, codec.ID:
		n, err := d.Int64()
		return parquet.Int64Value(n), err
	}
	if isJSON(c.kind) {
		return parquet.ByteArrayValue(value), nil
	}
	text, err := d.Str()
	if err != nil {
		return v, err
	}
	switch c.kind {
	case codec.Decimal:
		amount, err := table.Amount.Parse(text)
		if err != nil {
			return v, err
		}
		return parquet.Int64Value(amount.(int64)), nil
	case codec.Time:
		at, err := time.Parse(codec.TimeLayout, text)
		return parquet.Int64Value(at.UnixMilli()), err
	case codec.Date, codec.Day:
		day, err := civil.Parse(text)
		return parquet.Int32Value(int32(day.Time().Unix() / secondsPerDay)), err
	}
	return parquet.ByteArrayValue([]byte(text)), nil
}
