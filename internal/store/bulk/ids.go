package bulk

import (
	"context"
	"fmt"

	"github.com/lib/pq"
)

// RaiseID makes a table continue with ids after last, unless it already does. Ids up to last
// were assigned by another system.
func (t *Tx) RaiseID(ctx context.Context, table string, last int64) error {
	known, err := t.LastID(ctx, table)
	if err != nil || last <= known {
		return err
	}
	if t.postgres {
		return t.exec(ctx, fmt.Sprintf("SELECT setval(%s, %d)", t.sequence(table), last))
	}
	// SQLite's table of sequences has no unique key.
	name := pq.QuoteLiteral(table)
	return t.exec(ctx,
		"DELETE FROM sqlite_sequence WHERE name = "+name,
		fmt.Sprintf("INSERT INTO sqlite_sequence (name, seq) VALUES (%s, %d)", name, last))
}

// NextIDs reserves n ids of a table, in order. Unlike Lock and LastID it blocks no writer on
// PostgreSQL.
func (t *Tx) NextIDs(ctx context.Context, table string, n int) ([]int64, error) {
	if !t.postgres { // the transaction is the only writer
		ids := make([]int64, n)
		last, err := t.LastID(ctx, table)
		for i := range ids {
			ids[i] = last + 1 + int64(i)
		}
		return ids, err
	}
	// The sub-query looks up the sequence once instead of for each id, and reading an array is
	// faster than reading rows.
	var ids pq.Int64Array
	query := "SELECT coalesce(array_agg(nextval((SELECT " + t.sequence(table) + "))), '{}') FROM generate_series(1, $1)"
	if err := t.tx.QueryRowContext(ctx, query, n).Scan(&ids); err != nil {
		return nil, fmt.Errorf("store: ids of %s: %w", table, err)
	}
	return ids, nil
}
