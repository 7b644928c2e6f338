package dbconn

import (
	"errors"
	"net"
	"testing"
)

// TestLocksPipelineOnlyWithBind: if lib/pq's message begins with anything but a Bind,
// nothing is sent, and the statement gets a transaction around it.
func TestLocksPipelineOnlyWithBind(t *testing.T) {
	t.Parallel()
	ours, theirs := net.Pipe()
	defer theirs.Close()
	defer ours.Close()
	c := &pipelineConn{Conn: ours}
	c.prepend([]Lock{1})
	if n, err := c.Write([]byte("Parse")); n != 0 || !errors.Is(err, ErrNotSingle) || c.refused == nil {
		t.Errorf("%d bytes written, %v, %v", n, err, c.refused)
	}
}
