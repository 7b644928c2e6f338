package localpg

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// keptStopTimeout is longer than a temporary server's, because data must reach the disk.
const keptStopTimeout = 2 * time.Minute

// StartIn starts a server on the cluster in dir, and creates the cluster if there is
// none. Data reach the disk as on a real server. Each setting is "name=value", as in
// postgresql.conf. The server's account must be able to enter dir, and no other server may
// run on it.
func StartIn(ctx context.Context, dir string, settings ...string) (*Server, error) {
	bin, err := find()
	if err != nil {
		return nil, err
	}
	account, err := unprivileged()
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, fmt.Errorf("localpg: %w", err)
	}
	// The server's account must own the cluster.
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return nil, fmt.Errorf("localpg: %w", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("localpg: %w", err)
	}
	s := &Server{bin: bin, dir: dir, kept: true}
	s.set("fsync=on", "synchronous_commit=on", "full_page_writes=on")
	s.set(settings...)
	password, err := os.ReadFile(s.passwordFile())
	switch {
	case err == nil:
		s.password = string(password)
		err = s.serve(ctx, account)
	case errors.Is(err, os.ErrNotExist):
		if err = s.create(ctx, account); err != nil { // remove a partial cluster
			s.stopKept()
			os.RemoveAll(s.data())
			os.RemoveAll(s.passwordFile())
		}
	}
	if err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// stopKept shuts the server down with SIGINT and removes nothing.
func (s *Server) stopKept() {
	if s.process != nil {
		s.process.stop(syscall.SIGINT, keptStopTimeout)
	}
}
