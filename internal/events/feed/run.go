package feed

import (
	"context"
	"log/slog"
	"time"

	"chairside/internal/store/feedlog"
)

const (
	// poll is how often changes are numbered. Each time costs the database about a millisecond,
	// so bookings would notice a much shorter pause.
	poll = 250 * time.Millisecond
	// sweepEvery is how often old changes are deleted.
	sweepEvery = time.Hour
	// errorPause is the time between tries while the database fails.
	errorPause = time.Second
)

// Run numbers changes after their commit, and deletes those that are older than retention,
// until ctx ends. Any number of processes may run it. It logs errors and continues.
func (f *Feed) Run(ctx context.Context, retention time.Duration, logger *slog.Logger) {
	sweep := time.NewTicker(sweepEvery)
	defer sweep.Stop()
	f.sweep(ctx, retention, logger)
	for {
		err := feedlog.Sequence(ctx, f.db.SQL, f.db.Dialect)
		if err == nil {
			err = f.look(ctx)
		}
		pause := poll
		if err != nil && ctx.Err() == nil {
			logger.Warn("cannot number or read the change feed; its readers wait", "error", err)
			pause = errorPause
		}
		select {
		case <-ctx.Done():
			return
		case <-sweep.C:
			f.sweep(ctx, retention, logger)
		case <-time.After(pause):
		}
	}
}

func (f *Feed) sweep(ctx context.Context, retention time.Duration, logger *slog.Logger) {
	if err := feedlog.Sweep(ctx, f.db.SQL, retention); err != nil && ctx.Err() == nil {
		logger.Warn("cannot delete old changes of the change feed", "error", err)
	}
}
