package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"chairside/cmd/chairside-bench/load"
	"chairside/internal/test/localpg"
)

// reportsCommand measures how far reports slow bookings down, on the primary and on a replica.
type reportsCommand struct {
	Size      size          `default:"20k" help:"Data size: 20k, 2M, 10M, or PATIENTSxYEARS. Default: ${default}"`
	Reports   int           `default:"9" help:"Users who show a year's income again and again. Default: ${default}"`
	Rounds    int           `default:"5" help:"Rounds, an odd number. Default: ${default}"`
	Duration  time.Duration `default:"10s" help:"Duration of each measurement. Default: ${default}"`
	Clients   int           `default:"8" help:"Clients that book. Default: ${default}"`
	Rate      float64       `default:"50" help:"Bookings per second of all clients together; 0: as many as the server takes. Default: ${default}"`
	Keep      string        `placeholder:"DIR" help:"Keep and reuse the seeded database in this directory."`
	Chairside string        `placeholder:"FILE" help:"Program to measure. Default: built from this module."`
}

// Help is the text of --help.
func (reportsCommand) Help() string {
	return "Starts a PostgreSQL server and a replica of its own. The target: the p99 of bookings while users show reports is at most 1.3 times that of an idle server. On a machine with few processors any load raises it, so compare it to that under a busy loop, which takes one processor."
}

// Validate checks the flags; the parser calls it.
func (p *reportsCommand) Validate() error {
	if p.Rounds < 1 || p.Rounds%2 == 0 || p.Clients < 1 || p.Reports < 1 || p.Duration <= 0 || p.Rate < 0 {
		return errors.New("--rounds must be odd; --reports, --clients and --duration must be positive, --rate not negative")
	}
	return nil
}

// The servers of reportsCommand.
const (
	onPrimary = "primary"
	onReplica = "replica"
)

// Run measures bookings with and without reports, in turn, and prints a table.
func (p *reportsCommand) Run(c *console) (err error) {
	dir, err := os.MkdirTemp("", "chairside-bench-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	o := &runCommand{Chairside: p.Chairside, Rounds: p.Rounds, Duration: p.Duration, Clients: p.Clients, rate: p.Rate, generate: load.Go}
	program, err := o.build(c, dir)
	if err != nil {
		return err
	}
	k, err := openCluster(c, "", p.Keep, program, localpg.Replicated...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, k.close()) }()
	d, err := k.openDatabase(c, p.Size, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	replica, err := k.own.Standby(c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, replica.Stop()) }()
	token, err := k.token(c, d.url)
	if err != nil {
		return err
	}
	if err := d.startChairside(c, onPrimary, program, d.url, token); err != nil {
		return err
	}
	if err := d.startChairside(c, onReplica, program, d.url, token, "--replica-url", replica.URL(k.working(p.Size))); err != nil {
		return err
	}
	if err := d.openDiary(c); err != nil {
		return err
	}
	return p.measure(c, o, d)
}

// measure books on both servers in each round, under each load, and prints a table.
func (p *reportsCommand) measure(c *console, o *runCommand, d *dataset) error {
	type series struct {
		server string
		load   background
		rounds []measurement
		shown  int64
		idle   *series // the same server without a load; nil for itself
	}
	var all []*series
	for _, server := range []string{onPrimary, onReplica} {
		idle := &series{server: server}
		all = append(all, idle,
			&series{server: server, load: background{users: p.Reports}, idle: idle},
			&series{server: server, load: background{busyLoop: true}, idle: idle})
	}
	book := byID("W5")
	for round := range p.Rounds {
		for i := range all {
			s := all[(i+round)%len(all)]
			e := d.entry(s.server)
			shown, err := during(c, e, s.load, func() error {
				m, err := o.measureLoad(c, d, e, book, nil)
				s.rounds = append(s.rounds, m)
				return err
			})
			if err != nil {
				return err
			}
			s.shown += shown
			c.say("round %d  reads from the %s, load: %s", round+1, s.server, s.load)
		}
	}
	w := newTable(c.out, 3, 4, 5, 6, 7)
	w.AppendHeader(table.Row{"reads from the", "load", "reports", "bookings/s", "p50 ms", "p99 ms", "÷ idle p99"})
	for _, s := range all {
		m, slower := medianMeasurement(s.rounds), ""
		if s.idle != nil {
			slower = ratioBetween(s.rounds, s.idle.rounds, func(m measurement) float64 { return m.P99 }).String()
		}
		w.AppendRow(table.Row{s.server, s.load, s.shown, fmt.Sprintf("%.0f", m.PerSecond), fmt.Sprintf("%.2f", m.P50), fmt.Sprintf("%.2f", m.P99), slower})
	}
	fmt.Fprintf(c.out, "medians of %d rounds of %s, %d clients that book; ratios of the same round, with the lowest and the highest\n", p.Rounds, p.Duration, p.Clients)
	w.Render()
	return nil
}
