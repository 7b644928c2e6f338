package store

import (
	"encoding/json"
	"fmt"

	"github.com/lib/pq"
)

// In is the condition that a column has one of many values, which are texts or
// whole numbers, and the one argument for it: that of $place. A list of
// thousands of arguments takes the databases longer to read than to look up.
func (b *Bulk) In(column string, place int, values []any) (condition string, argument any) {
	if b.postgres {
		texts := make(pq.StringArray, len(values))
		for i, v := range values {
			texts[i] = fmt.Sprint(v)
		}
		return fmt.Sprintf("%s = ANY ($%d)", column, place), texts
	}
	list, _ := json.Marshal(values) // texts and numbers always marshal
	return fmt.Sprintf("%s IN (SELECT value FROM json_each($%d))", column, place), string(list)
}
