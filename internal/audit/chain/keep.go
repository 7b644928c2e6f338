package chain

import (
	"context"
	"log/slog"
	"time"

	"chairside/internal/store"
)

const (
	// SealEvery is how often entries are sealed.
	SealEvery = time.Second
	// CheckpointEvery is how often a checkpoint is written.
	CheckpointEvery = time.Minute
	// lastTime bounds the last run, after the server has stopped.
	lastTime = 10 * time.Second
)

// Keep seals entries every second and writes checkpoints every minute until ctx ends, and then
// once more. checkpoints may be nil. Any number of processes may run it. It calls sealed and signed
// after each, logs errors and continues.
func Keep(ctx context.Context, db *store.DB, checkpoints *Checkpoints, logger *slog.Logger, sealed, signed func(error)) {
	seals, signs := time.NewTicker(SealEvery), time.NewTicker(CheckpointEvery)
	defer seals.Stop()
	defer signs.Stop()
	run := func(ctx context.Context, sign bool) {
		_, err := Seal(ctx, db)
		sealed(err)
		if err != nil {
			if ctx.Err() == nil {
				logger.Error("cannot seal the audit log; the next second tries again", "error", err)
			}
			return
		}
		if !sign || checkpoints == nil {
			return
		}
		err = checkpoints.Write(ctx, db)
		signed(err)
		if err != nil && ctx.Err() == nil {
			logger.Error("cannot write a checkpoint of the audit log; the next minute tries again", "error", err)
		}
	}
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastTime)
			defer cancel()
			run(last, true)
			return
		case <-seals.C:
			run(ctx, false)
		case <-signs.C:
			run(ctx, true)
		}
	}
}
