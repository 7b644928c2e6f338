package dbconn

import "encoding/binary"

// greeting follows the messages with which a server begins a connection, for the process that
// BackendKeyData names. lib/pq keeps that number to itself. A TLS connection hides it.
type greeting struct {
	received []byte // the messages that are not complete yet
	begun    bool
	ended    bool
	process  int64 // 0 if it is not known
}

// maxGreeting is the most bytes that are kept; a server's messages before ReadyForQuery are short.
const maxGreeting = 64 << 10

// receive takes the next bytes of the connection.
func (g *greeting) receive(p []byte) {
	if g.ended || len(p) == 0 {
		return
	}
	if !g.begun {
		g.begun = true
		switch p[0] { // the answer to a request for TLS is one byte; otherwise the first message is 'R' or 'E'
		case 'S':
			g.ended = true
			return
		case 'N':
			p = p[1:]
		}
	}
	g.received = append(g.received, p...)
	const head = 5 // type and length
	for len(g.received) >= head && !g.ended {
		length := 1 + int(binary.BigEndian.Uint32(g.received[1:]))
		switch kind := g.received[0]; {
		case kind == 'Z' || length < head || length > maxGreeting:
			g.ended = true
		case len(g.received) < length:
			return
		case kind == 'K' && length >= head+4:
			g.process, g.ended = int64(binary.BigEndian.Uint32(g.received[head:])), true
		default:
			g.received = g.received[length:]
		}
	}
	if g.ended {
		g.received = nil
	}
}
