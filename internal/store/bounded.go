package store

import (
	"context"
	"database/sql/driver"
	"fmt"
	"time"

	"github.com/lib/pq"
)

const (
	// answerGrace is how long the server may take, after the deadline of a statement, to
	// say that it has cancelled it.
	answerGrace = time.Second
	// endTime is the least time for what has no context of its own: to commit, to roll
	// back, to close a statement or the connection.
	endTime = 2 * time.Second
)

// boundedConnector connects to PostgreSQL. Each of its connections carries the deadline
// of a statement's context down to its socket.
type boundedConnector struct {
	*pq.Connector
	monitor *monitor      // nil where nothing watches over silence
	direct  bool          // no pooler is in between, so the process at the other end is ours
	grace   time.Duration // answerGrace, or less
}

// Connect fails as unavailable, whatever was at the other end.
func (b *boundedConnector) Connect(ctx context.Context) (driver.Conn, error) {
	at, ok := ctx.Value(lineKey{}).(**line)
	if !ok {
		at = new(*line)
		ctx = context.WithValue(ctx, lineKey{}, at)
	}
	connection, err := b.Connector.Connect(ctx)
	if err != nil {
		return nil, unreachable{err}
	}
	inner, ok := connection.(pqConn)
	if !ok || *at == nil {
		return nil, fmt.Errorf("store: %T is not a connection of lib/pq through our dialer: %w", connection, connection.Close())
	}
	s := (*at).socket
	c := &boundedConn{pqConn: inner, socket: s, grace: b.grace}
	if b.direct {
		process, err := ask[int64](ctx, inner, "SELECT pg_backend_pid()")
		if err != nil {
			_ = c.Close()
			return nil, unreachable{err}
		}
		s.backend.Store(process)
	}
	s.ready.Store(true)
	return c, nil
}

// unreachable is the error of a connection that could not be made: fault.Unavailable,
// whatever it wraps.
type unreachable struct{ error }

func (u unreachable) Unwrap() error { return u.error }

// pqConn is what lib/pq's connection implements.
type pqConn interface {
	driverConn
	driver.Tx
	driver.NamedValueChecker
}

// boundedConn is a connection of lib/pq. Each method sets the deadline of what it asks.
type boundedConn struct {
	pqConn
	socket *socket
	grace  time.Duration
}

// limit sets the deadline of what is asked under ctx. lib/pq has the server cancel it at
// the deadline of ctx itself.
func (c *boundedConn) limit(ctx context.Context) {
	var until time.Time
	if deadline, ok := ctx.Deadline(); ok {
		until = deadline.Add(c.grace)
	}
	c.socket.setUntil(until)
}

// QueryContext implements driver.QueryerContext. The deadline is also that of the rows.
func (c *boundedConn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	c.limit(ctx)
	return c.pqConn.QueryContext(ctx, text, args)
}

// ExecContext implements driver.ExecerContext.
func (c *boundedConn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	c.limit(ctx)
	return c.pqConn.ExecContext(ctx, text, args)
}

// PrepareContext implements driver.ConnPrepareContext. The deadline is also that of the
// rows of a COPY, whose statement takes no context.
func (c *boundedConn) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	c.limit(ctx)
	s, err := c.pqConn.PrepareContext(ctx, text)
	if inner, ok := s.(driverStmt); ok && err == nil {
		return &boundedStmt{driverStmt: inner, conn: c}, nil
	}
	return s, err
}

// BeginTx implements driver.ConnBeginTx. lib/pq is not to watch ctx: it would leave a
// function on the connection that stops watching, and call it at the end of every later
// transaction too. database/sql watches the context of the transaction, lib/pq that of
// each statement.
func (c *boundedConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	c.limit(ctx)
	if _, err := c.pqConn.BeginTx(context.WithoutCancel(ctx), opts); err != nil {
		return nil, err
	}
	return c, nil
}

// Commit implements driver.Tx. It has the time that the last statement left.
func (c *boundedConn) Commit() error {
	c.socket.extend(endTime)
	return c.pqConn.Commit()
}

// Rollback implements driver.Tx. A connection that does not roll back in time is given
// up, and the server then rolls back by itself.
func (c *boundedConn) Rollback() error {
	c.socket.setUntil(time.Now().Add(endTime))
	return c.pqConn.Rollback()
}

// Ping implements driver.Pinger.
func (c *boundedConn) Ping(ctx context.Context) error {
	c.limit(ctx)
	return c.pqConn.Ping(ctx)
}

// ResetSession implements driver.SessionResetter: it is called before an idle connection
// is used. A suspect one is replaced, before anything is sent on it.
func (c *boundedConn) ResetSession(ctx context.Context) error {
	if !c.socket.usable() {
		return driver.ErrBadConn
	}
	return c.pqConn.ResetSession(ctx)
}

// Close implements driver.Conn.
func (c *boundedConn) Close() error {
	c.socket.setUntil(time.Now().Add(endTime))
	return c.pqConn.Close()
}

// boundedStmt is a prepared statement of a boundedConn.
type boundedStmt struct {
	driverStmt
	conn *boundedConn
}

// QueryContext implements driver.StmtQueryContext.
func (s *boundedStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	s.conn.limit(ctx)
	return s.driverStmt.QueryContext(ctx, args)
}

// ExecContext implements driver.StmtExecContext.
func (s *boundedStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	s.conn.limit(ctx)
	return s.driverStmt.ExecContext(ctx, args)
}

// Close implements driver.Stmt.
func (s *boundedStmt) Close() error {
	s.conn.socket.extend(endTime)
	return s.driverStmt.Close()
}

// ask asks a question whose answer is one value.
func ask[V any](ctx context.Context, c driver.QueryerContext, text string) (v V, err error) {
	rows, err := c.QueryContext(ctx, text, nil)
	if err != nil {
		return v, err
	}
	value := make([]driver.Value, 1)
	err = rows.Next(value)
	v, ok := value[0].(V)
	switch closed := rows.Close(); {
	case err != nil:
		return v, err
	case !ok:
		return v, fmt.Errorf("store: %T is not the type of the answer to %q", value[0], text)
	default:
		return v, closed
	}
}
