package dbconn

import (
	"context"
	"database/sql/driver"
	"fmt"
)

// copier is lib/pq's statement for COPY FROM STDIN.
type copier interface {
	driver.Stmt
	CopyData(ctx context.Context, lines string) (driver.Result, error)
}

// copyStmt is the statement of a COPY. Its only argument is a chunk of rows in COPY's text
// format; a call without argument ends the COPY. Passing each value through database/sql would
// take longer than writing the rows.
type copyStmt struct{ copier }

func (s copyStmt) Exec(values []driver.Value) (driver.Result, error) {
	if len(values) == 0 {
		return s.copier.Exec(nil)
	}
	lines, ok := values[0].([]byte)
	if !ok || len(values) > 1 {
		return nil, fmt.Errorf("store: COPY takes rows as text, not %d values", len(values))
	}
	return s.CopyData(context.Background(), string(lines)) // database/sql has checked its context
}

// PrepareContext prepares a statement. One that is a COPY takes its rows as text.
func (c *conn) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	s, err := c.driverConn.PrepareContext(ctx, text)
	if rows, ok := s.(copier); err == nil && ok {
		return copyStmt{rows}, nil
	}
	return s, err
}
