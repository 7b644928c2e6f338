package server

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"chairside/internal/store"
)

const (
	// lookEvery is how often the server looks whether its database has become a replica, or has been
	// promoted.
	lookEvery = 5 * time.Second
	// lookTime bounds one look.
	lookTime = 5 * time.Second
)

// errReplica is why the limits of requests are not shared.
var errReplica = errors.New("server: the database is a read-only replica")

// replica knows whether the server's database is a read-only replica. It is the one place that stops and
// starts the work in the background that writes.
type replica struct {
	db     *store.DB
	logger *slog.Logger

	mu      sync.Mutex
	is      bool
	changed chan struct{} // closed when is changes
}

func newReplica(db *store.DB, logger *slog.Logger) *replica {
	return &replica{db: db, logger: logger, changed: make(chan struct{})}
}

// now reports whether the database is a replica, and returns a channel that is closed when that changes.
func (x *replica) now() (bool, <-chan struct{}) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.is, x.changed
}

// look asks the database. If it does not answer, nothing changes: the jobs log that.
func (x *replica) look(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	is, err := x.db.IsReplica(ctx)
	if err != nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if is == x.is {
		return
	}
	x.is = is
	close(x.changed)
	x.changed = make(chan struct{})
	if is {
		x.logger.Warn("the database is a read-only replica: this server only reads. Work in the background that writes waits until the replica is promoted; until then the audit log gets no entries from this server, and this log is their record")
	} else {
		x.logger.Info("the database is no replica any more: work in the background that writes starts")
	}
}

// keepLooking looks every few seconds until ctx ends. An embedded database has no replicas.
func (x *replica) keepLooking(ctx context.Context) {
	if x.db.File != "" {
		return
	}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			x.look(ctx)
		}
	}
}

// whileWritable runs work until ctx ends, except while the database is a replica. work returns when its
// context ends; it is started again when the replica is promoted.
func (x *replica) whileWritable(ctx context.Context, work func(context.Context)) {
	for ctx.Err() == nil {
		is, changed := x.now()
		if is {
			select {
			case <-ctx.Done():
			case <-changed:
			}
			continue
		}
		working, stop := context.WithCancel(ctx)
		go func() {
			defer stop()
			select {
			case <-changed:
			case <-working.Done():
			}
		}()
		work(working)
		byItself := working.Err() == nil
		stop()
		if byItself { // there is nothing to do on this kind of database
			return
		}
	}
}
