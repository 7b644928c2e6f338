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
	// connection, whether it still works for this one.
	maxSilence = 2 * time.Second
	// lastChance is how long we wait for bytes under way once the server says that it
	// waits for us.
	lastChance = 500 * time.Millisecond
	// maxUnexplained is how long work without a deadline waits for a silent server that
	// cannot be asked: behind a pooler, or out of reach. A migration's statement may take
	// that long.
	maxUnexplained = time.Hour
	// cancelTime is how long a request to cancel a statement may take.
	cancelTime = time.Second
)

// errSilent means that bytes were lost: the server and the client wait for each other.
var errSilent = errors.New("store: the server has no statement of this connection under way")

// socket is a network connection to PostgreSQL on which every read and write ends in time:
//
//   - at the deadline of the statement under way (bounded), or of lib/pq while it
//     connects;
//   - soon after bytes were lost, when the server says that it waits for us (monitor);
//   - when TCP finds that the peer is gone (dialer).
//
// Every failure is a *net.OpError. For these alone lib/pq discards the connection without
// letting database/sql repeat a statement that may have run.
type socket struct {
	net.Conn
	monitor *monitor     // nil for an unmonitored connection
	backend atomic.Int64 // the server's process, 0 where it is not known
	ready   atomic.Bool  // whether connecting is over
	proven  atomic.Int64 // the monitor's suspicions when bytes last came

	mu     sync.Mutex // lib/pq reads and writes at once during COPY
	until  time.Time  // the deadline of the statement under way; zero for none
	read   time.Time  // the deadlines that lib/pq and TLS set; zero for none
	write  time.Time
	passed time.Time // when bytes last passed, in either direction
}

// setUntil sets the deadline of the statement that begins.
func (s *socket) setUntil(until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.until, s.passed = until, time.Now()
}

// extend moves the deadline so that at least d is left.
func (s *socket) extend(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if least := time.Now().Add(d); !s.until.IsZero() && s.until.Before(least) {
		s.until = least
	}
}

// SetDeadline implements net.Conn; the earlier one of t and the statement's deadline counts.
func (s *socket) SetDeadline(t time.Time) error {
	return errors.Join(s.SetReadDeadline(t), s.SetWriteDeadline(t))
}

// SetReadDeadline implements net.Conn.
func (s *socket) SetReadDeadline(t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.read = t
	return nil
}

// SetWriteDeadline implements net.Conn.
func (s *socket) SetWriteDeadline(t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.write = t
	return nil
}

func (s *socket) Read(p []byte) (int, error) {
	return s.pass("read", &s.read, s.Conn.SetReadDeadline, func() (int, error) { return s.Conn.Read(p) })
}

func (s *socket) Write(p []byte) (sent int, err error) {
	for {
		n, err := s.pass("write", &s.write, s.Conn.SetWriteDeadline, func() (int, error) { return s.Conn.Write(p[sent:]) })
		sent += n
		if err != nil || sent >= len(p) {
			return sent, err
		}
	}
}

// pass calls some until it has read or written bytes, or fails.
func (s *socket) pass(op string, set *time.Time, setDeadline func(time.Time) error, some func() (int, error)) (int, error) {
	s.mu.Lock()
	s.passed = time.Now()
	s.mu.Unlock()
	for {
		limit, _ := s.limits(set)
		wake := time.Now().Add(maxSilence)
		if !limit.IsZero() && limit.Before(wake) {
			wake = limit
		}
		n, err := s.attempt(setDeadline, wake, some)
		switch {
		case n > 0 || err == nil:
			return n, nil // an error comes again with the next bytes
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return 0, s.fail(op, err)
		}
		limit, passed := s.limits(set) // again: COPY reads while it writes
		silent := time.Since(passed)
		switch {
		case !limit.IsZero() && !time.Now().Before(limit):
			return 0, s.fail(op, err)
		case silent < maxSilence:
			continue
		}
		switch s.monitor.ask(s.backend.Load(), limit) {
		case waiting:
			if n, err := s.attempt(setDeadline, time.Now().Add(lastChance), some); n > 0 || err == nil {
				return n, nil
			}
			return 0, s.fail(op, errSilent)
		case unknown:
			if limit.IsZero() && silent > maxUnexplained {
				return 0, s.fail(op, err)
			}
		case working:
		}
	}
}

// attempt calls some once, with a deadline.
func (s *socket) attempt(setDeadline func(time.Time) error, deadline time.Time, some func() (int, error)) (int, error) {
	if err := setDeadline(deadline); err != nil {
		return 0, err
	}
	n, err := some()
	if n > 0 {
		s.proven.Store(s.monitor.suspicions())
		s.mu.Lock()
		s.passed = time.Now()
		s.mu.Unlock()
	}
	return n, err
}

// limits returns the earlier deadline, zero for none, and when bytes last passed.
func (s *socket) limits(set *time.Time) (limit, passed time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	limit = s.until
	if !set.IsZero() && (limit.IsZero() || set.Before(limit)) {
		limit = *set
	}
	return limit, s.passed
}

// fail returns err as a *net.OpError, which lib/pq treats as a broken connection. It marks
// connections that were idle meanwhile as suspect, because they may be broken too.
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
	return s.proven.Load() == s.monitor.suspicions() && !broken(s.Conn)
}
