package bulk

import (
	"context"
	"fmt"
	"strconv"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"

	"chairside/internal/store"
)

// planOnce are the statements to run after ANALYZE on SQLite, so that it plans each statement
// only once. ANALYZE also stores samples of values, and with samples SQLite plans a statement
// again whenever its arguments are set, which takes three times as long as reading a row. So
// the samples are deleted. They had one use: they showed that nearly all rows of an embedded
// database belong to one practice. Instead, the averages are changed to say that all rows do.
// (stat lists the number of rows in an index, then the average number of rows with the same
// first column, with the same first two columns, and so on.)
var planOnce = []string{
	"DELETE FROM sqlite_stat4",
	`UPDATE sqlite_stat1
	SET stat = CAST(stat AS integer) || ' ' || CAST(stat AS integer) ||
		substr(stat, length(CAST(stat AS integer) || ' ' || CAST(substr(stat, instr(stat, ' ')) AS integer)) + 1)
	WHERE (SELECT name FROM pragma_index_info(idx) WHERE seqno = 0) = 'practice_id'`,
	"ANALYZE sqlite_schema", // makes this connection reload the statistics
}

// Measure updates SQLite's statistics of tables that have none, or that have since grown
// tenfold. Call it before anything else uses the database, because open connections do not
// reload statistics. PostgreSQL updates its own.
func Measure(ctx context.Context, db *store.DB) error {
	if db.Dialect != dialect.SQLite {
		return nil
	}
	statements, err := due(ctx, db)
	if err != nil || len(statements) == 0 {
		return err
	}
	return Load(ctx, db, func(t *Tx) error { return t.exec(ctx, append(statements, planOnce...)...) })
}

// due returns the ANALYZE statements that are due, according to SQLite.
func due(ctx context.Context, db *store.DB) (statements []string, err error) {
	const listOnly = 0x10003                                                             // list the statements for all tables, do not run them
	rows, err := db.SQL.QueryContext(ctx, "PRAGMA optimize("+strconv.Itoa(listOnly)+")") //nolint:rowserrcheck // ScanSlice returns it
	if err != nil {
		return nil, fmt.Errorf("store: measure tables: %w", err)
	}
	defer rows.Close()
	if err := entsql.ScanSlice(rows, &statements); err != nil {
		return nil, fmt.Errorf("store: measure tables: %w", err)
	}
	return statements, nil
}
