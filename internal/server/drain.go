package server

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// A server stops in three steps, so that neither a load balancer nor a client that keeps its
// connection loses a request:
//
//	drain     /readyz responds 503 and everything else works, for Options.Drain
//	release   every response closes its connection, until no connection is idle, at most releaseTime
//	shutdown  the listener and idle connections are closed, running requests finish
//
// HTTP/1.1 cannot announce that an idle connection ends: a request that is already on its way
// is lost. So a connection is closed with its next response, and only one that was silent for the
// whole release without any.

// releaseTime is how long an idle connection may take to send its next request.
const releaseTime = 2 * time.Second

// stopState is how far a server has stopped.
type stopState = int32

const (
	running stopState = iota
	draining
	releasing
)

// drain responds to readiness probes with 503 and serves on, until the time is over.
func (s *Server) drain(hurry <-chan struct{}) {
	s.stopping.Store(draining)
	select {
	case <-time.After(s.Drain):
	case <-hurry:
	}
}

// release closes each connection with its next response, until none is idle.
func (s *Server) release(idle *idleConnections, hurry <-chan struct{}) {
	s.stopping.Store(releasing)
	s.feed.Close()
	if s.Drain == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), releaseTime)
	defer cancel()
	tick := time.NewTicker(releaseTime / 100)
	defer tick.Stop()
	for idle.count() > 0 {
		select {
		case <-tick.C:
		case <-hurry:
			return
		case <-ctx.Done():
			return
		}
	}
}

// idleConnections are the kept connections that wait for a request.
type idleConnections struct {
	mu   sync.Mutex
	idle map[net.Conn]struct{}
}

// track is the server's ConnState.
func (i *idleConnections) track(c net.Conn, state http.ConnState) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if state == http.StateIdle {
		i.idle[c] = struct{}{}
	} else {
		delete(i.idle, c)
	}
}

func (i *idleConnections) count() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.idle)
}
