// Package drill has what the drills share: how they start, and how they run other programs.
package drill

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Main runs a drill and exits. It gives the drill limit to finish, and stops it on an interrupt.
func Main(limit *time.Duration, run func(ctx context.Context) error) {
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	exit(bounded(ctx, *limit, run))
}

// MainWithProgram is Main for a drill of the program, which it builds first: how long that takes depends on
// what the machine has built before, so it is not part of the limit.
func MainWithProgram(limit *time.Duration, run func(ctx context.Context, program string) error) {
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	exit(withProgram(ctx, func(program string) error {
		return bounded(ctx, *limit, func(ctx context.Context) error { return run(ctx, program) })
	}))
}

func bounded(ctx context.Context, limit time.Duration, run func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return run(ctx)
}

// withProgram builds the program in a directory of its own, and removes it after run.
func withProgram(ctx context.Context, run func(program string) error) (err error) {
	dir, err := os.MkdirTemp("", "chairside-program-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	program := filepath.Join(dir, "chairside")
	if err := Build(ctx, ".", program); err != nil {
		return err
	}
	return run(program)
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Build builds the program of a repository.
func Build(ctx context.Context, repository, program string) error {
	_, err := Execute(ctx, repository, nil, "go", "build", "-o", program, "./cmd/chairside")
	return err
}

// Execute runs a program in a directory, with further environment variables, and returns what it
// writes to standard output. An error has all of its output.
func Execute(ctx context.Context, dir string, environment []string, name string, arguments ...string) (string, error) {
	command := exec.CommandContext(ctx, name, arguments...)
	command.Dir = dir
	command.Env = append(os.Environ(), environment...)
	var complaints bytes.Buffer
	command.Stderr = &complaints
	output, err := command.Output()
	if err != nil {
		err = fmt.Errorf("%s %s: %w\n%s%s", filepath.Base(name), strings.Join(arguments, " "), err, output, complaints.String())
	}
	return string(output), err
}

// Pause waits, and fails if ctx ends first.
func Pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// FreeAddress returns a loopback address that no process listens on.
func FreeAddress(ctx context.Context) (string, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// Program returns the path of a system program, which is not on every user's PATH.
func Program(name string) string {
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	return filepath.Join("/usr/sbin", name)
}

// A Step is a part of a drill. It returns what it found.
type Step struct {
	name string
	do   func(context.Context) (string, error)
}

// NewStep names a step.
func NewStep(name string, do func(context.Context) (string, error)) Step { return Step{name, do} }

// Steps makes the steps of a drill in turn and prints a line of its table for each.
func Steps(ctx context.Context, steps ...Step) error {
	fmt.Println("step                                     time  result")
	for _, s := range steps {
		began := time.Now()
		result, err := s.do(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		fmt.Printf("%-38s %6.1fs  %s\n", s.name, time.Since(began).Seconds(), result)
	}
	return nil
}
