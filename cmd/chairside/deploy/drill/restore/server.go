package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"chairside/cmd/chairside/deploy/drill/internal/drill"
)

// server is a running server.
type server struct {
	url     string
	process *exec.Cmd
	ended   chan error
}

// environment is that of every command.
func (d *setting) environment() []string {
	return []string{"CHAIRSIDE_DATABASE_URL=" + d.postgres.URL(database), "CHAIRSIDE_KEYS_FILE=" + filepath.Join(d.dir, "keys")}
}

// command runs a command of the program and returns its output.
func (d *setting) command(ctx context.Context, arguments ...string) (string, error) {
	return drill.Execute(ctx, "", d.environment(), d.program, arguments...)
}

// serve starts a server and waits until it is ready.
func (d *setting) serve(ctx context.Context) error {
	address, err := drill.FreeAddress(ctx)
	if err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(d.dir, "server.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	s := &server{url: "http://" + address, ended: make(chan error, 1)}
	s.process = exec.Command(d.program, "serve", "--addr", address, "--drain", "0", "--rate-limit", "0") //nolint:noctx // it is stopped by a signal
	s.process.Env, s.process.Stderr = append(os.Environ(), d.environment()...), log
	if err := s.process.Start(); err != nil {
		return err
	}
	d.server = s
	go func() { s.ended <- s.process.Wait() }()
	for {
		if _, err := d.send(ctx, http.MethodGet, "/readyz", "", http.StatusOK); err == nil {
			return nil
		}
		select {
		case err := <-s.ended:
			d.server = nil
			text, _ := os.ReadFile(log.Name())
			return fmt.Errorf("the server ended: %w\n%s", err, text)
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// stop ends the server, which writes what it has of the audit log.
func (s *server) stop() error {
	if s == nil || s.process == nil {
		return nil
	}
	if err := s.process.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	s.process = nil
	return <-s.ended
}

// send sends a request to the server.
func (d *setting) send(ctx context.Context, method, path, body string, want int) (text []byte, err error) {
	r, err := http.NewRequestWithContext(ctx, method, d.server.url+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+d.token)
	r.Header.Set("User-Agent", "restore drill")
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	text, err = io.ReadAll(response.Body)
	if err == nil && response.StatusCode != want {
		err = fmt.Errorf("%s %s: status %d: %s", method, path, response.StatusCode, text)
	}
	return text, err
}

// firstDay is after all seeded appointments.
var firstDay = time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC)

// book books slots of ten minutes, from the given one on, and returns the ids.
func (d *setting) book(ctx context.Context, from, n int) (ids []int64, err error) {
	for i := range n {
		start := firstDay.Add(time.Duration(from+i) * 10 * time.Minute)
		text, err := d.send(ctx, http.MethodPost, "/v1/appointments", fmt.Sprintf(`{"appointment": {"start_time": %q, "finish_time": %q, "practitioner_id": 1, "reason": "Exam"}}`,
			start.Format(time.RFC3339), start.Add(10*time.Minute).Format(time.RFC3339)), http.StatusCreated)
		if err != nil {
			return ids, err
		}
		var made struct{ Appointment struct{ ID int64 } }
		if err := json.Unmarshal(text, &made); err != nil {
			return ids, err
		}
		ids = append(ids, made.Appointment.ID)
	}
	return ids, nil
}
