package migrate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
)

// A migration waits for locks that requests hold, and meanwhile requests queue behind the
// migration. So a migration waits only briefly; if it does not get its locks, it rolls back and
// tries again:
//
//   - A file in a transaction waits for all of its locks together at most lockWait, slightly
//     less than PostgreSQL's deadlock_timeout. In a deadlock the migration therefore gives up
//     before the server chooses a victim.
//   - A statement outside a transaction waits at most lockWait, a backfill backfillLockWait for
//     each row.
//   - CREATE and DROP INDEX CONCURRENTLY wait at most indexLockWait. They wait for old
//     transactions to end, but nothing queues behind them, and each attempt that is cut off
//     leaves an invalid index behind.
const (
	longestLockWait  = time.Second
	lockWaitMargin   = 250 * time.Millisecond // below deadlock_timeout, for a busy machine
	shortestLockWait = 50 * time.Millisecond  // of a transaction's last statements
	backfillLockWait = 200 * time.Millisecond
	indexLockWait    = 30 * time.Minute
	// retryFor is how long a file or statement is retried that does not get its locks. It
	// counts waits and pauses, not the work of the statements.
	retryFor = 2 * time.Minute
	// The pauses between attempts double from the first to the longest.
	firstPause   = 100 * time.Millisecond
	longestPause = 5 * time.Second
	// observeEvery is how often the holders of a lock are looked up.
	observeEvery = 100 * time.Millisecond
	// reportEvery is how often a wait is reported.
	reportEvery = 10 * time.Second
)

// readLimits reads the limits that depend on the server, and sets the lock_timeout of the
// connection for statements without a limit of their own, such as those on the history.
func (a *applier) readLimits(ctx context.Context) error {
	var deadlock int // ms
	err := a.conn.QueryRowContext(ctx, "SELECT pg_backend_pid(), setting FROM pg_settings WHERE name = 'deadlock_timeout'").Scan(&a.process, &deadlock)
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	a.lockWait = max(min(longestLockWait, time.Duration(deadlock)*time.Millisecond)-lockWaitMargin, shortestLockWait)
	if _, err := a.conn.ExecContext(ctx, "SET lock_timeout = "+milliseconds(a.lockWait)); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return nil
}

// retry calls attempt until it does not fail because of a lock, for at most migrator.lockRetry.
// wait is how long an attempt waits for its locks.
func (a *applier) retry(ctx context.Context, wait time.Duration, attempt func() error) error {
	if !a.postgres() {
		return attempt()
	}
	pause, spent := firstPause, time.Duration(0)
	for attempts := 1; ; attempts++ {
		holders, err := a.observe(ctx, attempt)
		if !lockFailure(err) {
			return err
		}
		if isDeadlock(err) {
			wait = longestLockWait // deadlock_timeout, after which the server detects it
		}
		random := pause/2 + rand.N(pause)
		if spent += wait + random; spent > a.lockRetry {
			return fmt.Errorf("%w; %w, attempts: %d; %s: wait until it ends, or end it, then migrate again", err, ErrLocked, attempts, holders)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("migrate: %w", ctx.Err())
		case <-time.After(random):
		}
		pause = min(2*pause, longestPause)
	}
}

// lockFailure reports whether an attempt failed because of a lock and may be repeated. The final
// error of retry, which wraps ErrLocked, is not one.
func lockFailure(err error) bool {
	var server *pq.Error
	return errors.As(err, &server) && !errors.Is(err, ErrLocked) &&
		(server.Code == pqerror.LockNotAvailable || isDeadlock(err))
}

func isDeadlock(err error) bool {
	var server *pq.Error
	return errors.As(err, &server) && server.Code == pqerror.TRDeadlockDetected
}

// observe runs work and describes the last lock that it waited for, and its holders. It reports
// long waits while they last.
func (a *applier) observe(ctx context.Context, work func() error) (holders string, err error) {
	var observer sync.WaitGroup
	done := make(chan struct{})
	holders = "the holder of the lock is unknown"
	observer.Go(func() {
		tick := time.NewTicker(observeEvery)
		defer tick.Stop()
		for waited := time.Duration(0); ; {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			found, err := a.holders(ctx)
			if err != nil || found == "" { // only for information, so errors do not matter
				waited = 0
				continue
			}
			holders = found
			if waited += observeEvery; waited%reportEvery == 0 {
				a.report("waiting: %s", found)
			}
		}
	})
	err = work()
	close(done)
	observer.Wait()
	return holders, err
}

// holders describes the lock that the migration is waiting for and the processes that hold it; ""
// if it is not waiting. It omits the texts of queries, which may contain patient data.
func (a *applier) holders(ctx context.Context) (description string, err error) {
	const query = `
		SELECT format('%s%s is held by %s', l.mode, ' on ' || coalesce(l.relation::regclass::text, 'a ' || l.locktype), h.list)
		FROM pg_locks l CROSS JOIN LATERAL (
			SELECT string_agg(format('process %s (%s, %s%s)', b.pid, coalesce(nullif(a.application_name, ''), a.backend_type, 'unknown'), coalesce(a.state, 'state unknown'),
				coalesce(', its transaction is ' || extract(epoch FROM date_trunc('second', now() - a.xact_start))::bigint || ' s old', '')), ', ' ORDER BY b.pid) AS list
			FROM (SELECT DISTINCT unnest(pg_blocking_pids(l.pid)) AS pid) AS b LEFT JOIN pg_stat_activity a ON a.pid = b.pid
		) AS h
		WHERE l.pid = $1 AND NOT l.granted AND h.list IS NOT NULL`
	err = a.observer.QueryRowContext(ctx, query, a.process).Scan(&description)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return description, err
}

// lockLimitedTx is a transaction whose statements together wait for locks at most limit, counted
// from the first one: requests queue behind the locks that it already holds.
type lockLimitedTx struct {
	*sql.Tx
	limit time.Duration
	began time.Time
	set   time.Duration // the server's lock_timeout
}

// ExecContext runs a statement with the rest of the limit as its lock_timeout.
func (b *lockLimitedTx) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if b.began.IsZero() {
		b.began = time.Now()
	}
	left := max((b.limit - time.Since(b.began)).Truncate(shortestLockWait), shortestLockWait)
	if left != b.set {
		if _, err := b.Tx.ExecContext(ctx, "SET LOCAL lock_timeout = "+milliseconds(left)); err != nil {
			return nil, err
		}
		b.set = left
	}
	return b.Tx.ExecContext(ctx, query, args...)
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
