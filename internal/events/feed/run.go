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
	// errorPause is the time between tries while the database fails.
	errorPause = time.Second
)

// Run numbers changes after their commit, and deletes those that are older than retention,
// until ctx ends. Any number of processes may run it. It calls numbered and swept after each run,
// logs errors and continues.
func (f *Feed) Run(ctx context.Context, retention time.Duration, logger *slog.Logger, numbered, swept func(error)) {
	sweep := time.NewTicker(SweepEvery)
	defer sweep.Stop()
	swept(f.sweep(ctx, retention, logger))
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
		case <-sweep.C:
			swept(f.sweep(ctx, retention, logger))
		case <-time.After(pause):
		}
	}
}

func (f *Feed) sweep(ctx context.Context, retention time.Duration, logger *slog.Logger) error {
	err := feedlog.Sweep(ctx, f.db.SQL, retention)
	if err != nil && ctx.Err() == nil {
		logger.Warn("cannot delete old changes of the change feed", "error", err)
	}
	return err
}
