package localpg

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Replicated are the settings of a server that Standby can follow.
// Commits reach the write-ahead log at once, as on a real server.
var Replicated = []string{"wal_level=replica", "max_wal_senders=6", "synchronous_commit=on"}

// Standby starts a read-only copy of s that follows its changes (streaming replication). s must
// have been started with the settings Replicated. settings are further ones of the copy.
func (s *Server) Standby(ctx context.Context, settings ...string) (*Server, error) {
	account, err := unprivileged()
	if err != nil {
		return nil, err
	}
	copied := &Server{bin: s.bin, password: s.password, settings: slices.Clone(s.settings)}
	copied.set(settings...)
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

// Kill ends the server at once, as a power failure does, and keeps its data for Restart.
func (s *Server) Kill() { s.process.stop(syscall.SIGQUIT, stopTimeout) }

// Restart starts a killed server again, on the same port.
func (s *Server) Restart(ctx context.Context) error {
	account, err := unprivileged()
	if err != nil {
		return err
	}
	return s.listenOn(ctx, account, s.port)
}

// Freeze stops all processes of the server without ending them: connections stay open, and nothing answers.
// Thaw lets them go on. Both need Linux.
func (s *Server) Freeze() error { return s.signal(syscall.SIGSTOP) }

// Thaw ends Freeze.
func (s *Server) Thaw() error { return s.signal(syscall.SIGCONT) }

// signal sends a signal to the server and to its processes, each of which is a group of its own.
func (s *Server) signal(signal syscall.Signal) error {
	main := s.process.command.Process.Pid
	if err := syscall.Kill(main, signal); err != nil { // first, so that it starts no more of them
		return fmt.Errorf("localpg: %w", err)
	}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return fmt.Errorf("localpg: %w", err)
	}
	for _, stat := range stats {
		text, err := os.ReadFile(stat)
		if err != nil {
			continue // the process has ended
		}
		_, after, _ := strings.Cut(string(text), ") ") // state, parent, …
		if fields := strings.Fields(after); len(fields) < 2 || fields[1] != strconv.Itoa(main) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(stat)))
		if err != nil {
			return fmt.Errorf("localpg: %w", err)
		}
		if err := syscall.Kill(pid, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("localpg: %w", err)
		}
	}
	return nil
}
