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
	Duration  time.Duration `default:"5s" help:"Duration of each measurement. Default: ${default}"`
	Clients   int           `default:"8" help:"Clients that book. Default: ${default}"`
	Rate      float64       `default:"50" help:"Bookings per second of all clients together; 0: as many as the server takes. Default: ${default}"`
	Keep      string        `placeholder:"DIR" help:"Keep and reuse the seeded database in this directory."`
	Chairside string        `placeholder:"FILE" help:"Program to measure. Default: built from this module."`
}

// Help is the text of --help.
func (reportsCommand) Help() string {
	return "Starts a PostgreSQL server and a replica of its own. A booking's p99 with reports, divided by that without, should be at most 1.3 with the reports on a replica. Where the clients, both databases and the server share few processors, it rather shows how these are shared."
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

// measure books on both servers, with reports and without, in each round.
func (p *reportsCommand) measure(c *console, o *runCommand, d *dataset) error {
	cases := []struct {
		where   string
		reports int
		rounds  []measurement
		shown   int64
	}{{where: onPrimary}, {where: onPrimary, reports: p.Reports}, {where: onReplica}, {where: onReplica, reports: p.Reports}}
	book := byID("W5")
	for round := range p.Rounds {
		for i := range cases {
			x := &cases[(i+round)%len(cases)]
			e := d.entry(x.where)
			shown, err := during(c, e, x.reports, func() error {
				m, err := o.measureLoad(c, d, e, book, nil)
				x.rounds = append(x.rounds, m)
				return err
			})
			if err != nil {
				return err
			}
			x.shown += shown
			c.say("round %d  reports on the %s: %d", round+1, x.where, x.reports)
		}
	}
	w := newTable(c.out, 2, 3, 4, 5, 6, 7)
	w.AppendHeader(table.Row{"reports run on the", "reports", "shown", "bookings/s", "p50 ms", "p99 ms", "p99 to that without"})
	for i, x := range cases {
		m, slower := medianMeasurement(x.rounds), ""
		if x.reports > 0 {
			slower = fmt.Sprintf("%.2f", m.P99/medianMeasurement(cases[i-1].rounds).P99)
		}
		w.AppendRow(table.Row{x.where, x.reports, x.shown, fmt.Sprintf("%.0f", m.PerSecond), fmt.Sprintf("%.2f", m.P50), fmt.Sprintf("%.2f", m.P99), slower})
	}
	fmt.Fprintf(c.out, "medians of %d rounds of %s, %d clients that book\n", p.Rounds, p.Duration, p.Clients)
	w.Render()
	return nil
}
