package schedule_test

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"net"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"chairside/internal/report/schedule"
)

// smtpServer is a mail server for tests.
type smtpServer struct {
	port     int
	startTLS *tls.Config       // nil to offer no STARTTLS
	auth     string            // mechanisms that it offers, such as PLAIN; "" for none
	replies  map[string]string // its reply to a command, in place of success
	silent   string            // the command after which it says nothing; CONNECT for the greeting
	drops    bool              // ends the connection once it has a mail

	mu    sync.Mutex
	mails []string // data
	to    []string // recipients of mails
	lines []string // commands
	ended chan struct{}
}

// smtp starts a mail server.
func smtp(t testing.TB, change func(s *smtpServer)) *smtpServer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &smtpServer{port: listener.Addr().(*net.TCPAddr).Port, replies: map[string]string{}, ended: make(chan struct{})}
	change(s)
	var conversations sync.WaitGroup
	conversations.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			conversations.Go(func() {
				defer conn.Close()
				s.talk(conn)
			})
		}
	})
	t.Cleanup(func() {
		close(s.ended)
		listener.Close()
		conversations.Wait()
	})
	return s
}

// talk has one conversation.
func (s *smtpServer) talk(conn net.Conn) {
	in, secure := bufio.NewReader(conn), false
	say := func(text string) { fmt.Fprintf(conn, "%s\r\n", text) }
	if s.silent == "CONNECT" {
		<-s.ended
		return
	}
	say("220 mail.test ESMTP")
	var to string
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimRight(line, "\r\n")
		s.mu.Lock()
		s.lines = append(s.lines, line)
		s.mu.Unlock()
		verb, _, _ := strings.Cut(strings.ToUpper(line), " ")
		if verb == s.silent {
			<-s.ended
			return
		}
		if reply := s.replies[verb]; reply != "" {
			say(reply)
			continue
		}
		switch verb {
		case "EHLO":
			offers := []string{"mail.test"}
			if s.startTLS != nil && !secure {
				offers = append(offers, "STARTTLS")
			}
			if s.auth != "" {
				offers = append(offers, "AUTH "+s.auth)
			}
			for _, offer := range offers[:len(offers)-1] {
				say("250-" + offer)
			}
			say("250 " + offers[len(offers)-1])
		case "STARTTLS":
			say("220 go ahead")
			conn = tls.Server(conn, s.startTLS)
			in, secure = bufio.NewReader(conn), true
		case "AUTH":
			say("235 welcome")
		case "RCPT":
			to = line
			say("250 ok")
		case "DATA":
			say("354 go on")
			var data strings.Builder
			for {
				line, err := in.ReadString('\n')
				if err != nil {
					return
				}
				if line == ".\r\n" {
					break
				}
				data.WriteString(strings.TrimPrefix(line, "."))
			}
			s.mu.Lock()
			s.mails, s.to = append(s.mails, data.String()), append(s.to, to)
			s.mu.Unlock()
			if s.drops {
				return
			}
			say("250 accepted")
		case "QUIT":
			say("221 bye")
			return
		default:
			say("250 ok")
		}
	}
}

// received returns the mails.
func (s *smtpServer) received() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.mails)
}

// saw reports whether a client has sent a text, or its base64 form.
func (s *smtpServer) saw(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	encoded := base64.StdEncoding.EncodeToString([]byte(text))
	return slices.ContainsFunc(s.lines, func(line string) bool { return strings.Contains(line, text) || strings.Contains(line, encoded) })
}

// count returns how often clients have sent a command.
func (s *smtpServer) count(command string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, line := range s.lines {
		if strings.HasPrefix(strings.ToUpper(line), command) {
			n++
		}
	}
	return n
}

// mail returns the server as the program's flags describe it.
func (s *smtpServer) mail() *schedule.Mail {
	return &schedule.Mail{Host: "127.0.0.1", Port: s.port, From: "reports@practice.test"}
}

// certificate returns a certificate for 127.0.0.1, and what makes it valid.
func certificate(t testing.TB) (*tls.Config, *x509.CertPool) {
	t.Helper()
	s := httptest.NewTLSServer(nil)
	t.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return &tls.Config{Certificates: s.TLS.Certificates, MinVersion: tls.VersionTLS12}, roots
}
