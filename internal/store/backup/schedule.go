package backup

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"chairside/internal/audit/trail"
	"chairside/internal/clock"
	"chairside/internal/store"
)

const (
	// DefaultEvery is how often a server makes a copy.
	DefaultEvery = time.Hour
	// busyPause is how long to wait for another process that makes the copy.
	busyPause = 5 * time.Second
	// failedPause is how long to wait after a failure.
	failedPause = time.Minute
)

// Schedule makes copies in a folder at an interval, with any number of processes: a copy is due
// when the newest one is older than the interval, whoever made it and however often a server starts.
type Schedule struct {
	Folder
	Every time.Duration
}

// Run makes copies until ctx ends. It calls ran when one that was due is there, and after each failure.
// It logs copies and errors.
func (s *Schedule) Run(ctx context.Context, db *store.DB, logger *slog.Logger, ran func(error)) {
	for {
		wait := s.turn(clock.Refresh(ctx), db, logger, ran)
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// turn makes a copy if one is due, and returns how long to wait for the next turn.
func (s *Schedule) turn(ctx context.Context, db *store.DB, logger *slog.Logger, ran func(error)) time.Duration {
	wait, path := time.Duration(0), ""
	err := locked(db.File, func() (err error) {
		if wait, err = s.remaining(ctx, db); err != nil || wait > 0 {
			return err
		}
		deleted := 0
		if path, deleted, err = s.write(ctx, db); path != "" {
			wait = s.Every
			logger.Info("copied the database", slog.String("file", path), slog.Int("deleted", deleted))
			err = errors.Join(err, trail.Write(ctx, db, trail.Entry{At: clock.Now(ctx), Action: "export", Record: store.BackupRecord}))
		}
		return err
	})
	switch {
	case ctx.Err() != nil:
		return 0
	case errors.Is(err, ErrBusy):
		return busyPause
	case err != nil:
		ran(err)
		logger.Error("cannot copy the database; the next minute tries again", "error", err)
		return failedPause
	}
	ran(nil)
	return wait
}

// remaining returns the time until a copy is due; it is not positive if one is due.
func (s *Schedule) remaining(ctx context.Context, db *store.DB) (time.Duration, error) {
	newest, future, err := s.Newest(ctx, db)
	if err != nil || future != "" || newest.IsZero() {
		return 0, err // write has the error of a copy from the future
	}
	return newest.Add(s.Every).Sub(clock.Now(ctx)), nil
}

// Overdue returns since when a copy is due, or the zero time if none is. Without any copy nobody knows
// since when. A nil schedule has no copies to make.
func (s *Schedule) Overdue(ctx context.Context, db *store.DB) (time.Time, error) {
	if s == nil {
		return time.Time{}, nil
	}
	newest, _, err := s.Newest(ctx, db)
	if err != nil || newest.IsZero() {
		return time.Time{}, err
	}
	if due := newest.Add(s.Every); due.Before(clock.Now(ctx)) {
		return due, nil
	}
	return time.Time{}, nil
}
