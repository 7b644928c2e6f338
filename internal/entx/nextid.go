package entx

import (
	"context"
	"fmt"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"
)

// NextID reserves the next integer id of a table. On SQLite, where a transaction is the only
// writer, the id is free until the transaction ends.
func NextID(ctx context.Context, driver dialect.Driver, table string) (int64, error) {
	query := "SELECT nextval(pg_get_serial_sequence('\"" + table + "\"', 'id'))"
	if driver.Dialect() != dialect.Postgres {
		query = `SELECT max(coalesce((SELECT max(id) FROM "` + table + `"), 0), coalesce((SELECT seq FROM sqlite_sequence WHERE name = '` + table + `'), 0)) + 1`
	}
	rows := &sql.Rows{}
	if err := driver.Query(ctx, query, []any{}, rows); err != nil {
		return 0, fmt.Errorf("ent: next id of %s: %w", table, err)
	}
	defer rows.Close()
	id, err := sql.ScanInt64(rows)
	if err != nil {
		return 0, fmt.Errorf("ent: next id of %s: %w", table, err)
	}
	return id, nil
}
