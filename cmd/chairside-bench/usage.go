package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// tick is the unit of processor time in /proc/PID/stat: 1/100 s on every Linux that Go
// supports.
const tick = 10 * time.Millisecond

// stat is a process's data from /proc.
type stat struct {
	parent int
	own    time.Duration // processor time
	ended  time.Duration // processor time of ended children
}

// readStat reads /proc/PID/stat.
func readStat(pid int) (stat, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return stat{}, err
	}
	// The name, in brackets, may contain any character.
	_, rest, ok := strings.Cut(string(text[strings.LastIndexByte(string(text), ')'):]), " ")
	fields := strings.Fields(rest) // from the third on: see proc(5)
	if !ok || len(fields) < 15 {
		return stat{}, errors.New("/proc/PID/stat has an unknown format")
	}
	var n [5]int64
	for i, field := range []int{1, 11, 12, 13, 14} {
		if n[i], err = strconv.ParseInt(fields[field], 10, 64); err != nil {
			return stat{}, err
		}
	}
	return stat{parent: int(n[0]), own: time.Duration(n[1]+n[2]) * tick, ended: time.Duration(n[3]+n[4]) * tick}, nil
}

// treeCPU returns the processor time of a process and all its children, including ended
// ones: for PostgreSQL's main process, the whole server.
func treeCPU(root int) (time.Duration, error) {
	s, err := readStat(root)
	if err != nil {
		return 0, err
	}
	total := s.own + s.ended
	paths, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return 0, err
	}
	for _, path := range paths {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil {
			return 0, err
		}
		// A child that has just ended is counted with its parent next time.
		if s, err := readStat(pid); err == nil && s.parent == root {
			total += s.own + s.ended
		}
	}
	return total, nil
}

// postmaster returns the server's main process, if it is on this machine.
func postmaster(ctx context.Context, db *pgx.Conn) (int, error) {
	var backend int
	if err := db.QueryRow(ctx, "SELECT pg_backend_pid()").Scan(&backend); err != nil {
		return 0, err
	}
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", backend))
	if err != nil || !strings.HasPrefix(string(name), "postgres") {
		return 0, errors.New("the PostgreSQL server does not run on this machine")
	}
	s, err := readStat(backend)
	return s.parent, err
}

// postmasterOf is postmaster for the server at a URL.
func postmasterOf(ctx context.Context, address string) (int, error) {
	db, err := pgx.Connect(ctx, address)
	if err != nil {
		return 0, err
	}
	pid, err := postmaster(ctx, db)
	return pid, errors.Join(err, db.Close(ctx))
}

// memory returns a process's current and peak resident memory in bytes.
func memory(pid int) (now, peak int64, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		for name, to := range map[string]*int64{"VmRSS:": &now, "VmHWM:": &peak} {
			if fields[0] == name {
				if *to, err = strconv.ParseInt(fields[1], 10, 64); err != nil {
					return 0, 0, err
				}
				*to *= 1 << 10
			}
		}
	}
	return now, peak, nil
}
