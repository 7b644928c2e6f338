package dbconn

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"sync/atomic"
	"time"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
)

// askTime is how long the server may take to report what each connection does.
const askTime = 2 * time.Second

// serverState is what the server is doing for a silent connection.
type serverState int

const (
	unknown serverState = iota // the server cannot be asked, or did not respond
	working                    // it is executing a statement
	waiting                    // it is waiting for us, or has closed the connection
)

// askActivity lists the server processes of the connections to this database, and whether each
// has been waiting for its client for longer than bytes are under way. A process in a COPY may
// wait for rows, so it does not count as waiting.
const askActivity = `SELECT pid,
	clock_timestamp() - state_change > interval '1 s' AND coalesce(
		state LIKE 'idle%' OR
		state = 'active' AND (wait_event = 'ClientWrite' OR wait_event = 'ClientRead' AND query NOT ILIKE 'COPY%'),
		false)
FROM pg_stat_activity WHERE backend_type = 'client backend' AND datname = current_database()`

// monitor finds out what a server is doing for each of its connections. A nil monitor reports
// unknown.
type monitor struct {
	connector driver.Connector // a new connection for each query, because open ones may be lost as well
	failures  atomic.Int64     // number of connections that have failed
	patience  atomic.Int64     // a time.Duration: how long a connection waits while the state is unknown
	turn      chan struct{}    // held while asking the server; guards the fields below
	asked     time.Time        // when the server was last asked
	waits     map[int64]bool   // by process: whether it waits for us; nil if the server did not respond
	full      bool             // the server has reached its maximum number of connections
}

func newMonitor(connector driver.Connector) *monitor {
	m := &monitor{connector: connector, turn: make(chan struct{}, 1)}
	m.patience.Store(int64(maxUnexplained))
	return m
}

// waitsFor returns how long a connection waits for a silent server that does not say what it is doing.
func (m *monitor) waitsFor() time.Duration {
	if m == nil {
		return maxUnexplained
	}
	return time.Duration(m.patience.Load())
}

// suspicions returns how many connections have failed so far.
func (m *monitor) suspicions() int64 {
	if m == nil {
		return 0
	}
	return m.failures.Load()
}

// suspect counts a failed connection, so that idle ones are not reused (socket.usable).
func (m *monitor) suspect() {
	if m != nil {
		m.failures.Add(1)
	}
}

// ask returns what the server is doing for the connection of a process. It returns by limit, if
// that is not zero. Concurrent callers share one query.
func (m *monitor) ask(process int64, limit time.Time) serverState {
	if m == nil || process == 0 {
		return unknown
	}
	ctx, cancel := context.WithTimeout(context.Background(), askTime)
	if !limit.IsZero() {
		ctx, cancel = context.WithDeadline(ctx, limit)
	}
	defer cancel()
	select {
	case m.turn <- struct{}{}:
		defer func() { <-m.turn }()
	case <-ctx.Done():
		return unknown
	}
	if time.Since(m.asked) > maxSilence/4 {
		m.waits, m.asked = nil, time.Now()
		waits, err := m.activity(ctx)
		if m.full = pq.As(err, pqerror.TooManyConnections) != nil; err == nil {
			m.waits = waits
		}
	}
	switch waits, there := m.waits[process]; {
	case m.full: // the server responds, so it is probably working for this connection too
		return working
	case m.waits == nil:
		return unknown
	case waits || !there:
		return waiting
	}
	return working
}

// activity asks the server over a new connection, whose own reads end in time.
func (m *monitor) activity(ctx context.Context) (waits map[int64]bool, err error) {
	pool := sql.OpenDB(m.connector)
	defer func() { err = errors.Join(err, pool.Close()) }()
	rows, err := pool.QueryContext(ctx, askActivity)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	waits = map[int64]bool{}
	for rows.Next() {
		var process int64
		var w bool
		if err := rows.Scan(&process, &w); err != nil {
			return nil, err
		}
		waits[process] = w
	}
	return waits, rows.Err()
}
