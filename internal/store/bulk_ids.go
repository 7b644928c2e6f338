package store

import (
	"context"
	"fmt"

	"github.com/lib/pq"
)

// RaiseID makes the next id that a table gives out follow last, unless it does
// already: ids up to last were given out elsewhere.
func (b *Bulk) RaiseID(ctx context.Context, table string, last int64) error {
	known, err := b.LastID(ctx, table)
	if err != nil || last <= known {
		return err
	}
	if b.postgres {
		return b.exec(ctx, fmt.Sprintf("SELECT setval(%s, %d)", b.sequence(table), last))
	}
	// SQLite's table of sequences has no unique key.
	name := pq.QuoteLiteral(table)
	return b.exec(ctx,
		"DELETE FROM sqlite_sequence WHERE name = "+name,
		fmt.Sprintf("INSERT INTO sqlite_sequence (name, seq) VALUES (%s, %d)", name, last))
}

// NextIDs takes n ids of a table, in order, that nobody else gets. Unlike
// Lock and LastID it keeps nobody from writing to the table on PostgreSQL.
func (b *Bulk) NextIDs(ctx context.Context, table string, n int) ([]int64, error) {
	if !b.postgres { // the transaction is the only writer
		ids := make([]int64, n)
		last, err := b.LastID(ctx, table)
		for i := range ids {
			ids[i] = last + 1 + int64(i)
		}
		return ids, err
	}
	// The sequence is looked up once, not for each id, and a list is read faster
	// than rows.
	var ids pq.Int64Array
	query := "SELECT coalesce(array_agg(nextval((SELECT " + b.sequence(table) + "))), '{}') FROM generate_series(1, $1)"
	if err := b.tx.QueryRowContext(ctx, query, n).Scan(&ids); err != nil {
		return nil, fmt.Errorf("store: ids of %s: %w", table, err)
	}
	return ids, nil
}
