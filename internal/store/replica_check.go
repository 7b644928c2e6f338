package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
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
	timeline        int64
	replayed        lsn
	// within is a position that covers all that can be seen: replayed, or the next one if a record is being
	// replayed, whose commit may be visible already.
	within      lsn
	incarnation int64  // changes when the server starts
	reason      string // why it may not be used; "" if it may
}

// databaseIdentity is SQL for what a database and its replicas have in common.
const databaseIdentity = `(SELECT system_identifier FROM pg_control_system()) || ' ' || (SELECT oid FROM pg_database WHERE datname = current_database())`

// primaryPosition is SQL for the position of a primary. Where only the header of a page of the log is behind it
// (24 bytes, 40 in the first page of a file), it is the place before that: a replica that has everything is there.
const primaryPosition = `CAST(at - '0/0' AS bigint) - CASE WHEN (pg_walfile_name_offset(at)).file_offset = 40 THEN 40 WHEN CAST(at - '0/0' AS bigint) % 8192 = 24 THEN 24 ELSE 0 END,
		CAST(CAST('x' || substr(pg_walfile_name(at), 1, 8) AS bit(32)) AS int)
	FROM (SELECT pg_current_wal_insert_lsn() AS at) AS position`

// FollowedTimeline is SQL for the timeline that a replica follows. While it receives the log it knows, but says so
// only to roles with pg_read_all_stats. Others learn of a new timeline with the replica's next restartpoint, at most
// checkpoint_timeout after the failover, or when it next writes a page.
const FollowedTimeline = `greatest((SELECT received_tli FROM pg_stat_wal_receiver),
	(SELECT timeline_id FROM pg_control_checkpoint()), (SELECT min_recovery_end_timeline FROM pg_control_recovery()))`

// incarnation is SQL for when a server was started, which no two servers have in common.
const incarnation = `CAST(extract(epoch FROM pg_postmaster_start_time()) * 1000000 AS bigint)`

// The columns of a replica's position, and where they come from. The replayed position is read before the
// received one: if they are equal, nothing was being replayed.
const (
	replicaPosition = `coalesce(replayed, 0), CASE WHEN received <= replayed THEN replayed ELSE coalesce(replayed, 0) + 1 END,
		pg_is_in_recovery(), ` + incarnation
	replicaReplays = ` FROM (SELECT replayed, CAST(pg_last_wal_receive_lsn() - '0/0' AS bigint) AS received
		FROM (SELECT CAST(pg_last_wal_replay_lsn() - '0/0' AS bigint) AS replayed OFFSET 0) AS first OFFSET 0) AS position`
)

// sightQuery asks a replica for all of a sight, positionQuery for what check needs: the rest is read from
// the control file, which takes longer than most reads.
const (
	sightQuery    = `SELECT ` + replicaPosition + `, ` + FollowedTimeline + `, ` + databaseIdentity + replicaReplays
	positionQuery = `SELECT ` + replicaPosition + replicaReplays
)

// look asks a replica over one of its pools.
func look(ctx context.Context, pool *sql.DB) (*sight, string, error) {
	seen := &sight{asked: time.Now()}
	var standby bool
	var identity string
	err := pool.QueryRowContext(ctx, sightQuery).Scan(&seen.replayed, &seen.within, &standby, &seen.incarnation, &seen.timeline, &identity)
	if err != nil {
		return nil, "", err
	}
	seen.answered = time.Now()
	if !standby {
		seen.reason = acceptsWrites
	}
	return seen, identity, nil
}

// check ends a read on a replica. It returns the place that the server has replayed and one that covers all
// that the read has seen, and fails unless the server is the one that was chosen, and still a replica.
func (r *replica) check(ctx context.Context, v *visit, before *sight) (replayed, within lsn, err error) {
	var standby bool
	var started int64
	err = v.pool.QueryRowContext(ctx, positionQuery).Scan(&replayed, &within, &standby, &started)
	switch {
	case err != nil:
		return 0, 0, err
	case !standby || started != before.incarnation:
		return 0, 0, errMoved
	}
	v.pools.saw(replayed)
	return replayed, within, nil
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
	var started int64
	err := s.db.SQL.QueryRowContext(ctx, "SELECT "+databaseIdentity+", "+incarnation+", "+primaryPosition).Scan(&identity, &started, &at.at, &at.timeline)
	if err != nil {
		return
	}
	s.mu.Lock()
	before := s.identity
	s.identity, s.incarnation = identity, started
	s.mu.Unlock()
	if before != "" && before != identity { // another database, whose timelines have nothing to do with those before
		s.restart(at)
	} else if s.notice(at) != nil {
		return
	}
	s.clients.measured(asked, at.at)
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.samples); n > 0 && s.samples[n-1].at > at.at { // another server, whose log is shorter
		s.samples = nil
		s.clients.restart(at)
	}
	s.samples = append(s.samples, sample{asked, at.at})
	// Two samples older than the limit show a lag beyond it.
	for len(s.samples) > 2 && asked.Sub(s.samples[2].asked) > maxReplicaLag+restTime {
		s.samples = slices.Delete(s.samples, 0, 1)
	}
}

// notice takes note of a position of the primary before anybody may use it: after a failover, the places of the
// old timeline, and replicas that follow it, prove nothing any more.
func (s *replicas) notice(at Position) error {
	before, err := s.clients.see(at)
	if err != nil || before == at.timeline {
		return err
	}
	s.mu.Lock()
	s.samples = nil
	s.mu.Unlock()
	if before != 0 {
		s.log.Info("another primary has taken over", slog.Int64("timeline", at.timeline), slog.Int64("before", before))
	}
	return nil
}

// restart begins anew with a position of another database.
func (s *replicas) restart(at Position) {
	s.clients.restart(at)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.samples = nil
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
	r.seen.Store(seen)
	if lag, known := s.lag(seen, seen.answered); seen.reason == "" && known && lag <= maxReplicaLag {
		r.current.Store(seen.answered.Add(-lag).UnixNano())
	}
	s.logChange(r)
}

// settleTime is how long a replica's lag must have been too long, unknown, or neither, before the log says so:
// it may change with each answer.
const settleTime = 3 * time.Second

// changes reports whether to log the reason why a replica is left out, which it then counts as logged.
func (l *logged) changes(reason string, now time.Time) bool {
	if reason != l.next {
		l.next, l.since = reason, now
	}
	ofLag := func(reason string) bool { return reason == farBehind || reason == lagUnknown }
	if l.next == l.reason || (ofLag(l.next) || ofLag(l.reason)) && now.Sub(l.since) < settleTime {
		return false
	}
	l.reason = l.next
	return true
}

// logChange logs whether a replica answers, and why not, if that has changed.
func (s *replicas) logChange(r *replica) {
	now := time.Now()
	state := s.stateOf(r, now)
	if !r.logged.changes(state.Reason, now) {
		return
	}
	switch {
	case state.Primary:
		s.log.Info("a server that is named as a replica is the primary now", slog.String("replica", r.name))
	case state.Reason != "":
		s.log.Warn("a replica is left out", slog.String("replica", r.name), slog.String("reason", state.Reason))
	default:
		s.log.Info("a replica answers reads", slog.String("replica", r.name))
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
	if seen.incarnation != pools.incarnation { // its connections are lost, or lead to different servers
		r.pools.Store(nil)
		return nil, errors.Join(errRestarted, pools.close())
	}
	pools.saw(seen.replayed)
	if time.Now().UnixNano() < pools.mixedUntil.Load() {
		seen.reason = errSeveral.Error()
	}
	s.compare(seen, identity)
	return seen, nil
}

// compare sets the reason that follows from what is known of the primary.
func (s *replicas) compare(seen *sight, identity string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case seen.reason == acceptsWrites && seen.incarnation == s.incarnation:
		seen.reason = isPrimary
	case seen.reason != "":
	case s.identity == "":
		seen.reason = primarySilent
	case identity != s.identity:
		seen.reason = "it is a replica of another database"
	case seen.timeline != s.clients.current():
		seen.reason = fmt.Sprintf("it follows timeline %d, and the primary is on %d", seen.timeline, s.clients.current())
	}
}

const (
	// acceptsWrites is the reason why a server is left out that is no replica now.
	acceptsWrites = "it is not a replica: it accepts writes"
	// isPrimary is the reason once the pool of the primary leads to that server.
	isPrimary = "it is the primary now"
)

// Why a replica is left out that may soon be used.
const (
	notAsked      = "it has not been asked yet"
	primarySilent = "the primary has not answered yet"
	lagUnknown    = "its lag is not known"
)

// farBehind is the reason why a replica is left out whose lag exceeds maxReplicaLag.
var farBehind = "it is more than " + maxReplicaLag.String() + " behind"

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
	Primary          bool   // it is left out because it is the primary now
	Lag              time.Duration
	LagKnown         bool
	Answered, Failed int64 // reads that it answered, and those that the primary had to answer after it failed
}

// ReplicaStates returns the states of the replicas that UseReplicas has named.
func (db *DB) ReplicaStates() (states []ReplicaState) {
	s := db.replicas
	if s == nil {
		return nil
	}
	for _, r := range s.all {
		states = append(states, s.stateOf(r, time.Now()))
	}
	return states
}

func (s *replicas) stateOf(r *replica, now time.Time) ReplicaState {
	seen := r.seen.Load()
	state := ReplicaState{Name: r.name, Reason: seen.reason, Primary: seen.reason == isPrimary, Answered: r.answered.Load(), Failed: r.failed.Load()}
	if state.Reason != "" {
		return state
	}
	state.Lag, state.LagKnown = s.lag(seen, now)
	switch {
	case now.Sub(seen.asked) > hopeTime:
		state.Reason, state.LagKnown = "it does not answer", false
	case !state.LagKnown:
		state.Reason = lagUnknown
	case state.Lag > maxReplicaLag:
		state.Reason = farBehind
		// The positions of the primary that are kept do not reach further back.
		current := r.current.Load()
		state.Lag, state.LagKnown = now.Sub(time.Unix(0, current)), current != 0
	}
	return state
}

// PrimaryReads returns how many reads no replica could answer.
func (db *DB) PrimaryReads() int64 {
	if db.replicas == nil {
		return 0
	}
	return db.replicas.primary.Load()
}
