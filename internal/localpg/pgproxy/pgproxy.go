// Package pgproxy puts a proxy between a test and its PostgreSQL server, which loses
// connections in the ways in which networks do.
package pgproxy

import (
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
)

// Proxy passes bytes on, until it is told otherwise.
type Proxy struct {
	listener net.Listener
	target   string
	closing  atomic.Bool // new connections are accepted and closed at once

	mu    sync.Mutex
	links map[*link]bool
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

// New starts a proxy in front of the server of a database, and gives the database's
// address through it. It ends with the test.
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
	p := &Proxy{listener: listener, target: u.Host, links: map[*link]bool{}}
	t.Cleanup(func() {
		listener.Close()
		p.Reset()
	})
	go p.accept()
	u.Host = listener.Addr().String()
	return p, u.String()
}

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
		server, err := net.Dial("tcp", p.target)
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

// pass passes bytes on in one direction.
func (p *Proxy) pass(l *link, from, to *net.TCPConn, d Direction) {
	defer p.reset(l)
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		if err != nil {
			return
		}
		if l.swallow.Load() {
			continue
		}
		cut := false
		if l.limited[d].Load() {
			if left := int(l.left[d].Load()); n >= left {
				n, cut = left, true
			}
			l.left[d].Add(-int64(n))
		}
		if _, err := to.Write(b[:n]); err != nil {
			return
		}
		if cut { // what was passed arrives, then the end
			_ = to.CloseWrite()
			return
		}
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

// Swallow has the proxy read and forget all that is sent on the open connections, which
// stay open. New ones work.
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

// Close has the proxy accept connections and close them at once, as one does that knows
// no primary, or serve them again.
func (p *Proxy) Close(closing bool) { p.closing.Store(closing) }
