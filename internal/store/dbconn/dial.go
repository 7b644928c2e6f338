package dbconn

import (
	"bufio"
	"context"
	"net"
	"time"
)

// keepAlive detects within 20 s that the peer of an idle connection has vanished.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 10 * time.Second, Interval: 3 * time.Second, Count: 3}

// userTimeout is how long sent bytes may stay unacknowledged.
const userTimeout = 20 * time.Second

// dialer dials for lib/pq. It stores the connection in the place that the context carries
// (networkKey), because lib/pq does not give it out.
type dialer struct {
	net.Dialer
	monitor *monitor
	timeout time.Duration // of Dial
}

func newDialer(m *monitor, timeout time.Duration) *dialer {
	return &dialer{net.Dialer{KeepAliveConfig: keepAlive, ControlContext: setUserTimeout}, m, timeout}
}

// networkKey is the context key of the **pipelineConn that receives the connection.
type networkKey struct{}

// DialContext dials within the deadline of ctx, which also limits the handshake. If ctx carries
// no place for the connection, lib/pq is dialling to cancel a statement.
func (d *dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	at, connecting := ctx.Value(networkKey{}).(**pipelineConn)
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
	s.seenFailures.Store(d.monitor.suspicions())
	s.deadline, _ = ctx.Deadline()
	if !connecting {
		return s, nil
	}
	*at = &pipelineConn{Conn: s, socket: s, in: bufio.NewReader(s)}
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
	return d.DialTimeout(network, address, d.timeout)
}
