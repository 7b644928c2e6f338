package localpg

import (
	"fmt"
	"os"
	"os/exec"
)

// RunAs makes a command run under the account of the servers, such as a tool that reads a cluster's
// files.
func RunAs(command *exec.Cmd) error {
	account, err := unprivileged()
	if err == nil {
		confine(command, account)
	}
	return err
}

// Own gives a file or a directory to the account of the servers.
func Own(path string) error {
	account, err := unprivileged()
	if err != nil || account == nil {
		return err
	}
	if err := os.Chown(path, int(account.Uid), int(account.Gid)); err != nil {
		return fmt.Errorf("localpg: %w", err)
	}
	return nil
}

// Socket returns the directory of the server's socket, whose clients need no password, and its port.
func (s *Server) Socket() (dir string, port int) { return s.dir, s.port }
