package extract

import (
	"fmt"

	"chairside/internal/codec"
)

// The numbers of parquet.thrift in github.com/apache/parquet-format.
const (
	parquetBoolean   = 0
	parquetInt32     = 1
	parquetInt64     = 2
	parquetByteArray = 6

	parquetRequired = 0
	parquetOptional = 1

	parquetPlain = 0
	parquetRLE   = 3
	parquetGzip  = 2
	parquetData  = 0 // a data page
)

// physical returns the type in which Parquet stores the values of a kind.
func physical(k codec.Kind) int32 {
	switch k {
	case codec.Boolean, codec.Flag, codec.Gender:
		return parquetBoolean
	case codec.Integer, codec.Consent, codec.ID, codec.Decimal, codec.Time:
		return parquetInt64
	case codec.Date, codec.Day:
		return parquetInt32
	}
	return parquetByteArray
}

// decimalDigits is the precision of amounts; two of the digits are fractions.
const decimalDigits, fractionDigits = 18, 2

// typeName names the type of a column for readers of the schema.
func typeName(k codec.Kind) string {
	switch k {
	case codec.Boolean, codec.Flag, codec.Gender:
		return "BOOLEAN"
	case codec.Integer, codec.Consent, codec.ID:
		return "INT64"
	case codec.Decimal:
		return fmt.Sprintf("DECIMAL(%d, %d)", decimalDigits, fractionDigits)
	case codec.Time:
		return "TIMESTAMP(MILLIS, UTC)"
	case codec.Date, codec.Day:
		return "DATE"
	}
	if isJSON(k) {
		return "JSON"
	}
	return "STRING"
}

// logical adds what the values of a kind mean: the converted type, which older readers know, and the
// logical type.
func logical(t *thrift, k codec.Kind) {
	const converted, scale, precision, logicalType = 6, 7, 8, 10
	switch k {
	case codec.Boolean, codec.Flag, codec.Gender, codec.Integer, codec.Consent, codec.ID:
	case codec.Decimal:
		t.int32(converted, 5)
		t.int32(scale, fractionDigits)
		t.int32(precision, decimalDigits)
		t.open(logicalType)
		t.open(5)
		t.int32(1, fractionDigits)
		t.int32(2, decimalDigits)
		t.end()
		t.end()
	case codec.Time:
		t.int32(converted, 9)
		t.open(logicalType)
		t.open(8)
		t.bool(1, true) // in UTC
		t.open(2)
		t.empty(1) // milliseconds
		t.end()
		t.end()
		t.end()
	case codec.Date, codec.Day:
		t.int32(converted, 6)
		t.open(logicalType)
		t.empty(6)
		t.end()
	default:
		convertedTo, is := int32(0), 1 // UTF-8
		if isJSON(k) {
			convertedTo, is = 19, 12
		}
		t.int32(converted, convertedTo)
		t.open(logicalType)
		t.empty(is)
		t.end()
	}
}

// page is where a column of a row group is in the file: one page.
type page struct {
	offset           int64
	values           int64
	stored, unpacked int64 // sizes with the header
}

// rowGroup describes a row group.
type rowGroup struct {
	rows  int64
	pages []page // by column
}

// footer returns the description of a file.
func footer(chunks []*chunk, groups []rowGroup) []byte {
	t := &thrift{}
	t.begin()
	t.int32(1, 1) // version
	t.list(2, thriftStruct, 1+len(chunks))
	t.begin()
	t.text(4, "row")
	t.int32(5, int32(len(chunks)))
	t.end()
	for _, c := range chunks {
		t.begin()
		t.int32(1, physical(c.kind))
		repetition := int32(parquetOptional)
		if c.required {
			repetition = parquetRequired
		}
		t.int32(3, repetition)
		t.text(4, c.name)
		logical(t, c.kind)
		t.end()
	}
	rows := int64(0)
	for _, g := range groups {
		rows += g.rows
	}
	t.int64(3, rows)
	t.list(4, thriftStruct, len(groups))
	for _, g := range groups {
		describeGroup(t, chunks, g)
	}
	t.text(6, "Chairside")
	t.end()
	return t.bytes
}

// describeGroup describes a row group and its columns.
func describeGroup(t *thrift, chunks []*chunk, g rowGroup) {
	t.begin()
	t.list(1, thriftStruct, len(chunks))
	size := int64(0)
	for i, p := range g.pages {
		size += p.unpacked
		t.begin()
		t.int64(2, p.offset)
		t.open(3)
		t.int32(1, physical(chunks[i].kind))
		t.list(2, thriftInt32, 2)
		t.bytes = append(t.bytes, 2*parquetPlain, 2*parquetRLE) // as zigzag numbers
		t.list(3, thriftText, 1)
		t.element(chunks[i].name)
		t.int32(4, parquetGzip)
		t.int64(5, p.values)
		t.int64(6, p.unpacked)
		t.int64(7, p.stored)
		t.int64(9, p.offset)
		t.end()
		t.end()
	}
	t.int64(2, size)
	t.int64(3, g.rows)
	t.end()
}

// pageHeader describes a page.
func pageHeader(values, unpacked, stored int) []byte {
	t := &thrift{}
	t.begin()
	t.int32(1, parquetData)
	t.int32(2, int32(unpacked))
	t.int32(3, int32(stored))
	t.open(5)
	t.int32(1, int32(values))
	t.int32(2, parquetPlain)
	t.int32(3, parquetRLE)
	t.int32(4, parquetRLE)
	t.end()
	t.end()
	return t.bytes
}
