// Package drill has what the drills share: how they start, and how they run other programs.
package drill

import (
	"bytes"
	"context"
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
	ctx, cancel := context.WithTimeout(ctx, *limit)
	defer cancel()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1) //nolint:gocritic // the process ends, and its contexts with it
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
