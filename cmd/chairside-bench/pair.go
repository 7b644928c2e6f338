package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"chairside/cmd/chairside-bench/load"
	"chairside/internal/civil"
)

// pairCommand compares two builds of the program on the same database, such as one
// without a departure of internal/arch/departures.md and one with it.
type pairCommand struct {
	A        string        `arg:"" help:"A build of the program."`
	B        string        `arg:"" help:"Another build, which also seeds and migrates."`
	Size     size          `default:"20k" help:"Size of the data: 20k, 2M, 10M, or PATIENTSxYEARS. Default: ${default}"`
	Only     []string      `placeholder:"W1,…" help:"Only these workloads."`
	Path     []string      `sep:"none" help:"Measure GETs of these paths, in turns, instead of the workloads; repeatable."`
	Rounds   int           `default:"7" help:"How often each is measured, an odd number. Default: ${default}"`
	Duration time.Duration `default:"1s" help:"How long each is measured. Default: ${default}"`
	WarmUp   time.Duration `default:"300ms" help:"How long each is sent before. Default: ${default}"`
	Clients  int           `default:"8" help:"Connections at a time. Default: ${default}"`
	SQLite   bool          `name:"sqlite" help:"On SQLite instead of PostgreSQL."`
	Keep     string        `placeholder:"DIR" help:"Keep the seeded databases there, and use them again."`
	Postgres string        `placeholder:"URL" help:"A PostgreSQL server to use instead of one of the benchmark's own."`
}

// builds are the names of the two servers.
var builds = [2]string{"A", "B"}

// samePair is the number of requests whose answers are compared before measuring.
const samePair = 10

// settings are those of a run.
func (p *pairCommand) settings() *runCommand {
	return &runCommand{
		Only: p.Only, Rounds: p.Rounds, Duration: p.Duration, WarmUp: p.WarmUp, Clients: p.Clients, Samples: samePair,
		Sizes: []size{p.Size}, generate: load.Go,
	}
}

// Validate reports what cannot be; the parser calls it.
func (p *pairCommand) Validate() error { return p.settings().Validate() }

// Run starts both servers, compares their answers, measures and prints.
func (p *pairCommand) Run(c *console) (err error) {
	for _, file := range []*string{&p.A, &p.B} {
		if *file, err = filepath.Abs(*file); err != nil {
			return err
		}
	}
	k, err := openCluster(c, p.Postgres, p.Keep, p.B)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, k.close()) }()
	d, err := k.openDatabase(c, p.Size, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	if err := p.start(c, d); err != nil {
		return err
	}
	o := p.settings()
	if len(p.Path) == 0 {
		if _, err := o.compare(c, d); err != nil {
			return err
		}
	}
	w := newTable(c.out, 2, 3, 4, 5, 6, 7, 8, 9, 10)
	w.AppendHeader(table.Row{"workload", "A server", "A db", "B server", "B db", "A ÷ B", "A allocs", "B allocs", "A trips", "B trips"})
	for _, x := range p.workloads(o) {
		row, err := p.row(c, o, d, x)
		if err != nil {
			return err
		}
		w.AppendRow(row)
	}
	fmt.Fprintf(c.out, "medians of %d rounds of %s, %d clients; processor time in µs per request\n", p.Rounds, p.Duration, p.Clients)
	w.Render()
	return nil
}

func (p *pairCommand) start(c *console, d *dataset) error {
	where := d.url
	if p.SQLite {
		var err error
		if where, err = d.cluster.prepareSQLite(c, p.Size, civil.Of(time.Now()), false); err != nil {
			return err
		}
	}
	token, err := d.cluster.token(c, where)
	if err != nil {
		return err
	}
	for i, program := range []string{p.A, p.B} {
		if err := d.startChairside(c, builds[i], program, where, token); err != nil {
			return err
		}
	}
	return d.openDiary(c)
}

// workloads are those to measure: one of the paths, if there are any.
func (p *pairCommand) workloads(o *runCommand) []workload {
	if len(p.Path) == 0 {
		return o.chosen()
	}
	return []workload{{ID: "paths", Title: p.Path[0], requests: func(context.Context, *dataset) ([]load.Request, error) {
		return gets(p.Path, func(path string) string { return path }), nil
	}}}
}

// cost is what one request costs on average.
type cost struct {
	server, database time.Duration // of processors
	allocations      float64
	trips            float64 // to the database
}

func (c cost) total() float64 { return float64(c.server + c.database) }

// row measures a workload on both builds, in turns, and returns its line of the table.
func (p *pairCommand) row(c *console, o *runCommand, d *dataset, w workload) (table.Row, error) {
	var requests []load.Request
	if !w.Writes {
		var err error
		if requests, err = d.requests(c, w); err != nil {
			return nil, err
		}
	}
	var costs [2][]cost
	for round := range p.Rounds {
		for i := range builds {
			i = (i + round) % len(builds)
			spent, err := o.costOf(c, d, d.entry(builds[i]), w, requests)
			if err != nil {
				return nil, err
			}
			costs[i] = append(costs[i], spent)
		}
		c.say("round %d  %-4s %.2f", round+1, w.ID, costs[0][round].total()/costs[1][round].total())
	}
	var ratios []float64
	for round := range p.Rounds {
		ratios = append(ratios, costs[0][round].total()/costs[1][round].total())
	}
	of := func(i int, figure func(cost) float64) string {
		var all []float64
		for _, spent := range costs[i] {
			all = append(all, figure(spent))
		}
		return fmt.Sprintf("%.0f", median(all))
	}
	server := func(c cost) float64 { return float64(c.server.Microseconds()) }
	database := func(c cost) float64 { return float64(c.database.Microseconds()) }
	allocations := func(c cost) float64 { return c.allocations }
	trips := func(i int) string { return fmt.Sprintf("%.1f", costs[i][p.Rounds/2].trips) }
	name := w.ID
	if len(p.Path) > 0 {
		name = w.Title
	}
	return table.Row{
		name, of(0, server), of(0, database), of(1, server), of(1, database),
		ratio{median(ratios), slices.Min(ratios), slices.Max(ratios), ratios}.String(),
		of(0, allocations), of(1, allocations), trips(0), trips(1),
	}, nil
}

// costOf measures a workload on a server once. What the server counts of itself
// includes the warm-up, so the requests of both are counted.
func (o *runCommand) costOf(ctx context.Context, d *dataset, e entry, w workload, requests []load.Request) (spent cost, err error) {
	before, err := e.counts(ctx)
	if err != nil {
		return spent, err
	}
	m, err := o.measure(ctx, d, e, w, requests)
	if err != nil {
		return spent, err
	}
	after, err := e.counts(ctx)
	if err != nil {
		return spent, err
	}
	answered := after.requests - before.requests
	spent = cost{
		server:      time.Duration(m.ServerCPU * float64(time.Microsecond)), // ms per 1,000
		allocations: (after.allocations - before.allocations) / answered,
		trips:       (after.trips - before.trips) / answered,
	}
	if m.DatabaseCPU != nil {
		spent.database = time.Duration(*m.DatabaseCPU * float64(time.Microsecond))
	}
	return spent, nil
}

// counts are what a server counts of itself since its start.
type counts struct{ requests, allocations, trips float64 }

func (e entry) counts(ctx context.Context) (n counts, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, e.url+"/metrics", nil)
	if err != nil {
		return n, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return n, err
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		series, value, _ := strings.Cut(lines.Text(), " ")
		name, _, _ := strings.Cut(series, "{")
		to := map[string]*float64{"chairside_requests_total": &n.requests, "go_memstats_mallocs_total": &n.allocations, "chairside_database_round_trips_total": &n.trips}[name]
		if to == nil {
			continue
		}
		v, err := strconv.ParseFloat(value[strings.LastIndexByte(value, ' ')+1:], 64)
		if err != nil {
			return n, fmt.Errorf("/metrics: %w", err)
		}
		*to += v
	}
	return n, lines.Err()
}
