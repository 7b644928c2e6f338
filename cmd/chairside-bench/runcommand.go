package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"chairside/cmd/chairside-bench/load"
)

// runCommand measures Chairside and the hand-written server on the same data.
type runCommand struct {
	Sizes     []size        `default:"20k,2M,10M" help:"Data sizes: 20k, 2M, 10M, or PATIENTSxYEARS. Default: ${default}"`
	Only      []string      `placeholder:"W1,…" help:"Run only these workloads."`
	Rounds    int           `default:"5" help:"Rounds, an odd number. Default: ${default}"`
	Duration  time.Duration `default:"5s" help:"Duration of each measurement. Default: ${default}"`
	WarmUp    time.Duration `default:"1s" help:"Warm-up before each measurement. Default: ${default}"`
	Clients   int           `default:"8" help:"Concurrent connections. Default: ${default}"`
	Samples   int           `default:"20" help:"Requests per workload whose responses are compared. Default: ${default}"`
	SQLite    bool          `name:"sqlite" default:"true" negatable:"" help:"Also measure the smallest size on SQLite."`
	Fresh     int           `default:"187000" help:"Appointments to book without autovacuum at the end, at 2M or else the first size; 0 for none. Default: ${default}"`
	Keep      string        `placeholder:"DIR" help:"Keep and reuse the seeded databases in this directory."`
	Reseed    bool          `help:"Replace the kept databases."`
	Postgres  string        `placeholder:"URL" help:"Use this PostgreSQL server instead of a private one. The benchmark owns its databases chairside_bench_…."`
	Chairside string        `placeholder:"FILE" help:"Program to measure. Default: built from this module."`
	Generator string        `enum:"wrk,go,auto" default:"auto" help:"Load generator: wrk, go, or auto for wrk if installed. Default: ${default}"`
	Output    string        `placeholder:"FILE" default:"chairside-bench.json" help:"Output file. Default: ${default}"`
	Check     bool          `help:"Do not measure: compare responses, and find lists that PostgreSQL answers without an index."`

	generate load.Generator
	rate     float64 // requests per second; 0: as fast as possible
	wrk      bool    // generate uses wrk
}

// Validate checks the flags; the parser calls it.
func (o *runCommand) Validate() error {
	for _, id := range o.Only {
		if byID(id).ID == "" {
			return fmt.Errorf("--only: no workload %s", id)
		}
	}
	if o.Rounds < 1 || o.Clients < 1 || o.Samples < 1 || o.Fresh < 0 || o.Duration <= 0 || o.WarmUp < 0 || len(o.Sizes) == 0 {
		return errors.New("--sizes, --rounds, --duration, --clients and --samples must be positive, --fresh and --warm-up not negative")
	}
	if o.Rounds%2 == 0 {
		return errors.New("--rounds must be odd: the median is one of them")
	}
	return nil
}

// byID returns a workload, or the zero workload.
func byID(id string) workload {
	for _, w := range workloads {
		if w.ID == id {
			return w
		}
	}
	return workload{}
}

// chosen returns the workloads to measure.
func (o *runCommand) chosen() (chosen []workload) {
	for _, w := range workloads {
		if len(o.Only) == 0 || slices.Contains(o.Only, w.ID) {
			chosen = append(chosen, w)
		}
	}
	return chosen
}

// sqliteSize returns the size to measure on SQLite.
func (o *runCommand) sqliteSize() string {
	fewest := slices.MinFunc(o.Sizes, func(a, b size) int { return a.Patients*a.Years - b.Patients*b.Years })
	return fewest.Name
}

// Run prepares the data, measures or checks, and cleans up.
func (o *runCommand) Run(c *console) (err error) {
	r := &result{TakenAt: time.Now().UTC(), Machine: thisMachine()}
	dir, err := os.MkdirTemp("", "chairside-bench-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program, err := o.build(c, dir)
	if err != nil {
		return err
	}
	if err := o.chooseGenerator(c, r); err != nil {
		return err
	}
	k, err := openCluster(c, o.Postgres, o.Keep, program)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, k.close()) }()
	var sets []*dataset
	defer func() {
		for _, d := range sets {
			err = errors.Join(err, d.close())
		}
	}()
	for _, z := range o.Sizes {
		d, err := k.open(c, z, o)
		if err != nil {
			return err
		}
		sets = append(sets, d)
		if err := d.openDiary(c); err != nil {
			return err
		}
	}
	if err := o.describe(c, k, r, program, sets); err != nil {
		return err
	}
	if o.Check {
		return o.check(c, sets)
	}
	return o.measureAll(c, r, sets)
}

// measureAll compares and measures all workloads, and writes the result.
func (o *runCommand) measureAll(c *console, r *result, sets []*dataset) error {
	for i, d := range sets {
		var err error
		if r.Sizes[i].Equal, err = o.compare(c, d); err != nil {
			return err
		}
	}
	for _, writes := range []bool{false, true} {
		jobs, err := o.jobs(c, sets, writes)
		if err != nil {
			return err
		}
		results, err := o.play(c, jobs)
		if err != nil {
			return err
		}
		r.Workloads = append(r.Workloads, results...)
	}
	if o.Fresh > 0 {
		d := sets[max(0, slices.IndexFunc(sets, func(d *dataset) bool { return d.size.Name == judged }))]
		var err error
		if r.Fresh, err = o.freshRows(c, d); err != nil {
			return err
		}
	}
	for i, d := range sets {
		for _, e := range d.entries {
			now, peak, err := memory(e.pid())
			if err != nil {
				return err
			}
			r.Sizes[i].Memory = append(r.Sizes[i].Memory, memoryResult{e.name, now, peak})
		}
	}
	r.judge()
	r.print(c.out)
	return r.write(o.Output)
}

// check implements --check: it fails if a list is answered without an index.
func (o *runCommand) check(c *console, sets []*dataset) error {
	offences := 0
	for _, d := range sets {
		equal, err := o.compare(c, d)
		if err != nil {
			return err
		}
		for _, e := range equal {
			fmt.Fprintf(c.out, "%s %s: %s responds like Chairside, %d of %d byte for byte\n", d.size.Name, e.Workload, e.Server, e.Identical, e.Compared)
		}
		checked, err := o.checkPlans(c, d)
		if err != nil {
			return err
		}
		checked.print(c)
		offences += len(checked.Offences)
	}
	if offences > 0 {
		return fmt.Errorf("%d statements do not scale to large data", offences)
	}
	return nil
}

// build returns the program to measure.
func (o *runCommand) build(c *console, dir string) (string, error) {
	if o.Chairside != "" {
		return filepath.Abs(o.Chairside)
	}
	c.say("building chairside")
	program := filepath.Join(dir, "chairside")
	_, err := output(c, []string{"go", "build", "-o", program, "chairside/cmd/chairside"})
	return program, err
}

// chooseGenerator sets the load generator and records it in the result.
func (o *runCommand) chooseGenerator(c *console, r *result) error {
	o.generate, r.Versions.Generator = load.Go, "own generator"
	if o.Generator == "go" {
		return nil
	}
	path, err := exec.LookPath("wrk")
	if err != nil {
		if o.Generator == "wrk" {
			return err
		}
		return nil
	}
	o.generate, o.wrk = load.Wrk(path), true
	// wrk prints its version with its usage, and exits with a failure.
	text, _ := exec.CommandContext(c, path, "--version").CombinedOutput()
	name, _, _ := strings.Cut(string(text), " [")
	r.Versions.Generator = name + " for rates, own generator for latencies and slow rates"
	return nil
}

// describe records the machine and the settings of a result.
func (o *runCommand) describe(c *console, k *cluster, r *result, program string, sets []*dataset) (err error) {
	r.Versions.Go, r.Versions.PostgreSQL = runtime.Version(), k.version
	if r.Versions.Chairside, err = output(c, []string{program, "version"}); err != nil {
		return err
	}
	r.Settings = runSettings{Rounds: o.Rounds, Clients: o.Clients, Duration: o.Duration.Seconds(), WarmUp: o.WarmUp.Seconds()}
	if k.own != nil {
		r.Settings.PostgreSQL = settings
	}
	for _, d := range sets {
		z := sizeResult{Name: d.size.Name, Seeded: d.about, Rows: map[string]int64{}}
		for _, table := range []string{"appointments", "patients", "invoices", "invoice_items", "practitioners"} {
			var rows int64
			if err := d.db.QueryRow(c, "SELECT count(*) FROM "+quote(table)).Scan(&rows); err != nil {
				return err
			}
			z.Rows[table] = rows
		}
		if err := d.db.QueryRow(c, "SELECT pg_database_size(current_database())").Scan(&z.Bytes); err != nil {
			return err
		}
		r.Sizes = append(r.Sizes, z)
	}
	return nil
}
