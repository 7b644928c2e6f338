package localpg

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// Replicated are the settings of a server that Standby can follow.
var Replicated = []string{"wal_level=replica", "max_wal_senders=4"}

// Standby starts a read-only copy of s that follows its changes (streaming replication). s must
// have been started with the settings Replicated.
func (s *Server) Standby(ctx context.Context) (*Server, error) {
	account, err := unprivileged()
	if err != nil {
		return nil, err
	}
	copied := &Server{bin: s.bin, password: s.password, settings: s.settings}
	if copied.dir, err = os.MkdirTemp("", dirPattern); err != nil {
		return nil, fmt.Errorf("localpg: %w", err)
	}
	if err := copied.prepare(account); err != nil {
		return nil, errors.Join(err, copied.Stop())
	}
	command := exec.CommandContext(ctx, s.program("pg_basebackup"), append(s.client(),
		"--pgdata", copied.data(), "--write-recovery-conf", "--checkpoint", "fast", "--no-sync")...)
	confine(command, account) // the copy belongs to the account that the server runs under
	command.Dir = copied.dir
	if output, err := command.CombinedOutput(); err != nil {
		return nil, errors.Join(fmt.Errorf("localpg: pg_basebackup: %w\n%s", err, output), copied.Stop())
	}
	if err := copied.serve(ctx, account); err != nil {
		return nil, errors.Join(err, copied.Stop())
	}
	return copied, nil
}
