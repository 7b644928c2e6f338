package drill

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// Server is a server of the program and a client of it.
type Server struct {
	Program     string
	Environment []string // of every command, in addition to the drill's own
	Log         string   // the file of its log
	Token       string

	url     string
	process *Process
}

// Command runs a command of the program and returns its output.
func (s *Server) Command(ctx context.Context, arguments ...string) (string, error) {
	return Execute(ctx, "", s.Environment, s.Program, arguments...)
}

// Prepare migrates the database, seeds practices of so many patients and makes the client's token.
func (s *Server) Prepare(ctx context.Context, patients int) error {
	for _, arguments := range [][]string{{"migrate", "up"}, {"seed", "--years", "1", "--patients", fmt.Sprint(patients)}} {
		if _, err := s.Command(ctx, arguments...); err != nil {
			return err
		}
	}
	token, err := s.Command(ctx, "token", "create", "--user", "admin@demo.chairside.test", "--name", "drill", "--scopes", "appointment patient")
	s.Token = strings.TrimSpace(token)
	return err
}

// Start starts the server and waits until it is ready.
func (s *Server) Start(ctx context.Context) error {
	address, err := FreeAddress(ctx)
	if err != nil {
		return err
	}
	s.url = "http://" + address
	command := exec.Command(s.Program, "serve", "--addr", address, "--drain", "0", "--rate-limit", "0") //nolint:noctx // it is stopped by a signal
	command.Env = append(os.Environ(), s.Environment...)
	if s.process, err = Start(command, s.Log); err != nil {
		return err
	}
	for {
		if _, err := s.Send(ctx, http.MethodGet, "/readyz", "", http.StatusOK); err == nil {
			return nil
		}
		if err := errors.Join(s.process.Err(), Pause(ctx, 50*time.Millisecond)); err != nil {
			return err
		}
	}
}

// Kill ends the server as a loss of power does.
func (s *Server) Kill() { s.process.Stop(syscall.SIGKILL) }

// Stop lets the server finish what it does. It fails if the server does not end by itself, or with an error.
func (s *Server) Stop() error {
	s.process.Stop(syscall.SIGTERM)
	if s.process == nil || s.process.command.ProcessState.Success() {
		return nil
	}
	return s.process.Err()
}

// Send sends a request to the server.
func (s *Server) Send(ctx context.Context, method, path, body string, want int) (text []byte, err error) {
	r, err := http.NewRequestWithContext(ctx, method, s.url+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+s.Token)
	r.Header.Set("User-Agent", "drill")
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

// FirstDay is after all seeded appointments.
var FirstDay = time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC)

// Book books the slot with a number, counted from FirstDay in steps of ten minutes, and returns the id.
func (s *Server) Book(ctx context.Context, slot int) (int64, error) {
	start := FirstDay.Add(time.Duration(slot) * 10 * time.Minute)
	text, err := s.Send(ctx, http.MethodPost, "/v1/appointments", fmt.Sprintf(`{"appointment": {"start_time": %q, "finish_time": %q, "practitioner_id": 1, "reason": "Exam"}}`,
		start.Format(time.RFC3339), start.Add(10*time.Minute).Format(time.RFC3339)), http.StatusCreated)
	if err != nil {
		return 0, err
	}
	var made struct{ Appointment struct{ ID int64 } }
	err = json.Unmarshal(text, &made)
	return made.Appointment.ID, err
}

// Booked returns the ids of the appointments from FirstDay on.
func (s *Server) Booked(ctx context.Context) (ids []int64, err error) {
	for page := 1; ; page++ {
		text, err := s.Send(ctx, http.MethodGet, fmt.Sprintf("/v1/appointments?per_page=100&page=%d&after=%s", page, FirstDay.Format(time.DateOnly)), "", http.StatusOK)
		if err != nil {
			return nil, err
		}
		var list struct{ Appointments []struct{ ID int64 } }
		if err := json.Unmarshal(text, &list); err != nil {
			return nil, err
		}
		if len(list.Appointments) == 0 {
			return ids, nil
		}
		for _, a := range list.Appointments {
			ids = append(ids, a.ID)
		}
	}
}
