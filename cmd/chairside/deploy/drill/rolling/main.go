// Command rolling restarts and upgrades two servers behind HAProxy under load, and fails if a
// request fails:
//
//	go run ./cmd/chairside/deploy/drill/rolling
//
// Everything runs on loopback: PostgreSQL, two servers, HAProxy without retries, and clients that
// read and book at a steady rate. Each server is restarted in turn, with SIGTERM. Then a program
// with two more migrations is built: its "migrate up" runs while the old servers serve, and it
// replaces one server after the other. At the end the servers must hold each acknowledged booking
// once. It needs HAProxy and PostgreSQL, and takes about three minutes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"chairside/cmd/chairside/deploy/drill/internal/drill"
	"chairside/internal/test/localpg"
)

var (
	restarts = flag.Int("restarts", 20, "restarts, of both servers in turn")
	rate     = flag.Int("rate", 500, "requests per second, a fifth of them bookings")
	drain    = flag.Duration("drain", 5*time.Second, "--drain of the servers")
	limit    = flag.Duration("limit", 10*time.Minute, "the drill fails if it takes longer")
)

func main() { drill.MainWithProgram(limit, run) }

func run(ctx context.Context, old string) (err error) {
	dir, err := os.MkdirTemp("", "chairside-drill-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	newer, err := buildNewer(ctx, dir)
	if err != nil {
		return err
	}

	postgres, err := localpg.Start(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, postgres.Stop()) }()
	d, err := prepare(ctx, dir, postgres, old)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.stop()) }()
	if err := d.start(ctx, old); err != nil {
		return err
	}
	load := startLoad(ctx, d.proxy.url, d.token, *rate)
	defer load.stop()

	fmt.Println("step                           stopped after  back after  requests  failed  slowest")
	if err := step(load, "no restart", func() (times, error) { return times{}, drill.Pause(ctx, 5*time.Second) }); err != nil {
		return err
	}
	for i := range *restarts {
		server := d.servers[i%len(d.servers)]
		if err := step(load, fmt.Sprintf("restart %d of %s", i+1, server.name), func() (times, error) { return d.restart(ctx, server, old) }); err != nil {
			return err
		}
	}
	if err := step(load, "newer program: migrate up", func() (times, error) { return times{}, d.command(ctx, newer, "migrate", "up") }); err != nil {
		return err
	}
	for _, server := range d.servers {
		if err := step(load, "upgrade of "+server.name, func() (times, error) { return d.restart(ctx, server, newer) }); err != nil {
			return err
		}
	}
	load.stop()
	return verdict(ctx, load)
}

// times are how long a server took to exit, and to be UP again for the load balancer.
type times struct{ stopped, back time.Duration }

// step does something under load and prints a line of the table.
func step(load *load, name string, do func() (times, error)) error {
	before := load.counts()
	took, err := do()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	after := load.counts()
	fmt.Printf("%-30s %12.1fs %10.1fs %9d %7d %7dms\n", name, took.stopped.Seconds(), took.back.Seconds(),
		after.done-before.done, after.failed-before.failed, load.takeSlowest().Milliseconds())
	return nil
}

// verdict fails if a request failed, or if the servers do not hold each acknowledged booking
// once.
func verdict(ctx context.Context, load *load) error {
	c := load.counts()
	booked, err := load.bookings(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("\n%d requests, %d failed; %d bookings acknowledged, %d held\n", c.done, c.failed, c.booked, booked)
	if c.failed > 0 || booked != c.booked {
		return fmt.Errorf("the drill failed: %w", load.firstFailure())
	}
	return nil
}
