package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"chairside/cmd/chairside/deploy/drill/internal/drill"
)

// processes returns the ids of Patroni and of all processes of PostgreSQL, parents first. It stops the first
// process of PostgreSQL, so that no more of them begin.
func (n *node) processes() (pids []int, err error) {
	if n.patroni != nil && n.patroni.Err() == nil {
		pids = append(pids, n.patroni.Pid())
	}
	text, err := os.ReadFile(filepath.Join(n.dir, "data", "postmaster.pid"))
	if errors.Is(err, os.ErrNotExist) {
		return pids, nil
	}
	first, _, _ := strings.Cut(string(text), "\n")
	main, err := strconv.Atoi(first)
	if err != nil || !runsIn(main, filepath.Join(n.dir, "data")) {
		return pids, err
	}
	if err := signal([]int{main}, syscall.SIGSTOP); err != nil {
		return pids, err
	}
	pids = append(pids, main)
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return pids, err
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
			return pids, err
		}
		pids = append(pids, pid)
	}
	return pids, nil
}

// runsIn reports whether a process works in a directory: an old file may name another process.
func runsIn(pid int, dir string) bool {
	at, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/cwd")
	return err == nil && at == dir
}

// signal sends a signal to processes; those that have ended do not matter.
func signal(pids []int, s syscall.Signal) (err error) {
	for _, pid := range pids {
		if failed := syscall.Kill(pid, s); !errors.Is(failed, syscall.ESRCH) {
			err = errors.Join(err, failed)
		}
	}
	return err
}

// kill ends the node as a power failure does, except that its files have what it wrote.
func (n *node) kill() error {
	pids, err := n.processes()
	n.frozen = nil
	return errors.Join(err, signal(pids, syscall.SIGKILL))
}

// canFreeze fails if Patroni lets a primary that was frozen take the lock from its successor: version 3.0.2
// (Debian 12) writes it back to etcd without asking who has it. The successor cannot follow the old
// primary then, and stays out of the cluster. Version 4 asks; those in between were not tried.
func canFreeze(ctx context.Context) error {
	const first = 4
	output, err := drill.Execute(ctx, "", nil, drill.Program("patroni"), "--version") // patroni 4.0.7
	if err != nil {
		return err
	}
	version := strings.TrimPrefix(strings.TrimSpace(output), "patroni ")
	major, _, _ := strings.Cut(version, ".")
	if n, err := strconv.Atoi(major); err != nil || n < first {
		return fmt.Errorf("with Patroni %s a frozen primary takes its lock back: install version %d, or run the drill with -freezes 0", version, first)
	}
	return nil
}

// freeze stops the node without ending it: its connections stay open, and nothing responds.
func (n *node) freeze() (err error) {
	if n.frozen, err = n.processes(); err != nil {
		return err
	}
	return signal(n.frozen, syscall.SIGSTOP)
}

// comeBack starts a node that was killed, or lets a frozen one go on.
func (n *node) comeBack(c *cluster) error {
	if len(n.frozen) == 0 {
		return c.startPatroni(n)
	}
	frozen := n.frozen
	n.frozen = nil
	return signal(frozen, syscall.SIGCONT)
}
