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

// keptStopTimeout is longer than that of a throw-away server: what is kept has
// to reach the disk.
const keptStopTimeout = 2 * time.Minute

// StartIn is Start on a cluster that outlives the server: it is made in dir
// where there is none yet, and found there again. Its data reach the disk as
// those of a real server do. Each setting is "name=value", as in
// postgresql.conf. dir must be reachable for the account of the server, and no
// other server may run on it.
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
	// The account of the server must get to what only it may see.
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return nil, fmt.Errorf("localpg: %w", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("localpg: %w", err)
	}
	s := &Server{bin: bin, dir: dir, kept: true}
	for _, setting := range append([]string{"fsync=on", "synchronous_commit=on", "full_page_writes=on"}, settings...) {
		s.settings = append(s.settings, "-c", setting)
	}
	password, err := os.ReadFile(s.passwordFile())
	switch {
	case err == nil:
		s.password = string(password)
		err = s.serve(ctx, account)
	case errors.Is(err, os.ErrNotExist):
		if err = s.create(ctx, account); err != nil { // half a cluster is none
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

// stopKept shuts the server down the orderly way (SIGINT) and removes nothing.
func (s *Server) stopKept() {
	if s.process != nil {
		s.process.stop(syscall.SIGINT, keptStopTimeout)
	}
}
