package extract

import "encoding/binary"

// thrift writes Thrift's compact protocol, in which Parquet describes its pages and files.
type thrift struct {
	bytes []byte
	last  []int // number of the last field of each open struct
}

// The types of fields and elements.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftInt32  = 5
	thriftInt64  = 6
	thriftText   = 8
	thriftList   = 9
	thriftStruct = 12
)

// begin begins a struct that is a list's element, or the whole message.
func (t *thrift) begin() { t.last = append(t.last, 0) }

// end ends a struct.
func (t *thrift) end() {
	t.bytes = append(t.bytes, 0)
	t.last = t.last[:len(t.last)-1]
}

// field begins a field of the open struct. Numbers grow by at most 15.
func (t *thrift) field(number int, kind byte) {
	open := &t.last[len(t.last)-1]
	t.bytes = append(t.bytes, byte(number-*open)<<4|kind)
	*open = number
}

func (t *thrift) bool(number int, v bool) {
	if v {
		t.field(number, thriftTrue)
	} else {
		t.field(number, thriftFalse)
	}
}

func (t *thrift) int32(number int, v int32) {
	t.field(number, thriftInt32)
	t.bytes = binary.AppendVarint(t.bytes, int64(v))
}

func (t *thrift) int64(number int, v int64) {
	t.field(number, thriftInt64)
	t.bytes = binary.AppendVarint(t.bytes, v)
}

func (t *thrift) text(number int, v string) {
	t.field(number, thriftText)
	t.element(v)
}

// element appends an element of a list of texts.
func (t *thrift) element(v string) {
	t.bytes = append(binary.AppendUvarint(t.bytes, uint64(len(v))), v...)
}

// open begins a field that is a struct.
func (t *thrift) open(number int) {
	t.field(number, thriftStruct)
	t.begin()
}

// empty adds a field that is a struct without fields.
func (t *thrift) empty(number int) {
	t.open(number)
	t.end()
}

// list begins a field that is a list; its elements follow.
func (t *thrift) list(number int, kind byte, size int) {
	const short = 15 // lists of fewer elements have their size in the first byte
	t.field(number, thriftList)
	if size < short {
		t.bytes = append(t.bytes, byte(size)<<4|kind)
		return
	}
	t.bytes = binary.AppendUvarint(append(t.bytes, short<<4|kind), uint64(size))
}
