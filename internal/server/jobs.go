package server

import (
	"sync"
	"time"

	"entgo.io/ent/dialect"

	"chairside/internal/audit/chain"
	"chairside/internal/audit/trail"
	"chairside/internal/clock"
	"chairside/internal/closure"
	"chairside/internal/events/feed"
	"chairside/internal/events/idempotency"
	"chairside/internal/events/webhook"
	"chairside/internal/report/schedule"
	"chairside/internal/store"
	"chairside/internal/store/backup"
	"chairside/internal/store/counters"
	"chairside/internal/web"
)

// job notes the runs of work in the background. It is safe for concurrent use.
type job struct {
	id    string // in metrics
	name  string
	every time.Duration
	off   string // why it does not run on this kind of server; "" if it does
	clock clock.Clock

	writes *replica // stops the job while the database is a replica; nil for a job that only reads there

	mu            sync.Mutex
	last, failing time.Time
}

// ran notes the end of a run.
func (j *job) ran(err error) {
	now := j.clock.Now()
	j.mu.Lock()
	defer j.mu.Unlock()
	j.last = now
	switch {
	case err == nil:
		j.failing = time.Time{}
	case j.failing.IsZero():
		j.failing = now
	}
}

// reason returns why the job does not run now, or "".
func (j *job) reason() string {
	if j.off != "" || j.writes == nil {
		return j.off
	}
	if is, _ := j.writes.now(); is {
		return "The database is a read-only replica: servers on its primary do this."
	}
	return ""
}

// latePause is how long a run may take before the next one counts as late, beside two pauses.
const latePause = 2 * time.Minute

// shown is the job as administrators see it.
func (j *job) shown(now time.Time) web.Job {
	j.mu.Lock()
	defer j.mu.Unlock()
	off := j.reason()
	late := off == "" && !j.last.IsZero() && now.Sub(j.last) > 2*j.every+latePause
	return web.Job{Name: j.name, Every: j.every, Off: off, Last: j.last, Failing: j.failing, Late: late}
}

// jobs are the work in the background that Run starts.
type jobs struct {
	number, deliver, record, seal, sign, compact    *job
	logRequests, measure, runSchedules              *job
	copyDatabase                                    *job
	sweepFeed, sweepWebhooks, prune, closePractices *job

	all []*job // the most frequent first
}

func newJobs(c clock.Clock, db *store.DB, x *replica, signs bool, backups *backup.Schedule) *jobs {
	notPostgres, noCheckpoints := "", ""
	if db.Dialect != dialect.Postgres {
		notPostgres = "An embedded database does this as it writes."
	}
	if !signs {
		noCheckpoints = "The server was started without --audit-checkpoints."
	}
	noBackups, backupEvery := "", backup.DefaultEvery
	switch {
	case db.Dialect == dialect.Postgres:
		noBackups = "PostgreSQL has its own tools for backups."
	case backups == nil:
		noBackups = "The server was started without --backup-dir."
	default:
		backupEvery = backups.Every
	}
	j := &jobs{}
	add := func(id, name string, every time.Duration, off string) *job {
		made := &job{id: id, name: name, every: every, clock: c, off: off}
		j.all = append(j.all, made)
		return made
	}
	j.number = add("number_changes", "Number changes for the change feed", feed.NumberEvery, notPostgres)
	j.deliver = add("deliver_webhooks", "Deliver webhooks", webhook.DeliverEvery, "")
	j.record = add("write_audit_log", "Write the audit log", trail.FlushEvery, "")
	j.logRequests = add("write_request_log", "Write the request log", trail.FlushEvery, "")
	j.seal = add("seal_audit_log", "Seal the audit log", chain.SealEvery, "")
	j.compact = add("compact_counters", "Compact the totals of lists", counters.CompactEvery, notPostgres)
	j.measure = add("measure_backlog", "Measure the work that waits", measureEvery, "")
	j.runSchedules = add("run_report_schedules", "Run scheduled reports", schedule.RunEvery, "")
	j.sign = add("write_checkpoints", "Write checkpoints of the audit log", chain.CheckpointEvery, noCheckpoints)
	j.copyDatabase = add("write_backups", "Copy the database", backupEvery, noBackups)
	j.prune = add("delete_idempotency_keys", "Delete old idempotency keys", idempotency.PruneEvery, "")
	j.closePractices = add("delete_practices", "Delete closed practices", closure.RunEvery, "")
	j.sweepFeed = add("delete_changes", "Delete old changes", feed.SweepEvery, "")
	j.sweepWebhooks = add("delete_deliveries", "Delete old webhook deliveries", webhook.SweepEvery, "")
	for _, writer := range []*job{j.deliver, j.record, j.compact, j.logRequests, j.runSchedules, j.sweepFeed, j.sweepWebhooks, j.prune, j.closePractices} {
		writer.writes = x
	}
	return j
}
