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
	"chairside/internal/store"
	"chairside/internal/store/counters"
	"chairside/internal/web"
)

// job notes the runs of work in the background. It is safe for concurrent use.
type job struct {
	id    string // in metrics
	name  string
	every time.Duration
	off   string // why it does not run; "" if it does
	clock clock.Clock

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

// latePause is how long a run may take before the next one counts as late, beside two pauses.
const latePause = 2 * time.Minute

// shown is the job as administrators see it.
func (j *job) shown(now time.Time) web.Job {
	j.mu.Lock()
	defer j.mu.Unlock()
	late := j.off == "" && !j.last.IsZero() && now.Sub(j.last) > 2*j.every+latePause
	return web.Job{Name: j.name, Every: j.every, Off: j.off, Last: j.last, Failing: j.failing, Late: late}
}

// jobs are the work in the background that Run starts.
type jobs struct {
	number, deliver, record, seal, sign, compact    *job
	logRequests, measure                            *job
	sweepFeed, sweepWebhooks, prune, closePractices *job
}

func newJobs(c clock.Clock, db *store.DB, signs bool) *jobs {
	notPostgres, noCheckpoints := "", ""
	if db.Dialect != dialect.Postgres {
		notPostgres = "An embedded database does this as it writes."
	}
	if !signs {
		noCheckpoints = "The server was started without --audit-checkpoints."
	}
	return &jobs{
		number:         &job{id: "number_changes", name: "Number changes for the change feed", every: feed.NumberEvery, clock: c, off: notPostgres},
		deliver:        &job{id: "deliver_webhooks", name: "Deliver webhooks", every: webhook.DeliverEvery, clock: c},
		record:         &job{id: "write_audit_log", name: "Write the audit log", every: trail.FlushEvery, clock: c},
		logRequests:    &job{id: "write_request_log", name: "Write the request log", every: trail.FlushEvery, clock: c},
		seal:           &job{id: "seal_audit_log", name: "Seal the audit log", every: chain.SealEvery, clock: c},
		sign:           &job{id: "write_checkpoints", name: "Write checkpoints of the audit log", every: chain.CheckpointEvery, clock: c, off: noCheckpoints},
		compact:        &job{id: "compact_counters", name: "Compact the totals of lists", every: counters.CompactEvery, clock: c, off: notPostgres},
		sweepFeed:      &job{id: "delete_changes", name: "Delete old changes", every: feed.SweepEvery, clock: c},
		sweepWebhooks:  &job{id: "delete_deliveries", name: "Delete old webhook deliveries", every: webhook.SweepEvery, clock: c},
		prune:          &job{id: "delete_idempotency_keys", name: "Delete old idempotency keys", every: idempotency.PruneEvery, clock: c},
		measure:        &job{id: "measure_backlog", name: "Measure the work that waits", every: measureEvery, clock: c},
		closePractices: &job{id: "delete_practices", name: "Delete closed practices", every: closure.RunEvery, clock: c},
	}
}

// all lists the jobs, the most frequent first.
func (j *jobs) all() []*job {
	return []*job{j.number, j.deliver, j.record, j.logRequests, j.seal, j.compact, j.measure, j.sign, j.prune, j.closePractices, j.sweepFeed, j.sweepWebhooks}
}
