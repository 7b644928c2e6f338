package dbconn

import (
	"context"
	"database/sql/driver"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// unreachableServer is the connector of a server that accepts no connections.
type unreachableServer struct{}

func (unreachableServer) Connect(context.Context) (driver.Conn, error) {
	return nil, errors.New("unreachable")
}

func (unreachableServer) Driver() driver.Driver { return nil }

// TestSilenceIsLimited: a statement's deadline does not lengthen the wait for a silent server, unless a pooler is in
// between, and an answer that the server is working does.
func TestSilenceIsLimited(t *testing.T) {
	t.Parallel()
	const limit, deadline = 3 * time.Second, 20 * time.Second
	for name, test := range map[string]struct {
		process  int64         // 0 behind a pooler
		deadline time.Duration // 0 for none
		worked   bool          // the server says once that it is working
		want     time.Duration
	}{
		"direct":                         {1, 0, false, 4 * time.Second},
		"direct, with a deadline":        {1, deadline, false, 4 * time.Second},
		"direct, working after 2 s":      {1, deadline, true, 6 * time.Second},
		"behind a pooler":                {0, 0, false, 4 * time.Second},
		"behind a pooler, with deadline": {0, deadline, false, deadline},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ours, theirs := net.Pipe()
				defer theirs.Close()
				m := newMonitor(unreachableServer{})
				m.patience.Store(int64(limit))
				if test.worked {
					m.asked, m.waits = time.Now().Add(maxSilence), map[int64]bool{test.process: false}
				}
				s := &socket{Conn: ours, monitor: m}
				defer s.Close()
				s.backend.Store(test.process)
				began := time.Now()
				if test.deadline > 0 {
					s.setDeadline(began.Add(test.deadline))
				}
				if _, err := s.Read(make([]byte, 1)); err == nil {
					t.Error("a silent server sent a byte")
				}
				if took := time.Since(began); took != test.want {
					t.Errorf("the read failed after %s, want %s", took, test.want)
				}
			})
		})
	}
}
