package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// baseURL is the base of all servers' links, so that their responses are comparable.
const baseURL = "http://practice.example"

// gcSetting is the GOGC of all servers: that of "chairside serve" (TestServersCollectAlike).
const gcSetting = "GOGC=300"

const (
	startTime = time.Minute // for a server to become ready
	stopTime  = 30 * time.Second
)

// server is a measured server process.
type server struct {
	name    string
	url     string
	command *exec.Cmd
	ended   chan struct{} // closed when the process is gone
}

// start runs a server on the address appended to its arguments, and waits until it is
// ready. It discards the log, because reading a pipe would cost time.
func start(ctx context.Context, name string, program []string, environment ...string) (*server, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	command := exec.Command(program[0], append(program[1:], "--addr", address, "--base-url", baseURL)...)
	command.Env = append(append(os.Environ(), gcSetting), environment...)
	if err := command.Start(); err != nil {
		return nil, err
	}
	s := &server{name: name, url: "http://" + address, command: command, ended: make(chan struct{})}
	go func() {
		_ = command.Wait() // a failure shows at the next request
		close(s.ended)
	}()
	if err := s.ready(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", strings.Join(program, " "), err), s.stop())
	}
	return s, nil
}

// freeAddress returns an unused loopback address.
func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer listener.Close()
	return listener.Addr().String(), nil
}

// ready waits until the server answers /readyz with 200.
func (s *server) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/readyz", nil)
		if err != nil {
			return err
		}
		if response, err := http.DefaultClient.Do(request); err == nil {
			response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-s.ended:
			return errors.New("exited during startup")
		case <-ctx.Done():
			return fmt.Errorf("did not become ready: %w", ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (s *server) pid() int { return s.command.Process.Pid }

// stop ends the process and waits for it. A second call does nothing.
func (s *server) stop() error {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		_ = s.command.Process.Signal(signal) // fails if it has ended
		select {
		case <-s.ended:
			return nil
		case <-time.After(stopTime):
		}
	}
	return fmt.Errorf("%s did not exit", s.name)
}

// output runs a program and returns its output, or an error with its standard error.
func output(ctx context.Context, program []string, environment ...string) (string, error) {
	command := exec.CommandContext(ctx, program[0], program[1:]...)
	command.Env = append(os.Environ(), environment...)
	var out, problems bytes.Buffer
	command.Stdout, command.Stderr = &out, io.Writer(&problems)
	if err := command.Run(); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(program, " "), err, problems.String())
	}
	return strings.TrimSpace(out.String()), nil
}
