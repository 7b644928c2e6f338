package extract

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"time"

	"github.com/go-faster/jx"

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

const parquetMagic = "PAR1"

// parquet writes rows as Parquet: columns of plain values, in pages that gzip has compressed.
type parquet struct {
	to     io.Writer
	offset int64 // bytes that are written
	run    int
	chunks []*chunk // _run, _deleted, then a chunk for each column
	groups []rowGroup
	rows   int // of the open row group
	size   int // of its values
}

// chunk is a column of the open row group.
type chunk struct {
	column
	required bool
	values   []byte
	count    int    // rows
	bits     int    // values of a boolean column
	levels   []byte // runs of rows with and without a value
	present  bool   // the open run: whether its rows have a value
	run      int    // its rows
}

func newParquet(to io.Writer, run int, columns []column) (encoder, error) {
	e := &parquet{to: to, run: run, chunks: []*chunk{
		{column: column{runColumn, codec.Integer}, required: true},
		{column: column{deletedColumn, codec.Boolean}, required: true},
	}}
	for i, c := range columns {
		e.chunks = append(e.chunks, &chunk{column: c, required: i == 0})
	}
	return e, e.put([]byte(parquetMagic))
}

func (e *parquet) put(b []byte) error {
	n, err := e.to.Write(b)
	e.offset += int64(n)
	return err
}

func (e *parquet) write(r *row) error {
	e.chunks[0].integer(int64(e.run))
	e.chunks[1].boolean(r.deleted)
	e.rows++
	for i, value := range r.values {
		c := e.chunks[2+i]
		before := len(c.values)
		if err := c.add(value); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		e.size += len(c.values) - before
	}
	if e.rows >= groupRows || e.size >= groupBytes {
		return e.flush()
	}
	return nil
}

// flush writes the open row group.
func (e *parquet) flush() error {
	if e.rows == 0 {
		return nil
	}
	g := rowGroup{rows: int64(e.rows)}
	for _, c := range e.chunks {
		p, err := e.page(c)
		if err != nil {
			return err
		}
		g.pages = append(g.pages, p)
		*c = chunk{column: c.column, required: c.required, values: c.values[:0], levels: c.levels[:0]}
	}
	e.groups = append(e.groups, g)
	e.rows, e.size = 0, 0
	return nil
}

// page writes a column of the open row group as one page.
func (e *parquet) page(c *chunk) (p page, err error) {
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	unpacked := len(c.values)
	if !c.required {
		c.endRun()
		levels := binary.LittleEndian.AppendUint32(nil, uint32(len(c.levels)))
		unpacked += len(levels) + len(c.levels)
		if _, err := zip.Write(append(levels, c.levels...)); err != nil {
			return p, err
		}
	}
	if _, err := zip.Write(c.values); err != nil {
		return p, err
	}
	if err := zip.Close(); err != nil {
		return p, err
	}
	header := pageHeader(c.count, unpacked, packed.Len())
	p = page{offset: e.offset, values: int64(c.count), stored: int64(len(header) + packed.Len()), unpacked: int64(len(header) + unpacked)}
	if err := e.put(header); err != nil {
		return p, err
	}
	return p, e.put(packed.Bytes())
}

func (e *parquet) close() error {
	if err := e.flush(); err != nil {
		return err
	}
	end := footer(e.chunks, e.groups)
	end = binary.LittleEndian.AppendUint32(end, uint32(len(end)))
	return e.put(append(end, parquetMagic...))
}

// add adds a value, as JSON; nil is null.
func (c *chunk) add(value jx.Raw) error {
	if value == nil {
		if c.required {
			return fmt.Errorf("must not be null")
		}
		c.level(false)
		return nil
	}
	d := jx.DecodeBytes(value)
	switch c.kind {
	case codec.Boolean, codec.Flag, codec.Gender:
		v, err := d.Bool()
		c.boolean(v)
		return err
	case codec.Integer, codec.Consent, codec.ID:
		v, err := d.Int64()
		c.integer(v)
		return err
	}
	if isJSON(c.kind) {
		c.bytes(value)
		return nil
	}
	text, err := d.Str()
	if err != nil {
		return err
	}
	switch c.kind {
	case codec.Decimal:
		v, err := table.Amount.Parse(text)
		if err != nil {
			return err
		}
		c.integer(v.(int64))
	case codec.Time:
		at, err := time.Parse(codec.TimeLayout, text)
		c.integer(at.UnixMilli())
		return err
	case codec.Date, codec.Day:
		day, err := civil.Parse(text)
		c.level(true)
		c.values = binary.LittleEndian.AppendUint32(c.values, uint32(int32(day.Time().Unix()/secondsPerDay)))
		return err
	default:
		c.bytes([]byte(text))
	}
	return nil
}

const secondsPerDay = 24 * 60 * 60

func (c *chunk) integer(v int64) {
	c.level(true)
	c.values = binary.LittleEndian.AppendUint64(c.values, uint64(v))
}

func (c *chunk) bytes(v []byte) {
	c.level(true)
	c.values = append(binary.LittleEndian.AppendUint32(c.values, uint32(len(v))), v...)
}

// boolean adds one bit; eight share a byte.
func (c *chunk) boolean(v bool) {
	c.level(true)
	if c.bits%8 == 0 {
		c.values = append(c.values, 0)
	}
	if v {
		c.values[len(c.values)-1] |= 1 << (c.bits % 8)
	}
	c.bits++
}

// level notes whether the next row has a value.
func (c *chunk) level(present bool) {
	c.count++
	if c.run > 0 && c.present != present {
		c.endRun()
	}
	c.present = present
	c.run++
}

// endRun writes the open run: twice its rows, which marks a run of equal levels, and the level.
func (c *chunk) endRun() {
	if c.run == 0 {
		return
	}
	c.levels = binary.AppendUvarint(c.levels, uint64(c.run)<<1)
	level := byte(0)
	if c.present {
		level = 1
	}
	c.levels, c.run = append(c.levels, level), 0
}
