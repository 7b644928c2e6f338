package feed

import (
	"context"
	"log/slog"
	"time"

	"chairside/internal/store/feedlog"
)

const (
	// busyPoll and idlePoll are how often changes are numbered, after some were found and
	// without any.
	busyPoll, idlePoll = 25 * time.Millisecond, 250 * time.Millisecond
	// busyRounds is the number of polls without a change after which the feed counts as idle.
	busyRounds = 10
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
	for idle := busyRounds; ; {
		some, err := feedlog.Sequence(ctx, f.db.SQL, f.db.Dialect)
		idle++
		if some {
			idle = 0
		}
		f.look(ctx, logger)
		pause := busyPoll
		switch {
		case err != nil && ctx.Err() == nil:
			logger.Warn("cannot number the changes of the change feed; readers wait for them", "error", err)
			pause = errorPause
		case idle >= busyRounds:
			pause = idlePoll
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
