// Package table describes the tables of the schema as data, for code that handles rows of any
// table: dumps and imports. The generator writes the descriptions (ent.Tables).
//
//	table.go  tables, columns, unique keys
//	value.go  the values of a column: scanned, as text, as stored
//	words.go  names for readers
package table

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"

	"chairside/internal/apispec/limit"
	"chairside/internal/codec"
)

// Table is a table of the schema.
type Table struct {
	Name    string   // patients
	Type    string   // ent's name, as in the audit log: Patient
	Columns []Column // the id first
	Unique  []Key

	named map[string]*Column
}

// Column is a column of a table.
type Column struct {
	codec.Field                                          // how the API reads a value, or would if clients could write the column
	Stored      Kind                                     // how the databases store a value
	Null        bool                                     // whether the column is nullable
	Initial     any                                      // default of a new row; nil without a default, and for JSON columns
	ReadOnly    bool                                     // set only by this program: ids, hashes, derived columns
	References  string                                   // table that it references; "" if none
	Limit       *limit.Column                            // nil without a limit
	ParseJSON   func(s string) (content, message string) // only for JSON columns
}

// IsSealed reports whether a column is encrypted (package seal).
func (c *Column) IsSealed() bool { return c.Limit != nil && c.Limit.Sealed }

// Key is a unique key: no two rows have the same values in its columns.
type Key struct {
	Columns []string
	Unless  string // rows with a value in this column are exempt; "" if none are
}

// Last returns the last column, the one that identifies a row to people.
func (k Key) Last() string { return k.Columns[len(k.Columns)-1] }

// Link completes generated descriptions with limits and an index of columns by name.
func Link(limits []limit.Column, tables ...*Table) []*Table {
	for _, t := range tables {
		t.named = make(map[string]*Column, len(t.Columns))
		for i := range t.Columns {
			t.named[t.Columns[i].Name] = &t.Columns[i]
		}
		for i, l := range limits {
			if l.Table == t.Name {
				t.named[l.Name].Limit = &limits[i]
			}
		}
	}
	return tables
}

// Column returns a column by name, or nil.
func (t *Table) Column(name string) *Column { return t.named[name] }

// Has reports whether the table has a column.
func (t *Table) Has(column string) bool { return t.named[column] != nil }

// Numbered reports whether the database assigns integer ids.
func (t *Table) Numbered() bool { return t.Columns[0].Stored == Integer }

// Names returns the names of all columns.
func (t *Table) Names() []string {
	names := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i] = c.Name
	}
	return names
}

// Quote quotes names of tables or columns for SQL; both databases take double quotes.
func Quote(names ...string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = `"` + strings.ReplaceAll(n, `"`, `""`) + `"`
	}
	return strings.Join(quoted, ", ")
}

// Scan returns n values and the pointers to them, for rows.Scan.
func Scan(n int) (values, places []any) {
	values, places = make([]any, n), make([]any, n)
	for i := range values {
		places[i] = &values[i]
	}
	return values, places
}

// JSONOf returns c as a column that stores a T as JSON.
func JSONOf[T any](c Column) Column {
	c.ParseJSON = func(s string) (string, string) {
		var v T
		err := json.Unmarshal([]byte(s), &v)
		content, marshal := json.Marshal(v)
		kind := map[reflect.Kind]string{reflect.Slice: "a list", reflect.Map: "an object", reflect.Struct: "an object"}[reflect.TypeFor[T]().Kind()]
		switch {
		case err != nil || marshal != nil || string(content) == "null":
			return "", "must be the JSON of " + kind
		case holdsNUL(content):
			return "", "must not contain NUL"
		}
		return string(content), ""
	}
	return c
}

// holdsNUL reports whether a string in a JSON document contains NUL, which PostgreSQL cannot
// store.
func holdsNUL(content []byte) bool {
	tokens := json.NewDecoder(bytes.NewReader(content))
	for {
		token, err := tokens.Token()
		if err != nil { // the document is well-formed, so this is its end
			return false
		}
		if text, ok := token.(string); ok && strings.ContainsRune(text, 0) {
			return true
		}
	}
}
