package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"chairside/internal/test/localpg/pgtest"
)

// TestStopLosesNoRequest stops a server to which clients keep their connections. /readyz
// responds 503 while everything else works, then each client is told to close its connection. No
// request is without a response.
func TestStopLosesNoRequest(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		stopUnderLoad(t, "sqlite:"+t.TempDir()+"/stop.db")
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		stopUnderLoad(t, pgtest.New(t))
	})
}

func stopUnderLoad(t *testing.T, database string) {
	address, token, command, out := demoProcess(t, t.TempDir(), "--database-url", database, "--rate-limit=0", "--drain=2s")
	host := hostOf(t, address)
	booking := func(client, n int) string {
		start := time.Date(2031, 3, 4, 9, 0, 0, 0, time.UTC).Add(time.Duration(n) * 15 * time.Minute)
		body := fmt.Sprintf(`{"appointment": {"start_time": %q, "finish_time": %q, "practitioner_id": %d, "reason": "Exam"}}`,
			start.Format(time.RFC3339), start.Add(15*time.Minute).Format(time.RFC3339), 1+client%2)
		return request(http.MethodPost, "/v1/appointments", token, body)
	}
	var served, stopped atomic.Int64
	var clients sync.WaitGroup
	client := func(pause time.Duration, next func(n int) string) {
		clients.Go(func() {
			c, err := dialKept(t, host)
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			for n := 0; ; n++ {
				response, err := c.do(next(n))
				if err != nil {
					t.Errorf("request %d: %v", n, err)
					return
				}
				if response.StatusCode >= http.StatusInternalServerError {
					t.Errorf("request %d: status %d", n, response.StatusCode)
				}
				served.Add(1)
				if response.Close {
					stopped.Add(1)
					return
				}
				time.Sleep(pause)
			}
		})
	}
	pauses := []time.Duration{0, time.Millisecond, 20 * time.Millisecond, 300 * time.Millisecond}
	for i, pause := range pauses {
		client(pause, func(n int) string { return booking(i, n) })
		client(pause, func(int) string { return request(http.MethodGet, "/v1/patients?per_page=5", token, "") })
	}
	idle, err := dialKept(t, host)
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()
	if _, err := idle.do(request(http.MethodGet, "/healthz", token, "")); err != nil {
		t.Fatal(err)
	}

	probe := func(path string) int {
		c, err := dialKept(t, host)
		if err != nil {
			return 0
		}
		defer c.Close()
		response, err := c.do(request(http.MethodGet, path, token, ""))
		if err != nil {
			return 0
		}
		return response.StatusCode
	}
	for deadline := time.Now().Add(time.Minute); probe("/readyz") != http.StatusOK; {
		if time.Now().After(deadline) {
			t.Fatal("the server does not become ready")
		}
	}
	if err := command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	signalled := time.Now()
	for probe("/readyz") == http.StatusOK && time.Since(signalled) < time.Minute {
		time.Sleep(time.Millisecond)
	}
	ready, site := probe("/readyz"), probe("/v1/sites")
	if time.Since(signalled) < 1900*time.Millisecond && (ready != http.StatusServiceUnavailable || site != http.StatusOK) {
		t.Errorf("while the server drains: /readyz %d, /v1/sites %d", ready, site)
	}
	clients.Wait()
	if took := time.Since(signalled); took < 2*time.Second {
		t.Errorf("clients were told to close after %v", took)
	}
	_, _ = io.Copy(io.Discard, out)
	if err := command.Wait(); err != nil {
		t.Error(err)
	}
	if int(stopped.Load()) != 2*len(pauses) || served.Load() < 100 {
		t.Errorf("%d responses, %d clients were told to close", served.Load(), stopped.Load())
	}
	_ = idle.SetReadDeadline(time.Now().Add(time.Minute))
	if _, err := idle.in.Peek(1); !errors.Is(err, io.EOF) {
		t.Errorf("the idle connection: %v", err)
	}
}

// TestInterruptDoesNotDrain stops a server with an interrupt, before and while it drains.
func TestInterruptDoesNotDrain(t *testing.T) {
	t.Parallel()
	for name, signals := range map[string][]syscall.Signal{"at once": {syscall.SIGINT}, "while it drains": {syscall.SIGTERM, syscall.SIGINT}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, command, out := demoProcess(t, t.TempDir(), "--drain=10m")
			for _, s := range signals {
				if err := command.Process.Signal(s); err != nil {
					t.Fatal(err)
				}
			}
			_, _ = io.Copy(io.Discard, out)
			if err := command.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
}

// errClosed means that the server has closed a connection between two requests.
var errClosed = errors.New("closed before the request")

// keptConn is a client's connection. Unlike http.Client it never repeats a request.
type keptConn struct {
	net.Conn
	in *bufio.Reader
}

func dialKept(t *testing.T, host string) (*keptConn, error) {
	c, err := new(net.Dialer).DialContext(t.Context(), "tcp", host)
	if err != nil {
		return nil, err
	}
	return &keptConn{c, bufio.NewReader(c)}, nil
}

// do sends a request and reads the whole response.
func (c *keptConn) do(text string) (*http.Response, error) {
	_ = c.SetReadDeadline(time.Now().Add(time.Millisecond))
	if _, err := c.in.Peek(1); errors.Is(err, io.EOF) {
		return nil, errClosed
	}
	_ = c.SetReadDeadline(time.Now().Add(time.Minute))
	if _, err := io.WriteString(c, text); err != nil {
		return nil, err
	}
	response, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return response, err
}

// request is the text of an HTTP request.
func request(method, path, token, body string) string {
	head := []string{method + " " + path + " HTTP/1.1", "Host: chairside.test", "User-Agent: test", "Authorization: Bearer " + token}
	if body != "" {
		head = append(head, "Content-Type: application/json", fmt.Sprintf("Content-Length: %d", len(body)))
	}
	return strings.Join(head, "\r\n") + "\r\n\r\n" + body
}

func hostOf(t *testing.T, address string) string {
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Host
}
