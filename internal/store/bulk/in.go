package bulk

import (
	"encoding/json"
	"fmt"

	"github.com/lib/pq"
)

// In returns the condition that a column has one of many values, texts or whole numbers, and
// its only argument, $place. With an argument for each of thousands of values, parsing the
// statement would take longer than finding the rows.
func (t *Tx) In(column string, place int, values []any) (condition string, argument any) {
	if t.postgres {
		texts := make(pq.StringArray, len(values))
		for i, v := range values {
			texts[i] = fmt.Sprint(v)
		}
		return fmt.Sprintf("%s = ANY ($%d)", column, place), texts
	}
	list, _ := json.Marshal(values) // texts and numbers always marshal
	return fmt.Sprintf("%s IN (SELECT value FROM json_each($%d))", column, place), string(list)
}
