package extract

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/go-faster/jx"

	"chairside/internal/codec"
	"chairside/internal/list"
	"chairside/ogent"
)

// The columns that every row begins with.
const (
	runColumn     = "_run"     // number of the run that wrote the row
	deletedColumn = "_deleted" // whether the record was deleted; the row then has only its id
)

// column is a column of a resource's files: a member of its documents.
type column struct {
	name string
	kind codec.Kind
}

// columnsOf returns the columns of a resource, the id first.
func columnsOf(r ogent.Resource, unsealed bool) (columns []column) {
	for _, m := range r.Members {
		if m.Own && (unsealed || !m.Sealed) {
			columns = append(columns, column{m.Name, m.Kind})
		}
	}
	return columns
}

// fingerprint identifies the columns of resources: an extract cannot go on with others.
func fingerprint(resources []string, unsealed bool) string {
	sum := sha256.New()
	for _, name := range resources {
		fmt.Fprintln(sum, name)
		for _, c := range columnsOf(ogent.Resources[name], unsealed) {
			fmt.Fprintln(sum, c.name, c.kind)
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// row is one row: the JSON of each column's value; nil for null.
type row struct {
	deleted bool
	values  []jx.Raw
}

// reader makes rows of a resource's documents. The values are valid until the next row.
type reader struct {
	columns []column
	at      map[string]int // place of a column, by name
	row     row
}

func newReader(columns []column) *reader {
	r := &reader{columns: columns, at: map[string]int{}, row: row{values: make([]jx.Raw, len(columns))}}
	for i, c := range columns {
		r.at[c.name] = i
	}
	return r
}

// record returns the row of a document. It fails if the document lacks a column.
func (r *reader) record(d list.Document) (*row, error) {
	clear(r.row.values)
	r.row.deleted = false
	found := 0
	err := jx.DecodeBytes(d.JSON).ObjBytes(func(d *jx.Decoder, key []byte) error {
		i, ok := r.at[string(key)]
		if !ok {
			return d.Skip()
		}
		null := d.Next() == jx.Null
		raw, err := d.Raw()
		if !null {
			r.row.values[i] = raw
		}
		found++
		return err
	})
	if err == nil && found != len(r.columns) {
		err = fmt.Errorf("it has %d of %d columns", found, len(r.columns))
	}
	return &r.row, err
}

// deletion returns the row of a record that was deleted.
func (r *reader) deletion(id string) *row {
	clear(r.row.values)
	r.row.deleted = true
	if r.columns[0].kind == codec.UUID {
		id = strconv.Quote(id)
	}
	r.row.values[0] = jx.Raw(id)
	return &r.row
}

// isJSON reports whether the values of a kind are lists or objects. Parquet stores them as JSON.
func isJSON(k codec.Kind) bool {
	switch k {
	case codec.Object, codec.Metadata, codec.Answers, codec.Strings:
		return true
	}
	return false
}
