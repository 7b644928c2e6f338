package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"golang.org/x/net/netutil"

	"chairside/internal/audit/chain"
	"chairside/internal/closure"
	"chairside/internal/events/idempotency"
)

// Limits of connections: how long a slow request or a slow client may hold one.
const (
	headerTime  = 10 * time.Second
	readTime    = 30 * time.Second
	writeTime   = 60 * time.Second // longer than reportTime, so that its 503 is still sent
	idleTime    = 2 * time.Minute
	stopTime    = 20 * time.Second // for requests in progress at shutdown
	maxHeader   = 64 << 10
	connections = 4096 // open at once; others wait to be accepted
)

// Run serves listener until ctx ends, then stops in the steps of drain.go: running requests have
// 20 seconds to finish. It returns nil if all of them finished. While it serves, it also
// compacts the database's counters, numbers and sweeps the change feed, delivers webhooks, writes
// and seals the audit log, writes the request log, runs scheduled reports, measures the work that waits, copies an
// embedded database, and deletes expired idempotency keys and closed practices. While the database is a read-only replica, it
// only reads.
func (s *Server) Run(ctx context.Context, listener net.Listener) error {
	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.DB.LimitSilence(maxSilence)
	s.replica.look(working)
	var background sync.WaitGroup
	writing := func(work func(ctx context.Context)) {
		background.Go(func() { s.replica.whileWritable(working, work) })
	}
	writing(func(ctx context.Context) { s.DB.Counters.KeepCompacting(ctx, s.Logger, s.jobs.compact.ran) })
	writing(func(ctx context.Context) {
		idempotency.KeepPruning(s.Clock.With(ctx), s.DB, s.Logger, s.jobs.prune.ran)
	})
	writing(func(ctx context.Context) { closure.Keep(s.Clock.With(ctx), s.DB, s.Logger, s.jobs.closePractices.ran) })
	writing(func(ctx context.Context) { s.webhooks.Run(ctx, s.jobs.deliver.ran, s.jobs.sweepWebhooks.ran) })
	writing(func(ctx context.Context) {
		s.feed.KeepSweeping(ctx, s.ChangesRetention, s.Logger, s.jobs.sweepFeed.ran)
	})
	writing(func(ctx context.Context) { s.trail.Run(ctx, s.jobs.record.ran) })
	writing(func(ctx context.Context) { s.schedules.Run(s.Clock.With(ctx), s.jobs.runSchedules.ran) })
	writing(func(ctx context.Context) { s.requests.Run(s.Clock.With(ctx), s.jobs.logRequests.ran) })
	// These also run on a replica, where their statements that write find nothing to do.
	background.Go(func() { s.replica.keepLooking(working) })
	background.Go(func() { s.feed.Run(working, s.Logger, s.jobs.number.ran) })
	background.Go(func() { s.backlog.keepMeasuring(working, s.Logger, s.jobs.measure.ran) })
	if s.Backups != nil {
		background.Go(func() { s.Backups.Run(s.Clock.With(working), s.DB, s.Logger, s.jobs.copyDatabase.ran) })
	}
	sealing, stopSealing := context.WithCancel(context.WithoutCancel(ctx))
	var sealer sync.WaitGroup
	sealer.Go(func() {
		chain.Keep(s.Clock.With(sealing), s.DB, s.Checkpoints, s.Logger, s.jobs.seal.ran, s.jobs.sign.ran)
	})
	defer func() {
		stop()
		s.leave(&background, workTime)
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastTime)
		s.flush(last)
		cancel()
		stopSealing()
		s.leave(&sealer, lastTime)
		last, cancel = context.WithTimeout(context.WithoutCancel(ctx), lastTime)
		s.tracing.close(last)
		cancel()
		s.Logger.Info("stopped")
	}()
	listener = netutil.LimitListener(listener, connections)
	idle := &idleConnections{idle: map[net.Conn]struct{}{}}
	hs := &http.Server{
		Handler:           s.handler,
		ReadHeaderTimeout: headerTime,
		ReadTimeout:       readTime,
		WriteTimeout:      writeTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    maxHeader,
		ConnState:         idle.track,
		TLSConfig:         &tls.Config{MinVersion: tls.VersionTLS12},
		ErrorLog:          slog.NewLogLogger(s.Logger.Handler(), slog.LevelWarn),
	}
	ended := make(chan error, 1)
	go func() {
		if s.CertFile != "" {
			ended <- hs.ServeTLS(listener, s.CertFile, s.KeyFile)
		} else {
			ended <- hs.Serve(listener)
		}
	}()
	select {
	case err := <-ended:
		return fmt.Errorf("server: %w", err)
	case <-ctx.Done():
	}
	s.Logger.Info("stopping: /readyz responds 503 while the server drains", slog.String("drain", s.Drain.String()))
	s.drain(s.Hurry)
	s.release(idle, s.Hurry)
	stop()
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	if err := hs.Shutdown(grace); err != nil {
		return errors.Join(fmt.Errorf("server: requests did not finish in time: %w", err), hs.Close())
	}
	s.Settle()
	return nil
}

const (
	// workTime bounds the end of background work once no request runs, and lastTime each step after it: the last
	// entries of the logs, the last seal of the audit log, and the last traces.
	workTime, lastTime = 10 * time.Second, 5 * time.Second
	// maxSilence is store.DB.LimitSilence: how long a connection waits for a silent database that does not say why.
	maxSilence = time.Minute
)

// leave waits for work that has been told to end, but no longer than limit: the database, or the disk of the
// copies, may be frozen.
func (s *Server) leave(work *sync.WaitGroup, limit time.Duration) {
	ended := make(chan struct{})
	go func() {
		work.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(limit):
		s.Logger.Error("background work does not end: the database or a disk does not answer; the server leaves it")
	}
}

// Lend calls use with the handler, for a process that serves without a listener. As Run does, it writes the
// audit log and the request log, meanwhile and at the end.
func (s *Server) Lend(ctx context.Context, use func(http.Handler) error) error {
	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.replica.look(working)
	var background sync.WaitGroup
	background.Go(func() {
		s.replica.whileWritable(working, func(ctx context.Context) { s.trail.Run(ctx, s.jobs.record.ran) })
	})
	background.Go(func() {
		s.replica.whileWritable(working, func(ctx context.Context) { s.requests.Run(s.Clock.With(ctx), s.jobs.logRequests.ran) })
	})
	defer func() {
		stop()
		background.Wait()
		s.Settle()
	}()
	return use(s.handler)
}

// Settle waits for the background work of finished requests: sharing rate limits, the audit log's
// entries of reads, refusals and sign-ins, the request log, and traces.
func (s *Server) Settle() {
	s.limiter.Settle()
	s.flush(context.Background())
	s.tracing.flush(context.Background())
}

// flush writes what is left of the audit log and the request log, unless the database is a replica.
func (s *Server) flush(ctx context.Context) {
	if is, _ := s.replica.now(); is {
		return
	}
	_ = s.trail.Flush(ctx) // they log their errors
	_ = s.requests.Flush(ctx)
}
