package schedule

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"chairside/internal/audit/trail"
	"chairside/internal/clock"
	"chairside/internal/store"
)

const (
	// RunEvery is how often a process looks for schedules that are due.
	RunEvery = 30 * time.Second
	// parallel is the most attempts at once. The next ones start when all have ended.
	parallel = 2
	// lease is how long a process holds a schedule: longer than an attempt takes. After it, another process
	// makes the next attempt.
	lease = 8 * time.Minute
	// reportTime bounds a report with its wait for a turn, mailTime the conversation with a mail server, and folderTime
	// the report and its file, because a network disk may not respond.
	reportTime, mailTime, folderTime = 2 * time.Minute, time.Minute, 150 * time.Second
	// writeTime bounds one statement that records what became of an attempt.
	writeTime = 5 * time.Second
)

// Half of a lease covers the steps with a time limit, the other half is for rendering. Otherwise these constants do not
// compile.
const (
	_ = uint64(lease/2 - reportTime - mailTime - writeTime)
	_ = uint64(lease/2 - folderTime - writeTime)
)

// backOff are the pauses after an attempt that failed; the last one is repeated.
var backOff = []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 4 * time.Hour}

const (
	// refusedPause is the pause after a mail that was refused for good, unless the schedule is due again before.
	refusedPause = 24 * time.Hour
	// maxRefusals is the number of due times for which mails are refused before the schedule stops.
	maxRefusals = 3
)

// Options configure a Runner.
type Options struct {
	DB     *store.DB
	Trail  *trail.Trail // records in the audit log whose records were read
	Mail   *Mail        // nil if this process cannot mail: others may
	Logger *slog.Logger
}

// Runner runs the schedules of a database.
type Runner struct {
	db     *store.DB
	trail  *trail.Trail
	mail   *Mail
	logger *slog.Logger

	mailTime time.Duration // mailTime, or less in tests
	between  func()        // runs between a delivery and its record, for tests; nil does nothing
}

// New returns a Runner.
func New(o Options) *Runner {
	return &Runner{db: o.DB, trail: o.Trail, mail: o.Mail, logger: o.Logger, mailTime: mailTime}
}

// Run runs what is due until ctx ends. Any number of processes may do so. It calls ran after each turn, with an
// error if a schedule of any practice fails or is late. It logs errors and continues.
func (r *Runner) Run(ctx context.Context, ran func(error)) {
	tick := time.NewTicker(RunEvery)
	defer tick.Stop()
	for reported := ""; ; {
		err := r.RunDue(ctx)
		if err == nil {
			err = r.failing(ctx)
		}
		if ctx.Err() != nil {
			return
		}
		ran(err)
		switch {
		case err == nil:
			reported = ""
		case err.Error() != reported:
			reported = err.Error()
			r.logger.Warn("scheduled reports fail", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// RunDue makes an attempt at every schedule that is due, until it has taken longer than RunEvery: slow ones must not keep
// the job from reporting that it is alive. An attempt that fails is no error of RunDue: the schedule has its reason.
func (r *Runner) RunDue(ctx context.Context) error {
	for end := now().Add(RunEvery); ; {
		all, err := r.due(clock.Refresh(ctx))
		if err != nil {
			return err
		}
		var attempts errgroup.Group
		for _, d := range all {
			attempts.Go(func() error {
				claimed, err := r.claim(ctx, d)
				if err != nil || !claimed {
					return err
				}
				return r.attempt(clock.Refresh(ctx), d)
			})
		}
		if err := attempts.Wait(); err != nil || len(all) < parallel || now().After(end) {
			return err
		}
	}
}

// dueSchedule is a schedule that is due.
type dueSchedule struct {
	id       int64
	practice uuid.UUID
	lease    int64 // the number of the lease that an attempt takes
	failures int   // attempts that failed since the last success
}

// now is the machine's time. Leases need the real time, not that of a test.
func now() time.Time { return clock.Truncate(clock.Deadline(0)) }

// due returns some schedules that are due and that this process can deliver, the oldest first.
func (r *Runner) due(ctx context.Context) (all []dueSchedule, err error) {
	deliverable := ""
	if r.mail == nil {
		deliverable = " AND s.address = ''"
	}
	rows, err := r.db.SQL.QueryContext(ctx, `SELECT s.id, s.practice_id, s.lease + 1, s.failures
		FROM report_schedules AS s JOIN practices AS p ON p.id = s.practice_id
		WHERE s.stopped_at IS NULL AND s.attempt_at <= $1 AND s.leased_until <= $2 AND (p.closes_at IS NULL OR p.closes_at > $1)`+deliverable+`
		ORDER BY s.attempt_at, s.id LIMIT $3`, clock.Now(ctx), now(), parallel)
	if err != nil {
		return nil, fmt.Errorf("schedule: look for schedules that are due: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var d dueSchedule
		if err := rows.Scan(&d.id, &d.practice, &d.lease, &d.failures); err != nil {
			return nil, fmt.Errorf("schedule: look for schedules that are due: %w", err)
		}
		all = append(all, d)
	}
	return all, rows.Err()
}

// claim takes the lease of a schedule, unless another process has taken it.
func (r *Runner) claim(ctx context.Context, d dueSchedule) (claimed bool, err error) {
	n, err := affected(r.db.SQL.ExecContext(ctx, "UPDATE report_schedules SET lease = $1, leased_until = $2 WHERE id = $3 AND lease = $4 AND stopped_at IS NULL",
		d.lease, now().Add(lease), d.id, d.lease-1))
	if err != nil {
		return false, fmt.Errorf("schedule: claim a schedule: %w", err)
	}
	return n > 0, nil
}

// failing returns an error if schedules fail or are late, of all practices.
func (r *Runner) failing(ctx context.Context) error {
	ctx = clock.Refresh(ctx)
	var n int
	err := r.db.SQL.QueryRowContext(ctx, `SELECT count(*) FROM report_schedules AS s JOIN practices AS p ON p.id = s.practice_id
		WHERE s.stopped_at IS NULL AND (s.failing_since IS NOT NULL OR s.attempt_at < $1) AND (p.closes_at IS NULL OR p.closes_at > $2)`,
		clock.Now(ctx).Add(-lateAfter), clock.Now(ctx)).Scan(&n)
	switch {
	case err != nil:
		return fmt.Errorf("schedule: count the schedules that fail: %w", err)
	case n > 0:
		return fmt.Errorf("schedule: schedules that fail or are late: %d; \"chairside report schedule list\" has the reasons", n)
	}
	return nil
}

// Overdue returns since when the oldest attempt has been waiting to be made, of all practices, or the zero time.
// Schedules that failed and wait for their next attempt are not overdue.
func Overdue(ctx context.Context, db *store.DB) (since time.Time, err error) {
	err = db.SQL.QueryRowContext(ctx, `SELECT s.attempt_at FROM report_schedules AS s JOIN practices AS p ON p.id = s.practice_id
		WHERE s.stopped_at IS NULL AND s.attempt_at <= $1 AND s.leased_until <= $2 AND (p.closes_at IS NULL OR p.closes_at > $1)
		ORDER BY s.attempt_at LIMIT 1`, clock.Now(ctx), now()).Scan(&since)
	if errors.Is(err, sql.ErrNoRows) {
		return since, nil
	}
	if err != nil {
		return since, fmt.Errorf("schedule: look for overdue schedules: %w", err)
	}
	return since, nil
}

// affected returns the number of rows that a statement changed.
func affected(result sql.Result, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}
