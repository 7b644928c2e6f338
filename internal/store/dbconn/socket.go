package dbconn

import (
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// Limits of a connection to PostgreSQL.
const (
	// maxSilence is how long the server may be silent before we ask it, over another
	// connection, whether it is still working for this one.
	maxSilence = 2 * time.Second
	// lastChance is how long we still wait for bytes once the server has said that it is
	// waiting for us.
	lastChance = 500 * time.Millisecond
	// maxUnexplained is how long a connection waits for a silent server that does not say what it
	// is doing, unless LimitSilence says otherwise. A statement of a migration may take that long
	// behind a pooler.
	maxUnexplained = time.Hour
	// cancelTime is how long a request to cancel a statement may take.
	cancelTime = time.Second
)

// errSilent means that bytes were lost, so that server and client wait for each other.
var errSilent = errors.New("store: bytes were lost: the server is waiting for this connection")

// socket is a network connection to PostgreSQL on which no read or write blocks for ever. It
// fails
//
//   - at the deadline of the current statement (boundedConn), or of lib/pq while it
//     connects;
//   - soon after bytes were lost, when the server says that it is waiting for us (monitor);
//   - when the server has been silent, and has not said that it is working, for longer than
//     LimitSilence allows (behind a pooler only without a deadline);
//   - when TCP detects that the peer has vanished (dialer).
//
// Every failure is a *net.OpError. Only for these does lib/pq discard the connection and keep
// database/sql from repeating a statement that may have run.
type socket struct {
	net.Conn
	monitor  *monitor     // nil for an unmonitored connection
	greeting greeting     // of the server
	backend  atomic.Int64 // the server's process; 0 if unknown
	ready    atomic.Bool  // whether the connection is established

	// seenFailures is the monitor's number of failures when bytes last arrived.
	seenFailures atomic.Int64

	mu            sync.Mutex // lib/pq reads and writes concurrently during a COPY
	deadline      time.Time  // of the current statement; zero for none
	readDeadline  time.Time  // set by lib/pq and TLS; zero for none
	writeDeadline time.Time
	lastTransfer  time.Time // when bytes were last sent or received
}

// setDeadline sets the deadline of a statement that begins now; zero for none.
func (s *socket) setDeadline(deadline time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deadline, s.lastTransfer = deadline, time.Now()
}

// extend postpones the deadline, if there is one, so that at least d is left.
func (s *socket) extend(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if least := time.Now().Add(d); !s.deadline.IsZero() && s.deadline.Before(least) {
		s.deadline = least
	}
}

// SetDeadline implements net.Conn. The earlier of t and the statement's deadline applies.
func (s *socket) SetDeadline(t time.Time) error {
	return errors.Join(s.SetReadDeadline(t), s.SetWriteDeadline(t))
}

// SetReadDeadline implements net.Conn.
func (s *socket) SetReadDeadline(t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readDeadline = t
	return nil
}

// SetWriteDeadline implements net.Conn.
func (s *socket) SetWriteDeadline(t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writeDeadline = t
	return nil
}

func (s *socket) Read(p []byte) (int, error) {
	n, err := s.transfer("read", &s.readDeadline, s.Conn.SetReadDeadline, func() (int, error) { return s.Conn.Read(p) })
	s.greeting.receive(p[:n])
	return n, err
}

func (s *socket) Write(p []byte) (sent int, err error) {
	for {
		n, err := s.transfer("write", &s.writeDeadline, s.Conn.SetWriteDeadline, func() (int, error) { return s.Conn.Write(p[sent:]) })
		sent += n
		if err != nil || sent >= len(p) {
			return sent, err
		}
	}
}

// transfer calls readOrWrite until it has transferred bytes or failed. own is the deadline that
// lib/pq has set for this direction.
func (s *socket) transfer(op string, own *time.Time, setDeadline func(time.Time) error, readOrWrite func() (int, error)) (int, error) {
	s.mu.Lock()
	s.lastTransfer = time.Now()
	s.mu.Unlock()
	var worked time.Time // when the server last said that it was working
	for {
		limit, _ := s.limits(own)
		wake := time.Now().Add(maxSilence)
		if !limit.IsZero() && limit.Before(wake) {
			wake = limit
		}
		n, err := s.attempt(setDeadline, wake, readOrWrite)
		switch {
		case n > 0 || err == nil:
			return n, nil // an error will be returned again by the next call
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return 0, s.fail(op, err)
		}
		limit, lastTransfer := s.limits(own) // again: during a COPY the other direction may have moved
		silent := time.Since(lastTransfer)
		switch {
		case !limit.IsZero() && !time.Now().Before(limit):
			return 0, s.fail(op, err)
		case silent < maxSilence:
			continue
		}
		switch s.monitor.ask(s.backend.Load(), limit) {
		case waiting:
			if n, err := s.attempt(setDeadline, time.Now().Add(lastChance), readOrWrite); n > 0 || err == nil {
				return n, nil
			}
			return 0, s.fail(op, errSilent)
		case unknown:
			// A server behind a pooler is never asked: a statement with a deadline may take that long.
			asked := s.backend.Load() != 0
			if min(silent, time.Since(worked)) > s.monitor.waitsFor() && (asked || limit.IsZero()) {
				return 0, s.fail(op, err)
			}
		case working:
			worked = time.Now()
		}
	}
}

// attempt calls readOrWrite once, with a deadline.
func (s *socket) attempt(setDeadline func(time.Time) error, deadline time.Time, readOrWrite func() (int, error)) (int, error) {
	if err := setDeadline(deadline); err != nil {
		return 0, err
	}
	n, err := readOrWrite()
	if n > 0 {
		s.seenFailures.Store(s.monitor.suspicions())
		s.mu.Lock()
		s.lastTransfer = time.Now()
		s.mu.Unlock()
	}
	return n, err
}

// limits returns the earlier of the statement's deadline and own, zero if there is none, and when
// bytes were last transferred.
func (s *socket) limits(own *time.Time) (limit, lastTransfer time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	limit = s.deadline
	if !own.IsZero() && (limit.IsZero() || own.Before(limit)) {
		limit = *own
	}
	return limit, s.lastTransfer
}

// fail returns err as a *net.OpError, which lib/pq treats as a broken connection. It also reports
// the failure to the monitor: connections that are idle now may be broken too.
func (s *socket) fail(op string, err error) error {
	if s.ready.Load() && !errors.Is(err, net.ErrClosed) {
		s.monitor.suspect()
	}
	if known := (*net.OpError)(nil); errors.As(err, &known) {
		return known
	}
	return &net.OpError{Op: op, Net: s.RemoteAddr().Network(), Source: s.LocalAddr(), Addr: s.RemoteAddr(), Err: err}
}

// usable reports whether an idle connection may be used for another statement: it has not
// ended, and no other connection has failed since bytes last arrived on this one.
func (s *socket) usable() bool {
	return s.seenFailures.Load() == s.monitor.suspicions() && !broken(s.Conn)
}
