package rowscan

import (
	"context"
	"database/sql/driver"
)

type key struct{}

// RawRows returns a context for a query whose rows ForEach reads: package store returns
// each row as one column. Otherwise database/sql checks and converts every column,
// and Scanner does so again.
func RawRows(ctx context.Context) context.Context { return context.WithValue(ctx, key{}, true) }

// WrapRaw returns the driver's rows in the form that the context of their query asks for.
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
