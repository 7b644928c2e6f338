package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"chairside/cmd/chairside-bench/load"
)

// freshResult is the effect of many new rows before autovacuum has run.
type freshResult struct {
	Size          string `json:"size"`
	Inserted      int    `json:"inserted"`           // before W2 was measured again
	InsertedForW8 int    `json:"inserted_for_w8"`    // before W8 was measured again
	W2            ratio  `json:"w2_to_before"`       // Chairside's rate to that before
	W2Floor       ratio  `json:"w2_floor_to_before"` // the hand-written server's
	W8            ratio  `json:"w8_to_floor"`        // with a time that is recent after the inserts
	W8Since       ratio  `json:"w8_since_to_floor"`  // with a time that was recent before
	SamePlan      bool   `json:"w8_same_plan"`
	// Plans of W8: before the inserts, after them with the same time, and
	// after them with a recent time.
	Plans [3][]string `json:"w8_plans"`
}

// planInserts is the number of inserted rows that must not change W8's plan.
const planInserts = 100_000

// batch is the number of bookings prepared at a time.
const batch = 5000

// freshRows books through Chairside with autovacuum off, and measures before, during and
// after.
func (o *runCommand) freshRows(c *console, d *dataset) (result *freshResult, err error) {
	c.say("booking %d appointments without autovacuum", o.Fresh)
	result = &freshResult{Size: d.size.Name, Inserted: o.Fresh, InsertedForW8: min(planInserts, o.Fresh)}
	spy, err := d.spy(c)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, spy.close()) }()

	// SQLite is not measured here.
	onPostgres := *d
	d, onPostgres.entries = &onPostgres, d.entries[:2]
	ofPractitioner, recent := byID("W2"), byID("W8")
	practitioners, err := d.requests(c, ofPractitioner)
	if err != nil {
		return nil, err
	}
	since, err := d.requests(c, recent)
	if err != nil {
		return nil, err
	}
	if result.Plans[0], err = spy.shapes(c, since[0]); err != nil {
		return nil, err
	}
	before, err := o.measureOne(c, d, ofPractitioner, practitioners)
	if err != nil {
		return nil, err
	}
	if _, err := d.db.Exec(c, noAutovacuum); err != nil {
		return nil, err
	}

	if err := d.fillDiary(c, o.Clients, result.InsertedForW8); err != nil {
		return nil, err
	}
	if err := o.measureRecent(c, d, spy, recent, since, result); err != nil {
		return nil, err
	}

	if err := d.fillDiary(c, o.Clients, o.Fresh-result.InsertedForW8); err != nil {
		return nil, err
	}
	after, err := o.measureOne(c, d, ofPractitioner, practitioners)
	if err != nil {
		return nil, err
	}
	result.W2 = ratioOf(*after.of(chairside), *before.of(chairside))
	result.W2Floor = ratioOf(*after.of(handWritten), *before.of(handWritten))
	return result, nil
}

// measureRecent measures the workload of recent rows after the first bookings: with the
// requests prepared before them (since), and with new ones. It compares the plans of both
// with Plans[0].
func (o *runCommand) measureRecent(c *console, d *dataset, plans *spy, recent workload, since []load.Request, result *freshResult) (err error) {
	if result.Plans[1], err = plans.shapes(c, since[0]); err != nil {
		return err
	}
	now, err := recent.requests(c, d)
	if err != nil {
		return err
	}
	if result.Plans[2], err = plans.shapes(c, now[0]); err != nil {
		return err
	}
	result.SamePlan = slices.Equal(result.Plans[0], result.Plans[1]) && slices.Equal(result.Plans[0], result.Plans[2])
	w8, err := o.measureOne(c, d, recent, now)
	if err != nil {
		return err
	}
	w8Since, err := o.measureOne(c, d, recent, since)
	if err != nil {
		return err
	}
	result.W8, result.W8Since = w8.Ratio, w8Since.Ratio
	return nil
}

// measureOne measures one workload on all servers of the dataset.
func (o *runCommand) measureOne(c *console, d *dataset, w workload, requests []load.Request) (workloadResult, error) {
	results, err := o.play(c, []*job{newJob(d, w, requests)})
	if err != nil {
		return workloadResult{}, err
	}
	return results[0], nil
}

// noAutovacuum turns autovacuum off in this database.
const noAutovacuum = `DO $$ DECLARE t regclass; BEGIN
	FOR t IN SELECT oid FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace LOOP
		EXECUTE format('ALTER TABLE %s SET (autovacuum_enabled = false)', t);
	END LOOP;
END $$`

// fillDiary books n free times with Chairside.
func (d *dataset) fillDiary(ctx context.Context, clients, n int) error {
	e := d.entry(chairside)
	for n > 0 {
		part := min(n, batch)
		r, err := load.Send(ctx, load.Job{URL: e.url, Token: e.token, Requests: d.diary.bookings(part), Clients: clients})
		if err != nil {
			return err
		}
		if r.Errors > 0 || r.Requests != part {
			return fmt.Errorf("%d of %d bookings failed", r.Errors+part-r.Requests, part)
		}
		n -= part
	}
	return nil
}
