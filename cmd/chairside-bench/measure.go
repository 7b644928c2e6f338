package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"chairside/cmd/chairside-bench/load"
)

// bookingsPerSecond is more than any server reaches, so that a measurement never runs out
// of prepared times, and mixedPerSecond the same for reads with bookings.
const bookingsPerSecond, mixedPerSecond = 6000, 20_000

// minResponses is the number of responses per client below which a rate measured by wrk is
// invalid, because wrk omits requests in progress when it stops.
const minResponses = 20

// measure sends one workload to one server: a warm-up, then the measurement. The reports of a workload
// run on the same server. The hand-written server has no reports, so for it they run on Chairside.
func (o *runCommand) measure(ctx context.Context, d *dataset, e entry, w workload, requests []load.Request) (m measurement, err error) {
	reporting := e
	if e.name == handWritten || e.name == equalPromises {
		reporting = d.entries[0]
	}
	_, err = during(ctx, reporting, background{users: w.Reports}, func() error {
		m, err = o.measureLoad(ctx, d, e, w, requests)
		return err
	})
	return m, err
}

// measureLoad is measure without reports.
func (o *runCommand) measureLoad(ctx context.Context, d *dataset, e entry, w workload, requests []load.Request) (m measurement, err error) {
	if w.Writes && e.name != chairside {
		from := d.diary.next
		if e.name == handWritten { // without the cost of Chairside's counters
			if _, err := d.db.Exec(ctx, "ALTER TABLE appointments DISABLE TRIGGER USER"); err != nil {
				return m, err
			}
		}
		defer func() { err = errors.Join(err, d.unbook(ctx, from)) }()
	}
	send := func(generate load.Generator, duration time.Duration) (load.Result, error) {
		sent := requests
		switch seconds := (duration + time.Second).Seconds(); {
		case w.Writes && requests != nil:
			sent = d.diary.amongBookings(requests, int(mixedPerSecond*seconds))
		case w.Writes:
			sent = d.diary.bookings(int(bookingsPerSecond * seconds))
		}
		r, err := generate(ctx, load.Job{URL: e.url, Token: e.token, Requests: sent, Clients: o.Clients, Duration: duration, Rate: o.rate})
		if err == nil && r.Errors > 0 {
			err = fmt.Errorf("%d of %d requests failed: %s", r.Errors, r.Requests, r.Detail)
		}
		if err != nil {
			err = fmt.Errorf("%s, %s of size %s: %w", w.ID, e.name, d.size.Name, err)
		}
		return r, err
	}
	if o.WarmUp > 0 {
		if _, err := send(o.generate, o.WarmUp); err != nil {
			return m, err
		}
	}
	var before processorTime
	rate := func(generate load.Generator) (r load.Result, err error) {
		if before, err = d.processorTime(e); err != nil {
			return r, err
		}
		return send(generate, o.Duration)
	}
	r, err := rate(o.generate)
	byWrk := o.wrk
	if err == nil && byWrk && r.Requests < minResponses*o.Clients { // counting millions of rows is slow
		byWrk = false
		r, err = rate(load.Go)
	}
	if err != nil {
		return m, err
	}
	after, err := d.processorTime(e)
	if err != nil {
		return m, err
	}
	seen := r
	if byWrk { // wrk's latencies are not those of clients
		if seen, err = send(load.Go, o.Duration/2); err != nil {
			return m, err
		}
	}
	per1000 := func(t time.Duration) float64 { return milliseconds(t) * 1000 / float64(r.Requests) }
	m = measurement{Requests: r.Requests, PerSecond: r.PerSecond(), P50: milliseconds(seen.P50), P99: milliseconds(seen.P99), ServerCPU: per1000(after.server - before.server)}
	if !e.sqlite && d.cluster.postmaster != 0 {
		m.DatabaseCPU = new(per1000(after.database - before.database))
	}
	m.ReplicaCPU = per1000(after.replica - before.replica)
	m.Resident, _, err = memory(e.pid())
	return m, err
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// processorTime is the processor time that a server, PostgreSQL and the server's replica have
// used so far.
type processorTime struct{ server, database, replica time.Duration }

// processorTime returns the processor time that the server, its database and its replica have
// used so far.
func (d *dataset) processorTime(e entry) (t processorTime, err error) {
	s, err := readStat(e.pid())
	if err != nil {
		return t, err
	}
	t.server = s.own
	if d.cluster.postmaster != 0 {
		if t.database, err = treeCPU(d.cluster.postmaster); err != nil {
			return t, err
		}
	}
	if e.replica != 0 {
		t.replica, err = treeCPU(e.replica)
	}
	return t, err
}

// unbook removes all bookings from a slot on, and enables triggers again.
func (d *dataset) unbook(ctx context.Context, from int) error {
	if _, err := d.db.Exec(ctx, "DELETE FROM appointments WHERE practice_id = $1 AND booked_via_api AND start_time >= $2", d.practice, d.diary.at(d.diary.row(from))); err != nil {
		return err
	}
	_, err := d.db.Exec(ctx, "ALTER TABLE appointments ENABLE TRIGGER USER")
	return err
}

// job is one workload at one size.
type job struct {
	on       *dataset
	workload workload
	requests []load.Request
	result   workloadResult
}

// newJob returns a workload's job for its servers.
func newJob(d *dataset, w workload, requests []load.Request) *job {
	j := &job{d, w, requests, workloadResult{Size: d.size.Name, ID: w.ID, Title: w.Title}}
	for _, e := range d.entries {
		if w.on(e.name) {
			j.result.Servers = append(j.result.Servers, serverResult{Server: e.name})
		}
	}
	return j
}

// jobs returns the chosen workloads that write, or those that read.
func (o *runCommand) jobs(ctx context.Context, sets []*dataset, writes bool) (jobs []*job, err error) {
	for _, w := range o.chosen() {
		if w.Writes != writes {
			continue
		}
		for _, d := range sets {
			requests, err := d.requests(ctx, w)
			if err != nil {
				return nil, err
			}
			jobs = append(jobs, newJob(d, w, requests))
		}
	}
	return jobs, nil
}

// play measures each job on each server in turn, so that other load on the machine affects
// all of them.
func (o *runCommand) play(c *console, jobs []*job) ([]workloadResult, error) {
	for round := range o.Rounds {
		for _, j := range jobs {
			servers := j.result.Servers
			for i := range servers {
				s := &servers[(i+round)%len(servers)]
				m, err := o.measure(c, j.on, j.on.entry(s.Server), j.workload, j.requests)
				if err != nil {
					return nil, err
				}
				c.say("round %d  %-4s %-4s %-20s %9.1f/s", round+1, j.on.size.Name, j.workload.ID, s.Server, m.PerSecond)
				s.Rounds = append(s.Rounds, m)
			}
		}
	}
	var results []workloadResult
	for _, j := range jobs {
		j.result.finish()
		results = append(results, j.result)
	}
	return results, nil
}

// finish computes medians and ratios.
func (w *workloadResult) finish() {
	for i := range w.Servers {
		w.Servers[i].Median = medianMeasurement(w.Servers[i].Rounds)
	}
	ours := w.of(chairside)
	w.Ratio = ratioOf(*ours, *w.of(handWritten))
	if equal := w.of(equalPromises); equal != nil {
		w.EqualRatio = new(ratioOf(*ours, *equal))
	}
	if embedded := w.of(chairsideSQLite); embedded != nil {
		w.SQLiteRatio = new(ratioOf(*embedded, *ours))
	}
}
