package bulk

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/lib/pq"
)

// SetColumn is a column that Update sets: its name, and its PostgreSQL type.
type SetColumn struct{ Name, Type string }

// Update sets columns of many rows of a practice. Each row of values begins with the id.
func (t *Tx) Update(ctx context.Context, table, practice string, columns []SetColumn, rows [][]any) error {
	names, sets := make([]string, len(columns)), make([]string, len(columns)-1)
	for i, c := range columns {
		if names[i] = t.name(c.Name); i > 0 {
			sets[i-1] = names[i] + " = v." + names[i]
		}
	}
	most := len(rows)
	if !t.postgres {
		most = sqliteVariables/len(columns) - 1
	}
	for len(rows) > 0 {
		part := rows[:min(most, len(rows))]
		rows = rows[len(part):]
		values, args := t.values(columns, part)
		place := "?"
		if t.postgres {
			place = fmt.Sprintf("$%d", len(args)+1)
		}
		statement := fmt.Sprintf("WITH v (%s) AS (%s) UPDATE %s AS t SET %s FROM v WHERE t.%s = v.%s AND t.practice_id = %s",
			strings.Join(names, ", "), values, t.name(table), strings.Join(sets, ", "), names[0], names[0], place)
		args = append(args, practice)
		if _, err := t.tx.ExecContext(ctx, statement, args...); err != nil {
			return fmt.Errorf("store: update %s: %w", table, err)
		}
	}
	return nil
}

// values returns a query of the rows and its arguments. On PostgreSQL it has one array argument
// for each column, because parsing an argument for each value would be slow.
func (t *Tx) values(columns []SetColumn, rows [][]any) (query string, args []any) {
	if !t.postgres {
		tuple := "(" + strings.Repeat("?, ", len(columns)-1) + "?)"
		for _, r := range rows {
			args = append(args, r...)
		}
		return "VALUES " + strings.Repeat(tuple+", ", len(rows)-1) + tuple, args
	}
	arrays := make([]string, len(columns))
	for i, c := range columns {
		list := make([]any, len(rows))
		for k, r := range rows {
			if list[k] = r[i]; c.Type == "bytea" && r[i] != nil {
				list[k] = `\x` + hex.EncodeToString(r[i].([]byte))
			}
		}
		arrays[i] = fmt.Sprintf("$%d::%s[]", i+1, c.Type)
		args = append(args, pq.Array(list))
	}
	return "SELECT * FROM unnest(" + strings.Join(arrays, ", ") + ")", args
}
