package feed

import (
	"context"
	"log/slog"
	"time"

	"chairside/internal/store/feedlog"
)

const (
	// NumberEvery is how often changes are numbered. Each time costs the database about a millisecond,
	// so bookings would notice a much shorter pause.
	NumberEvery = 250 * time.Millisecond
	// SweepEvery is how often old changes are deleted.
	SweepEvery = time.Hour
	// errorPause is the time between tries while the database fails, sweepPause that of deletions.
	errorPause = time.Second
	sweepPause = time.Minute
)

// Run numbers changes after their commit, and wakes readers that wait for them, until ctx ends. Any number
// of processes may run it; on a replica, which gets the numbers from its primary, it only wakes readers. It
// calls numbered after each run, logs errors and continues.
func (f *Feed) Run(ctx context.Context, logger *slog.Logger, numbered func(error)) {
	for {
		err := feedlog.Sequence(ctx, f.db.SQL, f.db.Dialect)
		if err == nil {
			err = f.look(ctx)
		}
		numbered(err)
		pause := NumberEvery
		if err != nil && ctx.Err() == nil {
			logger.Warn("cannot number or read the change feed; its readers wait", "error", err)
			pause = errorPause
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// KeepSweeping deletes changes that are older than retention every hour, after an error a minute later, until ctx
// ends. It calls swept after each run, logs errors and continues.
func (f *Feed) KeepSweeping(ctx context.Context, retention time.Duration, logger *slog.Logger, swept func(error)) {
	for {
		pause := SweepEvery
		err := feedlog.Sweep(ctx, f.db.SQL, retention)
		swept(err)
		if err != nil && ctx.Err() == nil {
			logger.Warn("cannot delete old changes of the change feed", "error", err)
		}
		if err != nil {
			pause = sweepPause
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}
