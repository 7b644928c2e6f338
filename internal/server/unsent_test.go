package server

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"
)

// smallBuffers is a listener whose connections have small send buffers.
type smallBuffers struct{ net.Listener }

func (l smallBuffers) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil {
		err = c.(*net.TCPConn).SetWriteBuffer(4 << 10)
	}
	return c, err
}

// serveThrough serves a response through u, on connections with small buffers.
func serveThrough(t *testing.T, u *unsentLimiter, body []byte) *httptest.Server {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		counted := &responseWriter{to: w, unsent: u, stopping: new(atomic.Int32), record: func() {}}
		_, _ = counted.Write(body) // fails for disconnected clients
	}))
	s.Listener = smallBuffers{s.Listener}
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// readNothing requests the response and does not read it.
func readNothing(t *testing.T, s *httptest.Server) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: test\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	return c
}

// until waits until a condition holds.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	for !holds() {
		select {
		case <-deadline:
			t.Fatalf("not within 30 s: %s", what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// TestSlowReadersAreLimited checks that unread responses use a limited amount of memory, while
// other clients get theirs in full.
func TestSlowReadersAreLimited(t *testing.T) {
	t.Parallel()
	body := bytes.Repeat([]byte("0123456789abcdef"), 1<<16) // 1 MiB
	u := newUnsentLimiter(4 << 20)
	s := serveThrough(t, u, body)
	for range 20 {
		readNothing(t, s)
	}
	until(t, "readers are cut off", func() bool { _, dropped := u.usage(); return dropped >= 12 })
	until(t, "their memory is released", func() bool { b, _ := u.usage(); return b <= u.max })
	for range 5 {
		res, err := http.Get(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(res.Body)
		if res.Body.Close(); err != nil || !bytes.Equal(got, body) {
			t.Errorf("%d bytes of %d, error %v", len(got), len(body), err)
		}
	}
	s.CloseClientConnections()
	until(t, "nothing waits", func() bool { b, _ := u.usage(); return b == 0 })
}

// TestStalledReaderIsDisconnected checks that a client that reads nothing is disconnected
// after the stall time.
func TestStalledReaderIsDisconnected(t *testing.T) {
	t.Parallel()
	body := make([]byte, 1<<20)
	u := newUnsentLimiter(maxUnsent)
	u.stall = 500 * time.Millisecond
	s := serveThrough(t, u, body)
	c := readNothing(t, s)
	until(t, "the response waits", func() bool { b, _ := u.usage(); return b > 0 })
	until(t, "its reader is cut off", func() bool { b, _ := u.usage(); return b == 0 })
	if got, _ := io.ReadAll(c); len(got) >= len(body) {
		t.Errorf("read %d bytes", len(got))
	}
}
