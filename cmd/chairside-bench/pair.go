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
	"chairside/internal/test/localpg"
)

// pairCommand compares two builds of the program on the same database, such as one
// without a departure of internal/arch/departures.md and one with it.
type pairCommand struct {
	A        string        `arg:"" help:"Path of a build of the program."`
	B        string        `arg:"" help:"Path of another build, which also seeds and migrates the database."`
	Size     size          `default:"20k" help:"Size of the data: 20k, 2M, 10M, or PATIENTSxYEARS. Default: ${default}"`
	Only     []string      `placeholder:"W1,…" help:"Run only these workloads."`
	Path     []string      `sep:"none" help:"Measure GET requests of this path instead of the workloads; repeatable."`
	Rounds   int           `default:"7" help:"Rounds of two measurements of each build, an odd number. Default: ${default}"`
	Duration time.Duration `default:"1s" help:"Duration of each measurement. Default: ${default}"`
	WarmUp   time.Duration `default:"300ms" help:"Warm-up before each measurement. Default: ${default}"`
	Clients  int           `default:"8" help:"Concurrent connections. Default: ${default}"`
	SQLite   bool          `name:"sqlite" help:"Measure on SQLite instead of PostgreSQL."`
	Replica  bool          `help:"Let B read from a replica of the database, which also follows the writes of A."`
	Keep     string        `placeholder:"DIR" help:"Keep and reuse the seeded databases in this directory."`
	Postgres string        `placeholder:"URL" help:"Use this PostgreSQL server instead of a private one."`
}

// builds are the names of the two servers.
var builds = [2]string{"A", "B"}

// comparedRequests is the number of requests whose responses are compared before measuring.
const comparedRequests = 10

// turns is the order of a round's measurements. The second measurement in a row of a server
// costs up to a quarter less than its first, so each build has one of both in every round.
var turns = [...]int{0, 1, 1, 0}

// settings returns the flags of an equivalent run.
func (p *pairCommand) settings() *runCommand {
	return &runCommand{
		Only: p.Only, Rounds: p.Rounds, Duration: p.Duration, WarmUp: p.WarmUp, Clients: p.Clients, Samples: comparedRequests,
		Sizes: []size{p.Size}, generate: load.Go,
	}
}

// Validate checks the flags; the parser calls it.
func (p *pairCommand) Validate() error {
	if p.Replica && (p.SQLite || p.Postgres != "") {
		return errors.New("--replica needs a private PostgreSQL server: omit --sqlite and --postgres")
	}
	return p.settings().Validate()
}

// Run starts both servers, compares their responses, measures and prints.
func (p *pairCommand) Run(c *console) (err error) {
	for _, file := range []*string{&p.A, &p.B} {
		if *file, err = filepath.Abs(*file); err != nil {
			return err
		}
	}
	var further []string
	if p.Replica {
		further = localpg.Replicated
	}
	k, err := openCluster(c, p.Postgres, p.Keep, p.B, further...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, k.close()) }()
	d, err := k.openDatabase(c, p.Size, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	replica, err := p.follow(c, k)
	if err != nil {
		return err
	}
	if replica != nil {
		defer func() { err = errors.Join(err, replica.Stop()) }()
	}
	if err := p.start(c, d, replica); err != nil {
		return err
	}
	o := p.settings()
	if len(p.Path) == 0 && !p.Replica { // a server with a replica sends more headers
		if _, err := o.compare(c, d); err != nil {
			return err
		}
	}
	w := newTable(c.out, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)
	header := table.Row{"workload", "A server", "A db", "B server", "B db", "A ÷ B", "A allocs", "B allocs", "A trips", "B trips"}
	if p.Replica {
		header = append(header, "B replica")
	}
	w.AppendHeader(header)
	for _, x := range p.workloads(o) {
		row, err := p.row(c, o, d, x)
		if err != nil {
			return err
		}
		w.AppendRow(row)
	}
	if p.Replica {
		of, err := d.entry(builds[1]).counts(c)
		if err == nil && of.replicaReads == 0 {
			err = errors.New("the second build has not read from its replica")
		}
		if err != nil {
			return err
		}
	}
	fmt.Fprintf(c.out, "medians of %d rounds of %s, %d clients; processor time in µs per request\n", p.Rounds, p.Duration, p.Clients)
	w.Render()
	return nil
}

// follow starts a replica of the database for --replica, and returns nil without the flag.
func (p *pairCommand) follow(c *console, k *cluster) (*localpg.Server, error) {
	if !p.Replica {
		return nil, nil
	}
	return k.own.Standby(c)
}

// start starts both builds on the database, B with the replica if there is one.
func (p *pairCommand) start(c *console, d *dataset, replica *localpg.Server) error {
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
	var flags [len(builds)][]string
	var followed int
	if replica != nil {
		address := replica.URL(d.cluster.working(p.Size))
		flags[1] = []string{"--replica-url", address}
		if followed, err = postmasterOf(c, address); err != nil {
			return err
		}
	}
	for i, program := range []string{p.A, p.B} {
		if err := d.startChairside(c, builds[i], program, where, token, flags[i]...); err != nil {
			return err
		}
	}
	d.entries[len(d.entries)-1].replica = followed
	return d.openDiary(c)
}

// workloads returns the workloads to measure: a single one that requests the paths of
// --path, if there are any.
func (p *pairCommand) workloads(o *runCommand) []workload {
	if len(p.Path) == 0 {
		return o.chosen()
	}
	return []workload{{ID: "paths", Title: p.Path[0], requests: func(context.Context, *dataset) ([]load.Request, error) {
		return getRequests(p.Path, func(path string) string { return path }), nil
	}}}
}

// cost is the average cost of a request.
type cost struct {
	server, database, replica time.Duration // processor time
	allocations               float64
	trips                     float64 // round trips to the database
}

func (c cost) total() float64 { return float64(c.server + c.database + c.replica) }

func (c cost) plus(o cost) cost {
	return cost{c.server + o.server, c.database + o.database, c.replica + o.replica, c.allocations + o.allocations, c.trips + o.trips}
}

func (c cost) over(n int) cost {
	return cost{c.server / time.Duration(n), c.database / time.Duration(n), c.replica / time.Duration(n), c.allocations / float64(n), c.trips / float64(n)}
}

// row measures a workload on both builds in turn, and returns its line of the table.
func (p *pairCommand) row(c *console, o *runCommand, d *dataset, w workload) (table.Row, error) {
	requests, err := d.requests(c, w)
	if err != nil {
		return nil, err
	}
	var costs [2][]cost
	for round := range p.Rounds {
		var inTurn [2]cost
		for _, i := range turns {
			spent, err := o.costOf(c, d, d.entry(builds[i]), w, requests)
			if err != nil {
				return nil, err
			}
			inTurn[i] = inTurn[i].plus(spent)
		}
		for i := range builds {
			costs[i] = append(costs[i], inTurn[i].over(len(turns)/len(builds)))
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
	row := table.Row{
		name, of(0, server), of(0, database), of(1, server), of(1, database),
		ratio{median(ratios), slices.Min(ratios), slices.Max(ratios), ratios}.String(),
		of(0, allocations), of(1, allocations), trips(0), trips(1),
	}
	if p.Replica {
		row = append(row, of(1, func(c cost) float64 { return float64(c.replica.Microseconds()) }))
	}
	return row, nil
}

// costOf measures a workload on a server once. The server's own counts include the warm-up,
// so they are divided by the number of requests that the server counted.
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
	requestsServed := after.requests - before.requests
	spent = cost{
		server:      time.Duration(m.ServerCPU * float64(time.Microsecond)), // ms per 1,000
		replica:     time.Duration(m.ReplicaCPU * float64(time.Microsecond)),
		allocations: (after.allocations - before.allocations) / requestsServed,
		trips:       (after.trips - before.trips) / requestsServed,
	}
	if m.DatabaseCPU != nil {
		spent.database = time.Duration(*m.DatabaseCPU * float64(time.Microsecond))
	}
	return spent, nil
}

// counts are a server's own counts since its start, from /metrics.
type counts struct{ requests, allocations, trips, replicaReads float64 }

// counts reads the counters from the server's /metrics page.
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
		to := map[string]*float64{"chairside_requests_total": &n.requests, "go_memstats_mallocs_total": &n.allocations, "chairside_database_round_trips_total": &n.trips, "chairside_replica_reads_total": &n.replicaReads}[name]
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
