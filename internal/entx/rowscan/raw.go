package rowscan

import (
	"context"
	"database/sql/driver"
)

type key struct{}

// RawRows returns a context for a query whose rows ForEach reads. In this context package
// store returns each row as a single column, so that database/sql does not check and convert
// every column before Scanner does.
func RawRows(ctx context.Context) context.Context { return context.WithValue(ctx, key{}, true) }

// WrapRaw returns the driver's rows as single columns if the query ran in a context of RawRows,
// and unchanged otherwise.
func WrapRaw(ctx context.Context, rows driver.Rows) driver.Rows {
	if ctx.Value(key{}) == nil {
		return rows
	}
	return &rawRows{Rows: rows, values: make([]driver.Value, len(rows.Columns()))}
}

// rawRows returns each row as one value, which Scanner.Scan takes.
type rawRows struct {
	driver.Rows
	values []driver.Value
}

func (w *rawRows) Columns() []string { return []string{"row"} }

func (w *rawRows) Next(to []driver.Value) error {
	to[0] = &w.values
	return w.Rows.Next(w.values)
}
