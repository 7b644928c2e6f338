package pgproxy

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"testing"
)

// Rewrite starts a proxy that changes the statements of some connections: those whose startup
// message, which names the user, the database and the settings, contains marker. It returns the
// database's URL through the proxy, which ends with the test. The URL must not use TLS.
func Rewrite(t testing.TB, address, marker string, change func(statement []byte) []byte) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	target := u.Host
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = client.Close() }() // the other end may have closed it
				server, err := net.Dial("tcp", target)
				if err != nil {
					return
				}
				defer func() { _ = server.Close() }()
				go func() {
					_, _ = io.Copy(client, server) // ends with either connection
					_ = client.Close()
				}()
				rewrite(client, server, []byte(marker), change)
			}()
		}
	}()
	u.Host = listener.Addr().String()
	return u.String()
}

// rewrite passes messages from a client to a server until one of the connections ends.
func rewrite(client io.Reader, server io.Writer, marker []byte, change func([]byte) []byte) {
	startup, err := message(client, nil)
	if err != nil {
		return
	}
	if _, err := server.Write(startup); err != nil {
		return
	}
	if !bytes.Contains(startup, marker) {
		_, _ = io.Copy(server, client)
		return
	}
	for kind := make([]byte, 1); ; {
		if _, err := io.ReadFull(client, kind); err != nil {
			return
		}
		m, err := message(client, kind)
		if err != nil {
			return
		}
		if _, err := server.Write(changed(m, change)); err != nil {
			return
		}
	}
}

// message reads a message after its kind, and returns it with the kind.
func message(from io.Reader, kind []byte) ([]byte, error) {
	length := make([]byte, 4)
	if _, err := io.ReadFull(from, length); err != nil {
		return nil, err
	}
	m := append(bytes.Clone(kind), length...)
	rest := make([]byte, binary.BigEndian.Uint32(length)-4)
	_, err := io.ReadFull(from, rest)
	return append(m, rest...), err
}

// changed returns a message with its statement changed, if it has one: a Parse or a Query.
func changed(m []byte, change func([]byte) []byte) []byte {
	begin := 5
	switch m[0] {
	case 'P': // the name of the prepared statement comes first
		begin += bytes.IndexByte(m[5:], 0) + 1
	case 'Q':
	default:
		return m
	}
	end := begin + bytes.IndexByte(m[begin:], 0)
	body := bytes.Join([][]byte{m[5:begin], change(m[begin:end]), m[end:]}, nil)
	return append(binary.BigEndian.AppendUint32(m[:1:1], uint32(len(body)+4)), body...)
}
