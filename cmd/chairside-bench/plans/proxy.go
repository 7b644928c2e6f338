package plans

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5/pgproto3"
)

// Statement is a prepared statement with the arguments of one execution.
type Statement struct {
	Text string
	Args []*string // in text form, nil for NULL
}

// The kinds of reading statements of a list.
const (
	Rows   = "rows"
	Picked = "picked" // rows selected by a filter first, then sorted
	Count  = "count"
	Sum    = "sum"
)

// Kind returns the kind of a statement.
func (s Statement) Kind() string {
	switch text := strings.ToUpper(s.Text); {
	case strings.HasPrefix(text, `WITH "PICKED" `):
		return Picked
	case strings.HasPrefix(text, "SELECT COUNT"):
		return Count
	case strings.HasPrefix(text, "SELECT SUM"):
		return Sum
	}
	return Rows
}

// Proxy forwards connections to PostgreSQL and records the executed statements. It does not
// support encryption.
type Proxy struct {
	listener net.Listener
	target   string

	mu       sync.Mutex
	recorded []Statement
	err      error // the first message that could not be parsed
}

// Listen starts a proxy on a free port of this machine.
func Listen(target string) (*Proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("plans: %w", err)
	}
	p := &Proxy{listener: listener, target: target}
	go p.accept()
	return p, nil
}

// Addr returns the proxy's host and port.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Close stops listening. Open connections continue until one side closes them.
func (p *Proxy) Close() error { return p.listener.Close() }

// Take returns the statements since its last call. A statement is recorded before
// PostgreSQL gets it, so all statements of a response are included.
func (p *Proxy) Take() ([]Statement, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	recorded := p.recorded
	p.recorded = nil
	return recorded, p.err
}

// accept serves clients until the listener is closed.
func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return // closed
		}
		go p.serve(client)
	}
}

// serve copies a client's connection to PostgreSQL and back, and records its statements.
func (p *Proxy) serve(client net.Conn) {
	defer func() { _ = client.Close() }() // both ends may be closed already
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		p.fail(err)
		return
	}
	defer func() { _ = server.Close() }()
	go func() {
		_, _ = io.Copy(client, server) // ends with the connection
		_ = client.Close()
	}()
	if err := p.read(client, server); !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) {
		p.fail(err)
	}
}

// fail keeps the first error, which Take returns.
func (p *Proxy) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err = fmt.Errorf("plans: %w", err)
	}
}

// longestMessage is longer than any message of Chairside.
const longestMessage = 64 << 20

// read forwards the client's messages: the first without a type, the others with a type
// byte, a length that includes itself, and a body. It returns an error when a connection
// ends.
func (p *Proxy) read(client io.Reader, server io.Writer) error {
	prepared := map[string]string{} // name → text
	for header := 4; ; header = 5 {
		message := make([]byte, header)
		if _, err := io.ReadFull(client, message); err != nil {
			return err
		}
		length := binary.BigEndian.Uint32(message[header-4:])
		if length < 4 || length > longestMessage {
			return fmt.Errorf("invalid message length: %d bytes", length)
		}
		message = append(message, make([]byte, length-4)...)
		if _, err := io.ReadFull(client, message[header:]); err != nil {
			return err
		}
		if header == 5 {
			if err := p.record(prepared, message[0], message[header:]); err != nil {
				return err
			}
		}
		if _, err := server.Write(message); err != nil {
			return err
		}
	}
}

// record records an executed statement. kind is the message type: P (parse), B (bind) or Q
// (simple query).
func (p *Proxy) record(prepared map[string]string, kind byte, body []byte) error {
	switch kind {
	case 'P':
		var parse pgproto3.Parse
		if err := parse.Decode(body); err != nil {
			return err
		}
		prepared[parse.Name] = parse.Query
	case 'B':
		var bind pgproto3.Bind
		if err := bind.Decode(body); err != nil {
			return err
		}
		s := Statement{Text: prepared[bind.PreparedStatement]}
		for i, value := range bind.Parameters {
			if isBinary(bind.ParameterFormatCodes, i) {
				return errors.New("cannot record an argument in binary format")
			}
			if value == nil {
				s.Args = append(s.Args, nil)
				continue
			}
			text := string(value)
			s.Args = append(s.Args, &text)
		}
		p.add(s)
	case 'Q':
		var query pgproto3.Query
		if err := query.Decode(body); err != nil {
			return err
		}
		p.add(Statement{Text: query.String})
	}
	return nil
}

// isBinary reports whether an argument is binary: no format means text, one format applies
// to all.
func isBinary(codes []int16, i int) bool {
	switch len(codes) {
	case 0:
		return false
	case 1:
		return codes[0] == pgproto3.BinaryFormat
	}
	return codes[i] == pgproto3.BinaryFormat
}

func (p *Proxy) add(s Statement) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.recorded = append(p.recorded, s)
}
