package dbconn

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"github.com/lib/pq"
)

const (
	// answerGrace is how long after a statement's deadline the server may take to
	// confirm that it cancelled the statement.
	answerGrace = time.Second
	// endTime is the minimum time for calls without a context: commit, rollback, closing a
	// statement or the connection.
	endTime = 2 * time.Second
)

// Connector connects to a PostgreSQL server. Every read and write of its connections has a
// time limit (socket).
type Connector struct {
	*pq.Connector
	direct bool          // no pooler in between, so each connection has its own server process
	sure   bool          // direct was found out, not set: fails if a pooler has come in between
	grace  time.Duration // answerGrace; 0 for probes

	// Check decides about each new connection; nil accepts all.
	Check *Check
}

// Check asks the server for a text over each new connection. Connect fails unless Accept returns nil for it.
type Check struct {
	Query  string
	Accept func(answer string) error
}

// Server is a PostgreSQL server with the monitor of its connections.
type Server struct {
	monitor *monitor
	direct  bool
	sure    bool
}

// Direct is what is known of the way to a server.
type Direct int

// Without a pooler in between, the monitor can ask the server what it is doing for a connection.
const (
	Behind Direct = iota // a pooler is in between
	Said                 // set in the URL: no pooler, or one that keeps sessions
	Hidden               // TLS hides whether there is one, and connections do not take turns; taken as none
	Found                // Find found none
)

// NewServer returns the server that probe connects to.
func NewServer(probe *Connector, direct Direct) *Server {
	return &Server{newMonitor(probe), direct != Behind, direct == Found}
}

// LimitSilence sets how long a connection waits for a silent server that does not say what it is doing, because it
// is frozen, unreachable or behind a pooler: an hour at first. Behind a pooler it does not end a statement that has a
// deadline.
func (s *Server) LimitSilence(d time.Duration) { s.monitor.patience.Store(int64(d)) }

// Find finds out whether a pooler is in between: it announces a process of its own (BackendKeyData),
// not the one that serves a statement. Where TLS hides what is announced, Find looks whether connections
// take turns on processes.
//
// A pooler that keeps sessions announces its own process too, and, unless TLS hides that, counts as one that does not: no number of queries
// proves that connections will keep their processes. If a pooler in transaction mode were taken for one that keeps
// sessions, clients would share prepared statements and settings, even the practice; the other mistake only costs time.
func Find(ctx context.Context, probe *Connector) (direct Direct, err error) {
	connection, err := probe.Connect(ctx)
	if err != nil {
		return Behind, err
	}
	inner := connection.(*boundedConn)
	defer func() { err = errors.Join(err, inner.Close()) }()
	process, err := queryValue[int64](ctx, inner, askProcess)
	if err != nil {
		return Behind, err
	}
	switch inner.socket.greeting.process {
	case process:
		return Found, nil
	case 0:
		turns, err := takeTurns(ctx, probe, inner)
		if turns {
			return Behind, err
		}
		return Hidden, err
	default:
		return Behind, nil
	}
}

// turnsOrder is the order in which two connections ask for the process that serves them. A pooler that
// hands out its connections one after the other does not give each of them the same one again.
var turnsOrder = []int{0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 1}

// takeTurns reports whether one process of the server serves two open connections, or one connection is
// served by two processes. Both are true behind a pooler in transaction mode, unless it is so busy that
// chance gives each connection the same process again and again. Neither can be true without a pooler, or
// behind one that keeps sessions.
func takeTurns(ctx context.Context, probe *Connector, first *boundedConn) (turns bool, err error) {
	connection, err := probe.Connect(ctx)
	if err != nil {
		return false, err
	}
	both := []*boundedConn{first, connection.(*boundedConn)}
	defer func() { err = errors.Join(err, both[1].Close()) }()
	serves := map[int64]int{} // connections by process
	served := map[int]int64{}
	for _, i := range turnsOrder {
		process, err := queryValue[int64](ctx, both[i], askProcess)
		if err != nil {
			return false, err
		}
		before, known := serves[process]
		if known && before != i || !known && served[i] != 0 {
			return true, nil
		}
		serves[process], served[i] = i, process
	}
	return false, nil
}

const askProcess = "SELECT pg_backend_pid()"

// errPooler refuses a connection through a pooler that was not there at the start: its other
// connections count on statements that stay prepared.
var errPooler = errors.New("store: a pooler is now between this program and PostgreSQL: restart the program")

// Connector returns a connector whose connections are monitored.
func (s *Server) Connector(config pq.Config) (*Connector, error) {
	return newConnector(config, s.monitor, s, answerGrace)
}

// NewProbe returns a connector for short queries, such as the monitor's. Its connections
// are not monitored; each query must end by its deadline.
func NewProbe(config pq.Config) (*Connector, error) { return (&Server{}).Probe(config) }

// Probe is NewProbe, but refuses a pooler if the server had none at the start.
func (s *Server) Probe(config pq.Config) (*Connector, error) {
	config = config.Clone()
	config.ConnectTimeout = min(config.ConnectTimeout, askTime)
	return newConnector(config, nil, s, 0)
}

func newConnector(config pq.Config, m *monitor, s *Server, grace time.Duration) (*Connector, error) {
	connector, err := pq.NewConnectorConfig(config)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	connector.Dialer(newDialer(m, config.ConnectTimeout))
	return &Connector{Connector: connector, direct: s.direct, sure: s.sure, grace: grace}, nil
}

// Connect implements driver.Connector. If the server cannot be reached, Unavailable holds for
// the error.
func (c *Connector) Connect(ctx context.Context) (driver.Conn, error) {
	at, ok := ctx.Value(networkKey{}).(**pipelineConn)
	if !ok {
		at = new(*pipelineConn)
		ctx = context.WithValue(ctx, networkKey{}, at)
	}
	connection, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, unreachable{err}
	}
	inner, ok := connection.(pqConn)
	if !ok || *at == nil {
		return nil, fmt.Errorf("store: %T is not a connection of lib/pq through our dialer: %w", connection, connection.Close())
	}
	s := (*at).socket
	bounded := &boundedConn{pqConn: inner, socket: s, grace: c.grace}
	if c.direct {
		process, err := queryValue[int64](ctx, inner, askProcess)
		if err != nil {
			_ = bounded.Close()
			return nil, unreachable{err}
		}
		if c.sure && s.greeting.process != process {
			return nil, errors.Join(unreachable{errPooler}, bounded.Close())
		}
		s.backend.Store(process)
	}
	if c.Check != nil {
		answer, err := queryValue[string](ctx, inner, c.Check.Query)
		if err == nil {
			err = c.Check.Accept(answer)
		}
		if err != nil {
			_ = bounded.Close()
			return nil, unreachable{err}
		}
	}
	s.ready.Store(true)
	return bounded, nil
}

// unreachable is the error of a connection that could not be made.
type unreachable struct{ error }

func (u unreachable) Unwrap() error { return u.error }

// pqConn is what lib/pq's connection implements.
type pqConn interface {
	driverConn
	driver.Tx
	driver.NamedValueChecker
}

// boundedConn is a connection of lib/pq. Each method passes the deadline of its context
// down to the socket.
type boundedConn struct {
	pqConn
	socket *socket
	grace  time.Duration
}

// limit sets the socket's deadline for work under ctx. At the deadline of ctx itself
// lib/pq asks the server to cancel the statement.
func (c *boundedConn) limit(ctx context.Context) {
	var until time.Time
	if deadline, ok := ctx.Deadline(); ok {
		until = deadline.Add(c.grace)
	}
	c.socket.setDeadline(until)
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

// BeginTx implements driver.ConnBeginTx. It hides the cancellation of ctx from lib/pq, which
// would otherwise keep the function that stops watching ctx and call it at the end of every
// later transaction as well. Nothing is lost: database/sql watches the transaction's context,
// and lib/pq that of each statement.
func (c *boundedConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	c.limit(ctx)
	if _, err := c.pqConn.BeginTx(context.WithoutCancel(ctx), opts); err != nil {
		return nil, err
	}
	return c, nil
}

// Commit implements driver.Tx. It has the time left of the last statement, at least endTime.
func (c *boundedConn) Commit() error {
	c.socket.extend(endTime)
	return c.pqConn.Commit()
}

// Rollback implements driver.Tx. If the server does not respond in time, the connection is
// closed, and the server rolls back by itself.
func (c *boundedConn) Rollback() error {
	c.socket.setDeadline(time.Now().Add(endTime))
	return c.pqConn.Rollback()
}

// Ping implements driver.Pinger.
func (c *boundedConn) Ping(ctx context.Context) error {
	c.limit(ctx)
	return c.pqConn.Ping(ctx)
}

// ResetSession implements driver.SessionResetter. database/sql calls it before it reuses an idle
// connection; a connection that may be broken is replaced before anything is sent.
func (c *boundedConn) ResetSession(ctx context.Context) error {
	if !c.socket.usable() {
		return driver.ErrBadConn
	}
	return c.pqConn.ResetSession(ctx)
}

// Close implements driver.Conn.
func (c *boundedConn) Close() error {
	c.socket.setDeadline(time.Now().Add(endTime))
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
