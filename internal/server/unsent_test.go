package server

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// narrow is a listener whose connections hold little of what is not read.
type narrow struct{ net.Listener }

func (n narrow) Accept() (net.Conn, error) {
	c, err := n.Listener.Accept()
	if err == nil {
		err = c.(*net.TCPConn).SetWriteBuffer(4 << 10)
	}
	return c, err
}

// startUnsent serves an answer through u, to readers whose system takes little of it.
func startUnsent(t *testing.T, u *unsent, answer []byte) *httptest.Server {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		counted := &countingWriter{ResponseWriter: w, unsent: u}
		_, _ = counted.Write(answer) // fails for those who are cut off
	}))
	s.Listener = narrow{s.Listener}
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// readNothing asks for the answer and does not read it.
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

// until waits for a condition.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	for !holds() {
		select {
		case <-deadline:
			t.Fatalf("in 30 s never: %s", what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// TestSlowReadersAreBounded holds that answers that are not read take no more than
// their share of memory, and that others are answered in full meanwhile.
func TestSlowReadersAreBounded(t *testing.T) {
	t.Parallel()
	answer := bytes.Repeat([]byte("0123456789abcdef"), 1<<16) // 1 MiB
	u := newUnsent(4 << 20)
	s := startUnsent(t, u, answer)
	for range 20 {
		readNothing(t, s)
	}
	until(t, "readers are cut off", func() bool { _, dropped := u.usage(); return dropped >= 12 })
	until(t, "their memory is free", func() bool { b, _ := u.usage(); return b <= u.most })
	for range 5 {
		res, err := http.Get(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(res.Body)
		if res.Body.Close(); err != nil || !bytes.Equal(got, answer) {
			t.Errorf("%d bytes of %d, error %v", len(got), len(answer), err)
		}
	}
	s.CloseClientConnections()
	until(t, "nothing waits", func() bool { b, _ := u.usage(); return b == 0 })
}

// TestStalledReaderIsCutOff and one that is slow but reads is not.
func TestStalledReaderIsCutOff(t *testing.T) {
	t.Parallel()
	answer := make([]byte, 1<<20)
	u := newUnsent(maxUnsent)
	u.stall = 500 * time.Millisecond
	s := startUnsent(t, u, answer)
	c := readNothing(t, s)
	until(t, "the answer waits", func() bool { b, _ := u.usage(); return b > 0 })
	until(t, "its reader is cut off", func() bool { b, _ := u.usage(); return b == 0 })
	if got, _ := io.ReadAll(c); len(got) >= len(answer) {
		t.Errorf("%d bytes came after all", len(got))
	}
}
