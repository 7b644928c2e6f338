package store

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"math"
	"slices"
	"time"

	"chairside/internal/clock"
)

const (
	// restTime is how often a replica is asked for its position while no read needs it.
	restTime = time.Second
	// busyTime is how often while reads do, primaryTime how often the primary is.
	busyTime, primaryTime = 20 * time.Millisecond, 200 * time.Millisecond
	// waitedTime is the pause between two questions while a read waits for the answer.
	waitedTime = time.Millisecond
	// watchTime bounds one question, connectTime connecting first, which takes dozens of them.
	watchTime, connectTime = time.Second, 15 * time.Second
)

// sight is what a replica last said of itself.
type sight struct {
	asked, answered time.Time
	replayed        Position
	// within is a position that covers all that can be seen: replayed, or the next one if a record is being
	// replayed, whose commit may be visible already.
	within      Position
	incarnation string // changes when the server starts
	reason      string // why it may not be used; "" if it may
}

// databaseIdentity is SQL for what a database and its replicas have in common.
const databaseIdentity = `(SELECT system_identifier FROM pg_control_system()) || ' ' || (SELECT oid FROM pg_database WHERE datname = current_database())`

// sightQuery asks a replica. Its position is read before the end of what it has received: if both are equal,
// it was replaying nothing.
const sightQuery = `SELECT coalesce(replayed, 0), CASE WHEN received <= replayed THEN replayed ELSE coalesce(replayed, 0) + 1 END,
		pg_is_in_recovery(), CAST(extract(epoch FROM pg_postmaster_start_time()) AS text), ` + databaseIdentity + `
	FROM (SELECT replayed, CAST(pg_last_wal_receive_lsn() - '0/0' AS bigint) AS received
		FROM (SELECT CAST(pg_last_wal_replay_lsn() - '0/0' AS bigint) AS replayed OFFSET 0) AS first OFFSET 0) AS position`

// look asks a replica over one of its pools.
func look(ctx context.Context, pool *sql.DB) (*sight, string, error) {
	seen := &sight{asked: time.Now()}
	var standby bool
	var identity string
	err := pool.QueryRowContext(ctx, sightQuery).Scan(&seen.replayed, &seen.within, &standby, &seen.incarnation, &identity)
	if err != nil {
		return nil, "", err
	}
	seen.answered = time.Now()
	if !standby {
		seen.reason = "it is not a replica: it accepts writes"
	}
	return seen, identity, nil
}

// check ends a read on a replica. It returns a position that covers all that the read has seen, and fails unless
// the server is the one that was chosen, and still a replica.
func (r *replica) check(ctx context.Context, v *visit, before *sight) (Position, error) {
	after, _, err := look(ctx, v.pool)
	switch {
	case err != nil:
		return 0, err
	case after.reason != "" || after.incarnation != before.incarnation:
		return 0, errMoved
	}
	return after.within, nil
}

// interval is the pause before the next question.
func (s *replicas) interval(busy time.Duration) time.Duration {
	switch {
	case s.waiting.Load() > 0:
		return waitedTime
	case clock.Uptime()-time.Duration(s.used.Load()) < restTime && s.used.Load() > 0:
		return busy
	}
	return restTime
}

// pause waits for the next question; asked makes it sooner. It reports false when ctx has ended.
func (s *replicas) pause(ctx context.Context, busy time.Duration, asked <-chan struct{}) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(min(waitedTime, s.interval(busy))):
	}
	select {
	case <-ctx.Done():
		return false
	case <-asked:
	case <-time.After(s.interval(busy)):
	}
	return true
}

// watchPrimary reads the primary's position until ctx ends.
func (s *replicas) watchPrimary(ctx context.Context) {
	for ok := true; ok; ok = s.pause(ctx, primaryTime, s.asking) {
		s.samplePrimary(ctx)
		s.tell()
	}
}

// samplePrimary adds a sample. Without one, replicas are soon left out.
func (s *replicas) samplePrimary(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, watchTime)
	defer cancel()
	asked := time.Now()
	var at Position
	var identity string
	err := s.db.SQL.QueryRowContext(ctx, "SELECT CAST(pg_current_wal_insert_lsn() - '0/0' AS bigint), "+databaseIdentity).Scan(&at, &identity)
	if err != nil {
		return
	}
	s.clients.measured(asked, at)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.identity = identity
	if n := len(s.samples); n > 0 && s.samples[n-1].at > at { // another server, whose log is shorter
		s.samples = nil
		s.clients.restart(at)
	}
	s.samples = append(s.samples, sample{asked, at})
	// Two samples older than the limit show a lag beyond it.
	for len(s.samples) > 2 && asked.Sub(s.samples[2].asked) > maxReplicaLag+restTime {
		s.samples = slices.Delete(s.samples, 0, 1)
	}
}

// watch asks a replica for its position until ctx ends.
func (s *replicas) watch(ctx context.Context, r *replica) {
	for ok := true; ok; ok = s.pause(ctx, busyTime, r.ask) {
		s.ask(ctx, r)
		s.tell()
		if r.seen.Load().reason != "" { // a read does not wait for it, so it need not hurry
			select {
			case <-ctx.Done():
				return
			case <-time.After(freshTime):
			}
		}
	}
}

// ask asks a replica, to which it connects first if that is not done yet.
func (s *replicas) ask(ctx context.Context, r *replica) {
	limit := watchTime
	if r.pools.Load() == nil {
		limit = connectTime
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	seen, err := s.askReplica(ctx, r)
	if errors.Is(ctx.Err(), context.Canceled) {
		return
	}
	if err != nil {
		seen = &sight{reason: reasonOf(err)}
	}
	if before := r.seen.Swap(seen); before.reason != seen.reason {
		if seen.reason != "" {
			s.log.Warn("a replica is left out", slog.String("replica", r.name), slog.String("reason", seen.reason))
		} else {
			s.log.Info("a replica answers reads", slog.String("replica", r.name))
		}
	}
}

func (s *replicas) askReplica(ctx context.Context, r *replica) (*sight, error) {
	pools := r.pools.Load()
	if pools == nil {
		var err error
		if pools, err = s.openPools(ctx, r); err != nil {
			return nil, err
		}
		r.pools.Store(pools)
	}
	seen, identity, err := look(ctx, pools.reads.health)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case seen.reason != "":
	case s.identity == "":
		seen.reason = primarySilent
	case identity != s.identity:
		seen.reason = "it is a replica of another database"
	}
	return seen, nil
}

// Why a replica is left out that may soon be used.
const (
	notAsked      = "it has not been asked yet"
	primarySilent = "the primary has not answered yet"
)

// AwaitReplicas waits until the state of every replica is known, or ctx ends.
func (db *DB) AwaitReplicas(ctx context.Context) {
	s := db.replicas
	if s == nil {
		return
	}
	for {
		changed, known := s.change(), true
		for _, r := range s.all {
			seen := r.seen.Load()
			_, placed := s.lag(seen, time.Now())
			known = known && seen.reason != notAsked && seen.reason != primarySilent && (placed || seen.reason != "")
		}
		if known {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// ReplicaState is what an operator sees of a replica that answers reads.
type ReplicaState struct {
	Name             string // host and port
	Reason           string // why it is left out; "" if it answers
	Lag              time.Duration
	Answered, Failed int64 // reads that it answered, and those that the primary had to answer after it failed
}

// ReplicaStates returns the states of the replicas that UseReplicas has named.
func (db *DB) ReplicaStates() (states []ReplicaState) {
	s := db.replicas
	if s == nil {
		return nil
	}
	now := time.Now()
	for _, r := range s.all {
		seen := r.seen.Load()
		state := ReplicaState{Name: r.name, Reason: seen.reason, Answered: r.answered.Load(), Failed: r.failed.Load()}
		lag, known := s.lag(seen, now)
		state.Lag = lag
		switch {
		case state.Reason != "":
		case now.Sub(seen.asked) > hopeTime:
			state.Reason = "it does not answer"
		case !known:
			state.Reason = "its lag is not known"
		case lag > maxReplicaLag:
			state.Reason = "it is more than " + maxReplicaLag.String() + " behind"
		}
		states = append(states, state)
	}
	return states
}

// PrimaryReads returns how many reads no replica could answer.
func (db *DB) PrimaryReads() int64 {
	if db.replicas == nil {
		return 0
	}
	return db.replicas.primary.Load()
}

// Scan implements sql.Scanner.
func (p *Position) Scan(value any) error {
	n, ok := value.(int64)
	if !ok || n < 0 || n == math.MaxInt64 {
		return errors.New("store: not a position")
	}
	*p = Position(n)
	return nil
}
