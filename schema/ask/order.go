package ask

import (
	"bytes"
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"chairside/internal/civil"
	"chairside/schema"
)

// sorted returns the rows of Group in the order of their keys. The keys of a row are prepared once,
// not for each comparison.
func sorted[Row any](rows []Row, columns []Column) []Row {
	type keyed struct {
		keys []any
		row  Row
	}
	all := make([]keyed, len(rows))
	for i, row := range rows {
		all[i].row = row
		v := reflect.ValueOf(&rows[i]).Elem()
		for j, c := range columns {
			if c.key != nil {
				all[i].keys = append(all[i].keys, sortable(v.Field(j)))
			}
		}
	}
	slices.SortFunc(all, func(a, b keyed) int { return slices.CompareFunc(a.keys, b.keys, compare) })
	for i := range all {
		rows[i] = all[i].row
	}
	return rows
}

// text is a text to compare, without regard to case first.
type text struct{ folded, exact string }

// sortable returns the value of a key for compare: an int64, time.Time, civil.Date, uuid.UUID or
// text, and nil for no value.
func sortable(v reflect.Value) any {
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	switch {
	case v.CanInt():
		return v.Int()
	case v.Kind() == reflect.Bool && v.Bool():
		return int64(1)
	case v.Kind() == reflect.Bool:
		return int64(0)
	case v.IsZero():
		return nil
	}
	switch value := v.Interface().(type) {
	case time.Time, civil.Date, uuid.UUID:
		return value
	default:
		exact := fmt.Sprint(value)
		return text{schema.Fold(exact), exact}
	}
}

// compare orders two values of a key. Those without a value come last.
func compare(a, b any) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	switch a := a.(type) {
	case int64:
		return cmp.Compare(a, b.(int64))
	case time.Time:
		return a.Compare(b.(time.Time))
	case civil.Date:
		return a.Compare(b.(civil.Date))
	case uuid.UUID:
		other := b.(uuid.UUID)
		return bytes.Compare(a[:], other[:])
	}
	x, y := a.(text), b.(text)
	return cmp.Or(strings.Compare(x.folded, y.folded), strings.Compare(x.exact, y.exact))
}
