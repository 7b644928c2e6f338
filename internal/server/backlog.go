package server

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"chairside/internal/audit/chain"
	"chairside/internal/audit/trail"
	"chairside/internal/clock"
	"chairside/internal/events/webhook"
	"chairside/internal/report/schedule"
	"chairside/internal/store"
	"chairside/internal/store/backup"
	"chairside/internal/store/feedlog"
)

const (
	// measureEvery is how often the backlog is measured. Scrapes of /metrics show the last
	// measurement, so that they need no database.
	measureEvery = 15 * time.Second
	// measureTime bounds one measurement.
	measureTime = 5 * time.Second
	// jobLabel names a background job in metrics: Prometheus itself sets "job".
	jobLabel = "job_name"
)

// backlog is the work that waits for background jobs, and how the jobs run.
type backlog struct {
	db    *store.DB
	jobs  *jobs
	trail *trail.Trail
	// backups is nil for none; its job is then off.
	backups *backup.Schedule
	looking atomic.Bool // at the directory of the copies
	clock   clock.Clock

	age      *prometheus.GaugeVec // by job; without a series if it could not be measured
	replicas *prometheus.GaugeVec // no labels; empty if it could not be measured
	lag      *prometheus.GaugeVec
	changes  *prometheus.GaugeVec // of counters
	events   *prometheus.GaugeVec // of webhooks
}

func newBacklog(db *store.DB, j *jobs, t *trail.Trail, backups *backup.Schedule, c clock.Clock) *backlog {
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "chairside", Name: name, Help: help}, labels)
	}
	return &backlog{
		db: db, jobs: j, trail: t, backups: backups, clock: c,
		age:      gauge("backlog_age_seconds", "How long the oldest work of a job has been waiting; 0 if none waits.", jobLabel),
		replicas: gauge("database_replicas", "Replicas that follow the database."),
		lag:      gauge("database_replica_lag_seconds", "How far the slowest replica is behind; without a series if the role may not see it."),
		changes:  gauge("counter_changes_waiting", "Changes of the totals of lists that are not compacted yet, at most a million."),
		events:   gauge("webhook_deliveries_waiting", "Webhook deliveries that have neither succeeded nor been given up, at most 100,000."),
	}
}

// keepMeasuring measures every 15 seconds until ctx ends, and calls ran after each measurement.
func (b *backlog) keepMeasuring(ctx context.Context, logger *slog.Logger, ran func(error)) {
	tick := time.NewTicker(measureEvery)
	defer tick.Stop()
	for {
		err := b.measure(ctx)
		ran(err)
		if err != nil && ctx.Err() == nil {
			logger.Warn("cannot measure the work that waits", slog.String("cause", describeError(err)))
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// measure sets the gauges. A gauge that cannot be measured loses its series, so that no alert
// relies on an old value.
func (b *backlog) measure(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, measureTime)
	defer cancel()
	var all []error
	for _, m := range []struct {
		job    *job
		oldest func(context.Context) (time.Time, error)
	}{
		{b.jobs.number, func(ctx context.Context) (time.Time, error) {
			return feedlog.Unnumbered(ctx, b.db.SQL, b.db.Dialect)
		}},
		{b.jobs.seal, func(ctx context.Context) (time.Time, error) { return chain.Unsealed(ctx, b.db) }},
		{b.jobs.deliver, func(ctx context.Context) (time.Time, error) { return webhook.Overdue(ctx, b.db) }},
		{b.jobs.runSchedules, func(ctx context.Context) (time.Time, error) { return schedule.Overdue(b.clock.With(ctx), b.db) }},
		{b.jobs.copyDatabase, func(ctx context.Context) (time.Time, error) { return b.copyOverdue(b.clock.With(ctx)) }},
	} {
		if m.job.reason() != "" {
			continue
		}
		switch oldest, err := m.oldest(ctx); {
		case err != nil:
			all = append(all, err)
			b.age.DeleteLabelValues(m.job.id)
		case oldest.IsZero():
			b.age.WithLabelValues(m.job.id).Set(0)
		default:
			b.age.WithLabelValues(m.job.id).Set(max(0, b.clock.Now().Sub(oldest).Seconds()))
		}
	}
	for _, m := range []struct {
		gauge *prometheus.GaugeVec
		count func(context.Context) (int, error)
	}{
		{b.changes, b.db.Counters.Waiting},
		{b.events, func(ctx context.Context) (int, error) { return webhook.Waiting(ctx, b.db) }},
	} {
		m.gauge.Reset()
		n, err := m.count(ctx)
		if err != nil {
			all = append(all, err)
			continue
		}
		m.gauge.WithLabelValues().Set(float64(n))
	}
	b.replicas.Reset()
	b.lag.Reset()
	r, err := b.db.Replicas(ctx)
	if err == nil {
		b.replicas.WithLabelValues().Set(float64(r.Count))
	}
	if err == nil && !r.Hidden {
		b.lag.WithLabelValues().Set(r.Lag.Seconds())
	}
	return errors.Join(append(all, err)...)
}

// errFolder means that the directory of copies does not respond, as a lost network disk does.
var errFolder = errors.New("the directory of the copies does not respond")

// copyOverdue is Overdue of the copies. No context ends a system call, so it waits for one at most
// measureTime, and for no second one.
func (b *backlog) copyOverdue(ctx context.Context) (time.Time, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), measureTime) // its own: the database may have used up that of ctx
	defer cancel()
	type answer struct {
		oldest time.Time
		err    error
	}
	if !b.looking.CompareAndSwap(false, true) {
		return time.Time{}, errFolder
	}
	answers := make(chan answer, 1)
	go func() {
		defer b.looking.Store(false)
		oldest, err := b.backups.Overdue(ctx, b.db)
		answers <- answer{oldest, err}
	}()
	select {
	case a := <-answers:
		return a.oldest, a.err
	case <-ctx.Done():
		return time.Time{}, errFolder
	}
}

var (
	jobLast      = prometheus.NewDesc("chairside_job_last_run_timestamp_seconds", "When a background job last ran, in Unix time; without a series before its first run, or if it is off.", []string{jobLabel}, nil)
	jobInterval  = prometheus.NewDesc("chairside_job_interval_seconds", "How often a background job runs.", []string{jobLabel}, nil)
	jobFailing   = prometheus.NewDesc("chairside_job_failing_seconds", "For how long every run of a background job has failed; 0 if the last one succeeded.", []string{jobLabel}, nil)
	auditWaiting = prometheus.NewDesc("chairside_audit_entries_waiting", "Entries of the audit log that wait in memory to be written; the server's log has them already.", nil, nil)
	auditBatches = prometheus.NewDesc("chairside_audit_batches_total", "Transactions that have written entries of the audit log about reads, sign-ins and refusals.", nil, nil)
	auditWritten = prometheus.NewDesc("chairside_audit_entries_written_total", "Entries of the audit log that were written in batches.", nil, nil)
	auditLost    = prometheus.NewDesc("chairside_audit_entries_lost_total", "Entries that were given up because too many waited; the server's log has them.", nil, nil)
)

// Describe implements prometheus.Collector.
func (b *backlog) Describe(to chan<- *prometheus.Desc) {
	b.age.Describe(to)
	b.replicas.Describe(to)
	b.lag.Describe(to)
	b.changes.Describe(to)
	b.events.Describe(to)
	for _, d := range []*prometheus.Desc{jobLast, jobInterval, jobFailing, auditWaiting, auditBatches, auditWritten, auditLost} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (b *backlog) Collect(to chan<- prometheus.Metric) {
	b.age.Collect(to)
	b.replicas.Collect(to)
	b.lag.Collect(to)
	b.changes.Collect(to)
	b.events.Collect(to)
	now := b.clock.Now()
	for _, j := range b.jobs.all {
		shown := j.shown(now)
		if shown.Off != "" || shown.Last.IsZero() {
			continue
		}
		failing := 0.0
		if !shown.Failing.IsZero() {
			failing = now.Sub(shown.Failing).Seconds()
		}
		to <- prometheus.MustNewConstMetric(jobLast, prometheus.GaugeValue, float64(shown.Last.UnixMilli())/1000, j.id)
		to <- prometheus.MustNewConstMetric(jobInterval, prometheus.GaugeValue, j.every.Seconds(), j.id)
		to <- prometheus.MustNewConstMetric(jobFailing, prometheus.GaugeValue, failing, j.id)
	}
	if b.jobs.record.reason() == "" { // on a replica they wait by design
		to <- prometheus.MustNewConstMetric(auditWaiting, prometheus.GaugeValue, float64(b.trail.Waiting()))
	}
	batches, entries, lost := b.trail.Written()
	to <- prometheus.MustNewConstMetric(auditBatches, prometheus.CounterValue, float64(batches))
	to <- prometheus.MustNewConstMetric(auditWritten, prometheus.CounterValue, float64(entries))
	to <- prometheus.MustNewConstMetric(auditLost, prometheus.CounterValue, float64(lost))
}
