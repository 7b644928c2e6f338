package store

import (
	"bufio"
	"context"
	"net"
	"time"
)

// keepAlive finds out within 20 s that the peer of an idle connection is gone.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 10 * time.Second, Interval: 3 * time.Second, Count: 3}

// userTimeout is how long sent bytes may stay unacknowledged.
const userTimeout = 20 * time.Second

// dialer dials for lib/pq, and leaves the line where the context says.
type dialer struct {
	net.Dialer
	monitor *monitor
}

func newDialer(m *monitor) *dialer {
	return &dialer{net.Dialer{KeepAliveConfig: keepAlive, ControlContext: setUserTimeout}, m}
}

type lineKey struct{} // of a **line

// DialContext dials within the deadline of ctx, which also bounds what is then said to
// connect. Without a place for the line it is lib/pq that dials, to cancel a statement.
func (d *dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	at, connecting := ctx.Value(lineKey{}).(**line)
	if !connecting {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, cancelTime)
		defer cancel()
	}
	connection, err := d.Dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	s := &socket{Conn: connection, monitor: d.monitor}
	s.proven.Store(d.monitor.suspicions())
	s.until, _ = ctx.Deadline()
	if !connecting {
		return s, nil
	}
	*at = &line{Conn: s, socket: s, in: bufio.NewReader(s)}
	return *at, nil
}

// DialTimeout is part of pq.Dialer, which calls DialContext instead.
func (d *dialer) DialTimeout(network, address string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return d.DialContext(ctx, network, address)
}

// Dial is part of pq.Dialer, which calls DialContext instead.
func (d *dialer) Dial(network, address string) (net.Conn, error) {
	return d.DialTimeout(network, address, connectTimeout)
}
