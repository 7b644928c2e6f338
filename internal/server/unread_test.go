package server

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// writing is a connection of a client that writes its whole request before it reads.
type writing struct {
	net.Conn
	t *testing.T
}

// writeFirst opens a connection to a server and writes a header. The connection buffers little, so that a body that the server
// does not read is not accepted by the operating system in its place.
func writeFirst(t *testing.T, server *httptest.Server, lines ...string) writing {
	t.Helper()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.(*net.TCPConn).SetWriteBuffer(64 << 10); err != nil {
		t.Fatal(err)
	}
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "%s\r\nHost: api.example.test\r\nUser-Agent: test/1.0\r\n\r\n", strings.Join(lines, "\r\n"))
	return writing{conn, t}
}

// response reads a response.
func (w writing) response(in *bufio.Reader) *http.Response {
	w.t.Helper()
	r, err := http.ReadResponse(in, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	defer r.Body.Close()
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		w.t.Fatal(err)
	}
	return r
}

// TestClientsThatWriteFirstGetTheResponse: a request that is refused before its body was read is answered all the same,
// and the connection goes on.
func TestClientsThatWriteFirstGetTheResponse(t *testing.T) {
	t.Parallel()
	b := setup(t)
	server := httptest.NewServer(b.Handler())
	t.Cleanup(server.Close)
	const size = maxUnread - 1
	body := strings.Repeat("x", size)
	authorization, length := "Authorization: Bearer "+b.token, fmt.Sprintf("Content-Length: %d", size)
	for _, c := range []struct {
		name   string
		lines  []string
		status int
	}{
		{"a large body", []string{"POST /v1/patients HTTP/1.1", authorization, "Content-Type: application/json", length}, http.StatusRequestEntityTooLarge},
		{"no token", []string{"POST /v1/patients HTTP/1.1", "Content-Type: application/json", length}, http.StatusUnauthorized},
		{"no JSON", []string{"POST /v1/patients HTTP/1.1", authorization, "Content-Type: text/plain", length}, http.StatusUnsupportedMediaType},
		{"no such address", []string{"POST /v1/nothing HTTP/1.1", length}, http.StatusNotFound},
		{"a large batch", []string{"POST /v1/batch HTTP/1.1", authorization, "Content-Type: application/json", length}, http.StatusRequestEntityTooLarge},
		{"a large message", []string{"POST /mcp HTTP/1.1", authorization, "Content-Type: application/json", length}, http.StatusRequestEntityTooLarge},
		{"a large form of an application", []string{"POST /oauth/token HTTP/1.1", "Content-Type: application/x-www-form-urlencoded", length}, http.StatusRequestEntityTooLarge},
		{"a large form of a page", []string{"POST /sign-in HTTP/1.1", "Content-Type: application/x-www-form-urlencoded", length}, http.StatusRequestEntityTooLarge},
		{"settings without a session", []string{"POST /settings/tokens HTTP/1.1", "Content-Type: application/x-www-form-urlencoded", length}, http.StatusSeeOther},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, chunked := range []bool{false, true} {
				lines, sent := c.lines, body
				if chunked {
					lines, sent = append(append([]string{}, lines[:len(lines)-1]...), "Transfer-Encoding: chunked"), fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", size, body)
				}
				w := writeFirst(t, server, lines...)
				if _, err := io.WriteString(w, sent); err != nil {
					t.Fatalf("chunked %t: %v", chunked, err)
				}
				in := bufio.NewReader(w)
				if r := w.response(in); r.StatusCode != c.status || r.Close {
					t.Errorf("chunked %t: status %d, and the connection is closed: %t", chunked, r.StatusCode, r.Close)
				}
				fmt.Fprint(w, "GET /healthz HTTP/1.1\r\nHost: api.example.test\r\n\r\n")
				if r := w.response(in); r.StatusCode != http.StatusOK {
					t.Errorf("chunked %t: the next request gets %d", chunked, r.StatusCode)
				}
			}
		})
	}
}

// TestEndlessBodiesAreCut: neither clients that send for ever nor silent ones keep a connection.
func TestEndlessBodiesAreCut(t *testing.T) {
	t.Parallel()
	b := setup(t)
	server := httptest.NewServer(b.Handler())
	t.Cleanup(server.Close)
	const post = "POST /v1/patients HTTP/1.1"
	t.Run("for ever", func(t *testing.T) {
		t.Parallel()
		for _, framing := range []string{"Transfer-Encoding: chunked", "Content-Length: 1000000000000"} {
			w, sent := writeFirst(t, server, post, framing), 0
			chunk := "10000\r\n" + strings.Repeat("x", 0x10000) + "\r\n"
			for ; sent < 64<<20; sent += len(chunk) {
				if _, err := io.WriteString(w, chunk); err != nil {
					break
				}
			}
			if sent >= 64<<20 {
				t.Errorf("%s: the server has accepted %d bytes", framing, sent)
			}
		}
	})
	t.Run("silent", func(t *testing.T) {
		t.Parallel()
		w := writeFirst(t, server, post, "Content-Length: 1000")
		fmt.Fprint(w, "some")
		in := bufio.NewReader(w)
		if r := w.response(in); r.StatusCode != http.StatusUnauthorized || !r.Close {
			t.Errorf("status %d, and the connection is closed: %t", r.StatusCode, r.Close)
		}
		if _, err := in.ReadByte(); !errors.Is(err, io.EOF) {
			t.Errorf("the connection goes on: %v", err)
		}
	})
	t.Run("asked to wait", func(t *testing.T) {
		t.Parallel()
		w := writeFirst(t, server, post, "Content-Length: 1000", "Expect: 100-continue")
		if r := w.response(bufio.NewReader(w)); r.StatusCode != http.StatusUnauthorized || !r.Close {
			t.Errorf("status %d, and the connection is closed: %t", r.StatusCode, r.Close)
		}
	})
}
