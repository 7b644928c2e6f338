package dbconn

import (
	"container/list"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync/atomic"

	"chairside/internal/entx/rowscan"
)

const (
	// maxStatements is the maximum number of prepared statements of a connection; the least
	// recently used one is closed to make room.
	maxStatements = 200
	// maxStatementText is the length, in bytes, of the longest statement that is prepared.
	// Longer ones are bulk inserts, which run once and would fill the server's memory.
	maxStatementText = 8 << 10
)

// statementCache is a driver.Connector whose connections prepare each statement that has
// arguments, and reuse it.
//
// Ent passes database/sql the text and arguments of each statement, which costs two round
// trips with lib/pq, and parsing with SQLite. Preparing costs as much the first time, and
// nothing later. The cache belongs to the connection, so it needs no lock, works the same
// inside a transaction, and never needs a second connection while it holds one (as *sql.Stmt
// does, which deadlocks a full pool).
type statementCache struct {
	driver.Connector
	roundTrips *atomic.Int64
	names      Names
	// finalize closes every statement before its connection, because SQLite keeps a
	// connection half open until then. PostgreSQL does not need it.
	finalize bool
	// outdated reports whether a prepared statement failed, without doing anything, because
	// a migration has changed its tables.
	outdated func(error) bool
	confined bool         // connections are confined to the practice of each statement (practice.go)
	pooled   *sharedNames // if the server is behind a pooler (pooled.go)
}

// CachedPostgres wraps the connector of a PostgreSQL server with a cache of prepared
// statements. It adds the round trips of its connections to roundTrips.
func CachedPostgres(connector *Connector, roundTrips *atomic.Int64, names Names) driver.Connector {
	return &statementCache{Connector: connector, roundTrips: roundTrips, names: names, outdated: Outdated}
}

// CachedConfined is CachedPostgres for a role that row-level security confines: every statement
// runs with the practice of its principal.
func CachedConfined(connector *Connector, roundTrips *atomic.Int64, names Names) driver.Connector {
	return &statementCache{Connector: connector, roundTrips: roundTrips, names: names, outdated: Outdated, confined: true}
}

// CachedSQLite wraps the connector of an SQLite file with a cache of prepared statements.
// SQLite prepares a statement again by itself when its tables have changed.
func CachedSQLite(connector driver.Connector, roundTrips *atomic.Int64, names Names) driver.Connector {
	return &statementCache{Connector: connector, roundTrips: roundTrips, names: names, finalize: true, outdated: func(error) bool { return false }}
}

func (s *statementCache) Connect(ctx context.Context) (driver.Conn, error) {
	var network *pipelineConn // set by our dialer for lib/pq
	connection, err := s.Connector.Connect(context.WithValue(ctx, networkKey{}, &network))
	if err != nil {
		return nil, err
	}
	inner, err := wrap(connection, s.roundTrips, s.names)
	if err != nil {
		return nil, err
	}
	if s.confined {
		inner.confined = &confinement{local: s.pooled != nil}
	}
	if s.pooled != nil {
		if network.encrypted {
			return &pooledConn{inner}, nil
		}
		network.shared = newSharedStatements(s.pooled)
	}
	return &cachedConn{conn: inner, origin: s, network: network, byText: map[string]*list.Element{}, recent: list.New()}, nil
}

type driverStmt interface {
	driver.Stmt
	driver.StmtQueryContext
	driver.StmtExecContext
}

// cachedConn is a connection and its prepared statements. database/sql lets one
// goroutine at a time use it.
type cachedConn struct {
	*conn
	origin *statementCache
	byText map[string]*list.Element // of *stmt
	recent *list.List               // of *stmt, the most recently used first

	network          *pipelineConn      // nil on SQLite
	lockPrepared     bool               // the server has prepareLock's statement
	practicePrepared bool               // the server has preparePractice's statement
	lost             bool               // the connection must not be reused
	single           *singleStatementTx // the open transaction, if it is a single-statement one
}

type stmt struct {
	driverStmt
	text    string
	name    string // see Names
	reading bool   // its rows are open, so it cannot run again yet
	dropped bool   // evicted; it is closed together with its rows
}

func (c *cachedConn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	return run(ctx, c, text, args,
		func() (driver.Rows, error) {
			if c.origin.pooled != nil {
				return (&pooledConn{c.conn}).QueryContext(ctx, text, args)
			}
			return c.query(ctx, text, args)
		},
		func(s *stmt) (driver.Rows, error) {
			m := measure(ctx, s.name)
			result, err := s.QueryContext(ctx, args)
			if err != nil {
				m.end(err)
				return nil, err
			}
			s.reading = true
			if refused := c.single.lockRefused(); refused != nil {
				m.end(refused)
				return nil, errors.Join(refused, (&rows{Rows: result, done: s.release}).Close())
			}
			if c.single != nil {
				result = &singleRows{result, c.single}
			}
			return rowscan.WrapRaw(ctx, &rows{Rows: result, confined: c.confined, done: func() error { c.checkCancelled(ctx); m.end(nil); return s.release() }}), nil
		})
}

func (c *cachedConn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	return run(ctx, c, text, args,
		func() (driver.Result, error) {
			if c.origin.pooled != nil {
				return (&pooledConn{c.conn}).ExecContext(ctx, text, args)
			}
			return c.exec(ctx, text, args)
		},
		func(s *stmt) (driver.Result, error) {
			m := measure(ctx, s.name)
			result, err := s.ExecContext(ctx, args)
			if err == nil {
				err = c.single.lockRefused()
			}
			m.end(err)
			return result, err
		})
}

// run executes a text with prepared, or with plain if it is not to be prepared. An outdated
// statement is prepared again, once.
func run[R any](ctx context.Context, c *cachedConn, text string, args []driver.NamedValue, plain func() (R, error), prepared func(*stmt) (R, error)) (none R, err error) {
	for first := true; ; first = false {
		s, err := c.prepare(ctx, text, args)
		if err != nil {
			return none, c.single.notSent(err)
		}
		if err := c.single.admit(s); err != nil {
			return none, err
		}
		if c.origin.pooled != nil {
			c.network.shared.begin(c.inTx)
		}
		if err := c.precede(ctx, s); err != nil {
			return none, c.single.notSent(err)
		}
		if s != nil || c.origin.pooled == nil { // pooledConn counts its own
			c.roundTrips.Add(1)
		}
		if s == nil {
			result, err := plain()
			if err != nil {
				c.confined.forget()
			}
			return result, err
		}
		result, err := prepared(s)
		if err == nil {
			if c.origin.pooled != nil {
				c.network.shared.succeeded()
			}
			return result, nil
		}
		c.undone(err)
		if !first || !c.retry(s, err) {
			c.checkCancelled(ctx)
			return none, c.failed(err)
		}
	}
}

// undone is called after the error of a prepared statement, which has also undone what was sent
// first.
func (c *cachedConn) undone(err error) {
	if c.network != nil {
		c.network.reset()
	}
	if c.origin.pooled != nil {
		c.network.shared.failed()
	}
	c.confined.forget()
	c.practicePrepared = c.practicePrepared && !c.origin.outdated(err) // it may be the one that is missing
}

// checkCancelled marks a PostgreSQL connection as lost if ctx has ended: lib/pq has then asked the
// server to cancel the statement, and a late request could cancel the next statement instead.
func (c *cachedConn) checkCancelled(ctx context.Context) {
	c.lost = c.lost || c.network != nil && ctx.Err() != nil
}

// prepare returns the prepared statement for text, or nil if text is not to be prepared: it is
// long, or it has no arguments and so may contain several statements.
func (c *cachedConn) prepare(ctx context.Context, text string, args []driver.NamedValue) (*stmt, error) {
	if len(args) == 0 || len(text) > maxStatementText {
		return nil, nil
	}
	if element, ok := c.byText[text]; ok {
		s := element.Value.(*stmt)
		if s.reading {
			return nil, nil
		}
		c.recent.MoveToFront(element)
		return s, nil
	}
	m := measure(ctx, prepareName)
	fresh, err := c.conn.PrepareContext(ctx, text)
	m.end(err)
	if err != nil {
		return nil, err
	}
	inner, ok := fresh.(driverStmt)
	if !ok {
		return nil, errors.Join(fmt.Errorf("store: %T cannot be executed with a context", fresh), fresh.Close())
	}
	s := &stmt{driverStmt: inner, text: text, name: c.names.of(text)}
	c.byText[text] = c.recent.PushFront(s)
	if c.recent.Len() > maxStatements {
		return s, c.drop(c.recent.Back().Value.(*stmt))
	}
	return s, nil
}

// retry drops an outdated statement and reports whether it may run again. It may not inside a
// transaction, which the error has already aborted.
func (c *cachedConn) retry(s *stmt, err error) bool {
	if !c.origin.outdated(err) {
		return false
	}
	switch pooled := c.origin.pooled; {
	case pooled != nil && missing(err): // lib/pq's own preparation still holds
		c.network.shared.missing()
		c.single.unsent()
		return !c.inTx
	case pooled != nil: // other server connections have it too
		pooled.forbid(s.text)
	}
	return c.drop(s) == nil && !c.inTx && c.single == nil
}

// failed classifies the error of a prepared statement.
func (c *cachedConn) failed(err error) error {
	if c.single != nil {
		return c.single.failed(err)
	}
	return err
}

// drop removes a statement from the cache.
func (c *cachedConn) drop(s *stmt) error {
	c.recent.Remove(c.byText[s.text])
	delete(c.byText, s.text)
	s.dropped = true
	if s.reading {
		return nil
	}
	return s.Close()
}

// release is called when the statement's rows are closed.
func (s *stmt) release() error {
	s.reading = false
	if s.dropped {
		return s.Close()
	}
	return nil
}

func (c *cachedConn) Close() error {
	var err error
	if c.origin.finalize {
		for _, element := range c.byText {
			err = errors.Join(err, element.Value.(*stmt).Close())
		}
	}
	return errors.Join(err, c.driverConn.Close())
}
