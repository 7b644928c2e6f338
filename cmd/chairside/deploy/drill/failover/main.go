// Command failover kills the primary of a PostgreSQL cluster again and again while clients book, read
// and follow the changes, and fails if one of them gets a wrong answer or a booking is lost:
//
//	go run ./cmd/chairside/deploy/drill/failover
//
// Everything runs on loopback, with the configuration in cmd/chairside/deploy/failover: three etcd,
// three PostgreSQL under Patroni, HAProxy, and two servers with replicas. Each kill ends Patroni and
// all processes of the primary with SIGKILL; afterwards a round freezes them with SIGSTOP instead. The
// old primary then comes back as a replica. With -async commits wait for no replica: lost bookings
// are then counted, and do not fail the drill.
//
// Afterwards each acknowledged booking must be there once, a request sent again must get its first
// response, a copy kept by the change feed must equal the list, every change must have reached the
// webhook in order, and "chairside restore-check" must find the database whole.
//
// It needs Linux, etcd, Patroni, HAProxy and PostgreSQL, and takes about eight minutes. To freeze the
// primary it needs Patroni 4 (Debian 13): see canFreeze.
//
//	main.go      the steps
//	cluster.go   etcd, PostgreSQL under Patroni, HAProxy
//	node.go      how a node fails and comes back
//	servers.go   the servers, and one request
//	load.go      all clients
//	bookings.go  clients that book and read
//	feed.go      a copy kept by the change feed, and the receiver of the webhook
//	verdict.go   what must hold afterwards
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"chairside/cmd/chairside/deploy/drill/internal/drill"
)

var (
	kills   = flag.Int("kills", 10, "how often the primary is killed")
	freezes = flag.Int("freezes", 1, "how often it is frozen afterwards; needs Patroni 4")
	async   = flag.Bool("async", false, "commits wait for no replica")
	limit   = flag.Duration("limit", 15*time.Minute, "the drill fails if it takes longer")
	keep    = flag.Bool("keep", false, "keep the directory with all logs")
)

func main() { drill.MainWithProgram(limit, run) }

func run(ctx context.Context, program string) (err error) {
	if *freezes > 0 {
		if err := canFreeze(ctx); err != nil {
			return err
		}
	}
	dir, err := os.MkdirTemp("", "chairside-drill-*")
	if err != nil {
		return err
	}
	if *keep {
		fmt.Println(dir)
	} else {
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	if err := os.Chmod(dir, 0o711); err != nil { //nolint:gosec // PostgreSQL's account enters it
		return err
	}
	c, err := newCluster(dir, *async)
	if err != nil {
		return err
	}
	defer c.stop()
	if err := c.start(ctx); err != nil {
		return err
	}
	s, err := startServers(ctx, c, program)
	if err != nil {
		return err
	}
	defer s.stop()
	l, err := startLoad(ctx, s)
	if err != nil {
		return err
	}
	defer l.stop()

	fmt.Println("step                 promoted   first writes   requests   503  other  wrong  slowest  replicas answered")
	if err := step(ctx, l, "no failure", func() (times, error) { return times{}, drill.Pause(ctx, 5*time.Second) }); err != nil {
		return err
	}
	for n := range *kills {
		if err := step(ctx, l, fmt.Sprintf("kill %d", n+1), func() (times, error) { return failOver(ctx, c, l, (*node).kill) }); err != nil {
			return err
		}
	}
	for n := range *freezes {
		if err := step(ctx, l, fmt.Sprintf("freeze %d", n+1), func() (times, error) { return failOver(ctx, c, l, (*node).freeze) }); err != nil {
			return err
		}
	}
	if err := s.err(); err != nil {
		return err
	}
	return l.verify(ctx)
}

// times are how long after a failure a new primary was there, and each server acknowledged a write.
type times struct {
	promoted time.Duration
	writes   []time.Duration
}

// failOver makes the primary fail, waits until both servers acknowledge bookings again, and brings the
// old primary back.
func failOver(ctx context.Context, c *cluster, l *load, fail func(*node) error) (t times, err error) {
	primary, err := c.primary(ctx)
	if err != nil {
		return t, err
	}
	if err := fail(primary); err != nil {
		return t, err
	}
	began := time.Now() // until now it may have acknowledged writes
	for next := primary; next == nil || next == primary; {
		if err := drill.Pause(ctx, 50*time.Millisecond); err != nil {
			return t, fmt.Errorf("no other node became the primary: %w", err)
		}
		next, _ = c.primary(ctx) // nil until there is one
	}
	t.promoted = time.Since(began)
	for server := range l.servers.all {
		first, err := l.firstWrite(ctx, server, began)
		if err != nil {
			return t, err
		}
		t.writes = append(t.writes, first.Sub(began))
	}
	if err := l.replay(ctx); err != nil {
		return t, err
	}
	if err := primary.comeBack(c); err != nil {
		return t, err
	}
	return t, c.awaitWhole(ctx)
}

// step does something under load and prints a line of the table.
func step(ctx context.Context, l *load, name string, do func() (times, error)) error {
	before, reads := l.counts(), l.servers.replicaReads(ctx)
	took, err := do()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	after := l.counts()
	writes := ""
	for _, w := range took.writes {
		writes += fmt.Sprintf("%6.1fs", w.Seconds())
	}
	fmt.Printf("%-20s %7.1fs %14s %10d %5d %6d %6d %6.1fs %10d\n", name, took.promoted.Seconds(), writes, after.requests-before.requests,
		after.unavailable-before.unavailable, after.other-before.other, after.wrong-before.wrong, l.takeSlowest().Seconds(), l.servers.replicaReads(ctx)-reads)
	return nil
}
