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

// verdict is what the server does for a silent connection.
type verdict int

const (
	unknown verdict = iota // it cannot be asked
	working                // it executes a statement
	waiting                // it waits for us, or the connection has ended there
)

// askActivity lists the connections to this database by process, and whether each has
// waited for its client for longer than bytes take to travel. One in a COPY may rightly
// wait for rows.
const askActivity = `SELECT pid,
	clock_timestamp() - state_change > interval '1 s' AND coalesce(
		state LIKE 'idle%' OR
		state = 'active' AND (wait_event = 'ClientWrite' OR wait_event = 'ClientRead' AND query NOT ILIKE 'COPY%'),
		false)
FROM pg_stat_activity WHERE backend_type = 'client backend' AND datname = current_database()`

// monitor finds out what one server does for each of its connections. A nil monitor
// reports unknown.
type monitor struct {
	connector driver.Connector // connects anew for each query: open connections may be lost as well
	failures  atomic.Int64     // how often a connection failed
	turn      chan struct{}    // held while the server is asked
	asked     time.Time        // when the server was last asked
	waits     map[int64]bool   // by process: whether it waits for us; nil where the server did not answer
	full      bool             // the server answered that it takes no more connections
}

func newMonitor(connector driver.Connector) *monitor {
	return &monitor{connector: connector, turn: make(chan struct{}, 1)}
}

// suspicions is how many connections have failed so far.
func (m *monitor) suspicions() int64 {
	if m == nil {
		return 0
	}
	return m.failures.Load()
}

// suspect records that a connection has failed, so idle ones are not used again.
func (m *monitor) suspect() {
	if m != nil {
		m.failures.Add(1)
	}
}

// ask returns what the server does for the connection of a process, by limit at the
// latest. Callers at the same time share one answer.
func (m *monitor) ask(process int64, limit time.Time) verdict {
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
	case m.full: // so it works, if perhaps not for this one
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
