// Package pgproxy is a proxy in front of a PostgreSQL server that fails in the ways in
// which networks fail.
package pgproxy

import (
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"chairside/internal/clock"
)

// Proxy forwards bytes, until it is told to fail.
type Proxy struct {
	listener net.Listener
	closing  atomic.Bool  // new connections are accepted and closed at once
	delay    atomic.Int64 // a time.Duration

	mu      sync.Mutex
	targets []string // new connections take turns on them
	links   map[*link]bool
}

// link is one connection through the proxy.
type link struct {
	client, server *net.TCPConn
	swallow        atomic.Bool
	left           [2]atomic.Int64 // bytes that still pass to and from the server, if limited
	limited        [2]atomic.Bool
}

// Direction is one of the two ways through the proxy.
type Direction int

// The directions.
const (
	ToServer Direction = iota
	FromServer
)

// New starts a proxy in front of a database's server and returns the database's URL
// through it. It ends with the test.
func New(t testing.TB, address string) (*Proxy, string) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{listener: listener, targets: []string{u.Host}, links: map[*link]bool{}}
	t.Cleanup(func() {
		listener.Close()
		p.Reset()
	})
	go p.accept()
	u.Host = listener.Addr().String()
	return p, u.String()
}

// accept connects each client with the server, or closes the connection while Close is in
// effect.
func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		if p.closing.Load() {
			_ = client.Close()
			continue
		}
		server, err := net.Dial("tcp", p.next())
		if err != nil {
			_ = client.Close()
			continue
		}
		l := &link{client: client.(*net.TCPConn), server: server.(*net.TCPConn)}
		p.mu.Lock()
		p.links[l] = true
		p.mu.Unlock()
		go p.pass(l, l.client, l.server, ToServer)
		go p.pass(l, l.server, l.client, FromServer)
	}
}

// next returns the target of the next connection.
func (p *Proxy) next() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	first := p.targets[0]
	p.targets = append(p.targets[1:], first)
	return first
}

// Target leads new connections to the servers of these databases, in turn.
func (p *Proxy) Target(t testing.TB, addresses ...string) {
	t.Helper()
	var targets []string
	for _, address := range addresses {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		targets = append(targets, u.Host)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.targets = targets
}

// part is what one read has found.
type part struct {
	bytes []byte
	at    time.Time // when it is passed on
	last  bool      // the connection ends behind it
}

// maxParts is the most parts of a connection that are held back.
const maxParts = 1024

// pass forwards bytes in one direction. Delayed parts do not delay the reading of the
// next, so several messages sent together take one delay.
func (p *Proxy) pass(l *link, from, to *net.TCPConn, d Direction) {
	parts := make(chan part, maxParts)
	defer close(parts)
	go p.deliver(l, to, parts)
	for {
		b := make([]byte, 32<<10)
		n, err := from.Read(b)
		if err != nil {
			return
		}
		if l.swallow.Load() {
			continue
		}
		next := part{}
		if l.limited[d].Load() {
			if left := int(l.left[d].Load()); n >= left {
				n, next.last = left, true
			}
			l.left[d].Add(-int64(n))
		}
		if d == ToServer {
			next.at = clock.Deadline(time.Duration(p.delay.Load()))
		}
		next.bytes = b[:n]
		parts <- next
		if next.last {
			return
		}
	}
}

// deliver writes parts when they are due, then ends the connection.
func (p *Proxy) deliver(l *link, to *net.TCPConn, parts <-chan part) {
	for next := range parts {
		if wait := time.Until(next.at); wait > 0 {
			<-time.After(wait)
		}
		if _, err := to.Write(next.bytes); err != nil {
			break
		}
		if next.last { // what was passed arrives, then the end
			_ = to.CloseWrite()
			break
		}
	}
	p.reset(l)
	for range parts { // pass must not wait for room
	}
}

func (p *Proxy) reset(l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.links, l)
	_ = l.client.Close()
	_ = l.server.Close()
}

func (p *Proxy) each(do func(l *link)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		do(l)
	}
}

// Delay makes each round trip take d longer, from the next message on, on open and on new
// connections.
func (p *Proxy) Delay(d time.Duration) { p.delay.Store(int64(d)) }

// Swallow discards all data on the open connections and keeps them open. New ones work.
func (p *Proxy) Swallow() { p.each(func(l *link) { l.swallow.Store(true) }) }

// Reset ends all open connections with a TCP reset.
func (p *Proxy) Reset() {
	p.each(func(l *link) {
		_ = l.client.SetLinger(0)
		_ = l.client.Close()
		_ = l.server.Close()
	})
}

// Cut ends each open connection after n more bytes in a direction.
func (p *Proxy) Cut(d Direction, n int) {
	p.each(func(l *link) {
		l.left[d].Store(int64(n))
		l.limited[d].Store(true)
	})
}

// Close makes the proxy close new connections at once, like a proxy without a primary,
// or accept them again.
func (p *Proxy) Close(closing bool) { p.closing.Store(closing) }
