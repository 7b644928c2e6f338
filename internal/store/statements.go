package store

import (
	"container/list"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"hash/maphash"
	"sync/atomic"

	"chairside/internal/row"
)

const (
	// maxStatements bounds the prepared statements of one connection; the one
	// unused for longest makes room.
	maxStatements = 200
	// maxStatementText is the longest statement kept, in bytes: bulk inserts
	// come once, and would fill the server's memory.
	maxStatementText = 8 << 10
	// maxHeard bounds the texts of a connection that were heard of once.
	maxHeard = 1000
)

// statements is a driver.Connector whose connections prepare a statement with
// arguments when it comes for the second time, and use it again. The first time
// it is sent like any other, which takes the same two round trips: who reads all
// pages of a list, each another statement, drives none out of the cache. What is to
// be a transaction alone is prepared at once.
//
// Ent hands database/sql a text and arguments each time, which costs lib/pq two
// round trips and SQLite a parse. The cache is the connection's own, so it
// needs no lock, works the same inside a transaction, and never takes a second
// connection while holding one (as *sql.Stmt does, which deadlocks a full
// pool).
type statements struct {
	driver.Connector
	asked *atomic.Int64 // round trips
	// finalize closes every statement before its connection. PostgreSQL drops
	// them by itself; SQLite keeps a connection half open until they are closed.
	finalize bool
	// outdated recognises the error of a statement that can no longer run as it
	// was prepared (a migration changed its tables) and has done nothing.
	outdated func(error) bool
}

func (s *statements) Connect(ctx context.Context) (driver.Conn, error) {
	var l *line // where lib/pq dials it
	connection, err := s.Connector.Connect(context.WithValue(ctx, lineKey{}, &l))
	if err != nil {
		return nil, err
	}
	inner, err := track(connection, s.asked)
	if err != nil {
		return nil, err
	}
	return &conn{tracked: inner, origin: s, line: l, byText: map[string]*list.Element{}, recent: list.New(), heard: map[uint64]struct{}{}}, nil
}

type driverStmt interface {
	driver.Stmt
	driver.StmtQueryContext
	driver.StmtExecContext
}

// conn is one connection and its prepared statements. database/sql lets one
// goroutine at a time use it.
type conn struct {
	*tracked
	origin *statements
	byText map[string]*list.Element // of *stmt
	recent *list.List               // of *stmt, the most recently used first
	heard  map[uint64]struct{}      // hashes of texts that came once

	line       *line  // nil where there is none
	locksReady bool   // lockAhead can be executed
	lost       bool   // what was prepared may be gone
	alone      *alone // the transaction under way, where it is one of one statement
}

var hashes = maphash.MakeSeed()

type stmt struct {
	driverStmt
	text    string
	reading bool // its rows are open, so it cannot be executed again yet
	dropped bool // no longer in the cache: closed when its rows are
}

func (c *conn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	return run(ctx, c, text, args,
		func() (driver.Rows, error) { return c.query(ctx, text, args) },
		func(s *stmt) (driver.Rows, error) {
			result, err := s.QueryContext(ctx, args)
			if err != nil {
				return nil, err
			}
			s.reading = true
			if refused := c.alone.refused(); refused != nil {
				return nil, errors.Join(refused, (&rows{Rows: result, done: s.free}).Close())
			}
			return row.Given(ctx, &rows{Rows: result, done: func() error { c.over(ctx); return s.free() }}), nil
		})
}

func (c *conn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	return run(ctx, c, text, args,
		func() (driver.Result, error) { return c.driverConn.ExecContext(ctx, text, args) },
		func(s *stmt) (driver.Result, error) {
			result, err := s.ExecContext(ctx, args)
			if err == nil {
				err = c.alone.refused()
			}
			return result, err
		})
}

// run has a text executed as it is, or the statement for it where there is one; that
// is prepared anew, once, where retry finds it outdated.
func run[R any](ctx context.Context, c *conn, text string, args []driver.NamedValue, plain func() (R, error), kept func(*stmt) (R, error)) (none R, err error) {
	for first := true; ; first = false {
		s, err := c.prepared(ctx, text, args)
		if err != nil {
			return none, c.alone.unsent(err)
		}
		if err := c.alone.admit(s); err != nil {
			return none, err
		}
		c.asked.Add(1)
		if s == nil {
			return plain()
		}
		result, err := kept(s)
		if err == nil {
			return result, nil
		}
		if !first || !c.retry(s, err) {
			c.over(ctx)
			return none, c.failed(err)
		}
	}
}

// over gives up a connection to PostgreSQL on which a statement was cancelled with ctx:
// the request to cancel it may arrive late and end the next one.
func (c *conn) over(ctx context.Context) { c.lost = c.lost || c.line != nil && ctx.Err() != nil }

// prepared gives the statement for text, or nil where it is not to be cached, or
// not yet: what has no arguments may be several statements at once.
func (c *conn) prepared(ctx context.Context, text string, args []driver.NamedValue) (*stmt, error) {
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
	if c.alone == nil && !c.heardBefore(text) {
		return nil, nil
	}
	fresh, err := c.tracked.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	inner, ok := fresh.(driverStmt)
	if !ok {
		return nil, errors.Join(fmt.Errorf("store: %T cannot be executed with a context", fresh), fresh.Close())
	}
	s := &stmt{driverStmt: inner, text: text}
	c.byText[text] = c.recent.PushFront(s)
	if c.recent.Len() > maxStatements {
		return s, c.drop(c.recent.Back().Value.(*stmt))
	}
	return s, nil
}

// heardBefore reports whether text comes for the second time. It forgets all that it
// has heard when that becomes too much.
func (c *conn) heardBefore(text string) bool {
	hash := maphash.String(hashes, text)
	if _, ok := c.heard[hash]; ok {
		delete(c.heard, hash)
		return true
	}
	if len(c.heard) == maxHeard {
		clear(c.heard)
	}
	c.heard[hash] = struct{}{}
	return false
}

// retry drops a statement that is out of date and reports whether it may be
// executed again: inside a transaction the error has already ended everything.
func (c *conn) retry(s *stmt, err error) bool {
	if !c.origin.outdated(err) {
		return false
	}
	return c.drop(s) == nil && !c.inTx && c.alone == nil
}

// failed gives the error of a prepared statement its meaning.
func (c *conn) failed(err error) error {
	if c.alone != nil {
		return c.alone.failed(err)
	}
	return err
}

// drop removes a statement from the cache.
func (c *conn) drop(s *stmt) error {
	c.recent.Remove(c.byText[s.text])
	delete(c.byText, s.text)
	s.dropped = true
	if s.reading {
		return nil
	}
	return s.Close()
}

// free is called when the statement's rows are closed.
func (s *stmt) free() error {
	s.reading = false
	if s.dropped {
		return s.Close()
	}
	return nil
}

func (c *conn) Close() error {
	var err error
	if c.origin.finalize {
		for _, element := range c.byText {
			err = errors.Join(err, element.Value.(*stmt).Close())
		}
	}
	return errors.Join(err, c.driverConn.Close())
}
