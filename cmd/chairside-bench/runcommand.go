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

type runCommand struct {
	Sizes     []size        `default:"20k,2M,10M" help:"Sizes of the data: 20k, 2M, 10M, or PATIENTSxYEARS. Default: ${default}"`
	Only      []string      `placeholder:"W1,…" help:"Only these workloads."`
	Rounds    int           `default:"5" help:"How often each is measured, an odd number. Default: ${default}"`
	Duration  time.Duration `default:"5s" help:"How long each is measured. Default: ${default}"`
	WarmUp    time.Duration `default:"1s" help:"How long each is sent before. Default: ${default}"`
	Clients   int           `default:"8" help:"Connections at a time. Default: ${default}"`
	Samples   int           `default:"20" help:"Requests of each workload whose answers are compared. Default: ${default}"`
	SQLite    bool          `name:"sqlite" default:"true" negatable:"" help:"Measure the smallest size on SQLite too."`
	Fresh     int           `default:"187000" help:"Appointments booked without autovacuum in the end, at 2M or else the first size; 0 for none. Default: ${default}"`
	Keep      string        `placeholder:"DIR" help:"Keep the seeded databases there, and use them again."`
	Reseed    bool          `help:"Seed anew what is kept."`
	Postgres  string        `placeholder:"URL" help:"A PostgreSQL server to use instead of one of the benchmark's own. Its databases chairside_bench_… are the benchmark's."`
	Chairside string        `placeholder:"FILE" help:"The program to measure. Default: built from this module."`
	Generator string        `enum:"wrk,go,auto" default:"auto" help:"What sends the requests: wrk, go, or auto for wrk where it is installed. Default: ${default}"`
	Output    string        `placeholder:"FILE" default:"chairside-bench.json" help:"Where the result goes. Default: ${default}"`
	Check     bool          `help:"Measure nothing: compare answers, and look for lists that PostgreSQL answers without an index."`

	generate load.Generator
	wrk      bool // generate is wrk's
}

// Validate reports what cannot be; the parser calls it.
func (o *runCommand) Validate() error {
	for _, id := range o.Only {
		if byID(id).ID == "" {
			return fmt.Errorf("--only: there is no workload %s", id)
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

// byID gives a workload, the zero one where there is none.
func byID(id string) workload {
	for _, w := range workloads {
		if w.ID == id {
			return w
		}
	}
	return workload{}
}

// chosen are the workloads to be measured.
func (o *runCommand) chosen() (chosen []workload) {
	for _, w := range workloads {
		if len(o.Only) == 0 || slices.Contains(o.Only, w.ID) {
			chosen = append(chosen, w)
		}
	}
	return chosen
}

// sqliteSize is the size that is measured on SQLite.
func (o *runCommand) sqliteSize() string {
	fewest := slices.MinFunc(o.Sizes, func(a, b size) int { return a.Patients*a.Years - b.Patients*b.Years })
	return fewest.Name
}

// Run prepares everything, measures or checks, and cleans up.
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

// check is the other mode: it fails where a list is answered without an index.
func (o *runCommand) check(c *console, sets []*dataset) error {
	offences := 0
	for _, d := range sets {
		equal, err := o.compare(c, d)
		if err != nil {
			return err
		}
		for _, e := range equal {
			fmt.Fprintf(c.out, "%s %s: %s answers like Chairside, %d of %d byte for byte\n", d.size.Name, e.Workload, e.Server, e.Identical, e.Compared)
		}
		checked, err := o.checkPlans(c, d)
		if err != nil {
			return err
		}
		checked.print(c)
		offences += len(checked.Offences)
	}
	if offences > 0 {
		return fmt.Errorf("%d statements will not do for big data", offences)
	}
	return nil
}

// build gives the program to be measured.
func (o *runCommand) build(c *console, dir string) (string, error) {
	if o.Chairside != "" {
		return filepath.Abs(o.Chairside)
	}
	c.say("building chairside")
	program := filepath.Join(dir, "chairside")
	_, err := output(c, []string{"go", "build", "-o", program, "chairside/cmd/chairside"})
	return program, err
}

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
	// It prints its version with its usage, and calls that a failure.
	text, _ := exec.CommandContext(c, path, "--version").CombinedOutput()
	name, _, _ := strings.Cut(string(text), " [")
	r.Versions.Generator = name + " for rates, own generator for latencies and slow rates"
	return nil
}

// describe notes on what, and with which settings, a result was obtained.
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
