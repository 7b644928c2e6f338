package dbconn

import (
	"errors"
	"net"
	"testing"
)

// TestLocksPipelineOnlyWithBind checks that nothing is sent if lib/pq's message begins with
// anything but a Bind. The statement then runs in an ordinary transaction (ErrNotSingle).
func TestLocksPipelineOnlyWithBind(t *testing.T) {
	t.Parallel()
	ours, theirs := net.Pipe()
	defer theirs.Close()
	defer ours.Close()
	c := &pipelineConn{Conn: ours}
	c.prependLocks([]Lock{1})
	if n, err := c.Write([]byte("Parse")); n != 0 || !errors.Is(err, ErrNotSingle) || c.refused == nil {
		t.Errorf("%d bytes written, %v, %v", n, err, c.refused)
	}
}
