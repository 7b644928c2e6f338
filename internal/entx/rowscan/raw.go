package rowscan

import (
	"context"
	"database/sql/driver"
)

type key struct{}

// RawRows is the context of a query whose rows are for ForEach: package store gives
// each row as one column. Otherwise database/sql checks and converts every column,
// and Row does so again.
func RawRows(ctx context.Context) context.Context { return context.WithValue(ctx, key{}, true) }

// WrapRaw are a driver's rows as the context of their query asks for them.
func WrapRaw(ctx context.Context, rows driver.Rows) driver.Rows {
	if ctx.Value(key{}) == nil {
		return rows
	}
	return &rawRows{Rows: rows, values: make([]driver.Value, len(rows.Columns()))}
}

// whole gives each row as one value, which Row.Scan takes.
type rawRows struct {
	driver.Rows
	values []driver.Value
}

func (w *rawRows) Columns() []string { return []string{"row"} }

func (w *rawRows) Next(to []driver.Value) error {
	to[0] = &w.values
	return w.Rows.Next(w.values)
}
