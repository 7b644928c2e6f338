package store

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"chairside/internal/clock"
)

// choose returns a replica that may answer a client, and the position that it has replayed. It waits a moment
// for one, but only if one is up. It returns nil if the primary must answer.
func (s *replicas) choose(ctx context.Context, client uuid.UUID, q Reading) (r *replica, need want) {
	s.used.Store(int64(clock.Uptime()))
	known, timeline, ok := s.clients.of(client)
	if !ok || q.After != (Position{}) && q.After.timeline != timeline {
		kick(s.asking) // the client may know of a failover first
		return nil, need
	}
	need = want{Position{timeline, known.after}, known}
	need.raise(q.After.at)
	if need.at > s.newestSample()+maxAhead {
		return nil, need
	}
	wait := replicaWait
	if q.Report {
		wait = reportWait
		now, err := s.askPosition(ctx)
		if err != nil || now.timeline != timeline {
			return nil, need
		}
		need.raise(now.at)
	}
	timeout := time.NewTimer(wait)
	defer timeout.Stop()
	first := true
	for {
		changed := s.change()
		r, hope := s.pick(need)
		if r != nil || !hope {
			return r, need
		}
		if first {
			s.waiting.Add(1)
			defer s.waiting.Add(-1)
			first = false
		}
		kick(s.asking)
		for _, r := range s.all {
			kick(r.ask)
		}
		select {
		case <-changed:
		case <-timeout.C:
			return nil, need
		case <-ctx.Done():
			return nil, need
		}
	}
}

// want is what a read wants of a replica: a position, for a client.
type want struct {
	Position
	client progress
}

// raise makes a read want a position of the primary, or one that the client has seen elsewhere.
func (w *want) raise(at lsn) {
	w.at, w.client.elsewhere = max(w.at, at), max(w.client.elsewhere, at)
}

// metBy reports whether a replica has replayed the position, or is the one that the client read from last and has
// replayed what the client has seen elsewhere.
func (w want) metBy(r *replica, seen *sight) bool {
	stays := r == w.client.on && seen.incarnation == w.client.incarnation && w.client.elsewhere <= w.client.shown
	return seen.timeline == w.timeline && (seen.replayed >= w.at || stays)
}

// pick returns a replica that meets need: the preferred one if it does, else the next one in turn. Without
// one, hope is whether one may in a moment.
func (s *replicas) pick(need want) (found *replica, hope bool) {
	now := time.Now()
	turn := int(s.next.Add(1) % uint64(len(s.all))) //nolint:gosec // less than the number of replicas
	for i := range s.all {
		r := s.all[(turn+i)%len(s.all)]
		usable, soon := s.usable(r, need.timeline, now)
		hope = hope || usable || soon
		if !usable || !need.metBy(r, r.seen.Load()) {
			continue
		}
		if r == need.client.on {
			return r, true
		}
		if found == nil {
			found = r
		}
	}
	return found, hope
}

// maxAhead is how much of the log, in bytes, a client's position may be ahead of the last sample of the
// primary. One further ahead was made up, or belongs to another database: no replica will reach it soon.
const maxAhead lsn = 256 << 20

// newestSample returns the last known position of the primary.
func (s *replicas) newestSample() lsn {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.samples) == 0 {
		return 0
	}
	return s.samples[len(s.samples)-1].at
}

const (
	// freshTime is how old the last answer of a replica may be.
	freshTime = 500 * time.Millisecond
	// hopeTime is how old it may be for a read to wait for the next one: a little more than restTime.
	hopeTime = restTime + freshTime
)

// usable reports whether a replica may answer on a timeline, or else whether its next answer may change that.
func (s *replicas) usable(r *replica, timeline int64, now time.Time) (usable, soon bool) {
	seen := r.seen.Load()
	if seen.reason != "" || seen.timeline != timeline || r.pools.Load() == nil {
		return false, false
	}
	age := now.Sub(seen.asked)
	lag, known := s.lag(seen, now)
	switch {
	case lag > maxReplicaLag:
		return false, false
	case !known || age > freshTime:
		return false, age <= hopeTime
	}
	return true, true
}

// sample is a position of the primary.
type sample struct {
	asked time.Time
	at    lsn
}

// lag returns how far a replica is behind the primary. It is not known if the primary has not answered lately,
// if the replica is ahead of it and so follows another one, or if it is behind all that the primary has said so
// far: by how much, the next seconds show.
func (s *replicas) lag(seen *sight, now time.Time) (lag time.Duration, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.samples) == 0 {
		return 0, false
	}
	last := s.samples[len(s.samples)-1]
	if now.Sub(last.asked) > hopeTime || last.asked.After(seen.answered) && last.at < seen.replayed {
		return 0, false
	}
	for _, sample := range slices.Backward(s.samples) {
		if sample.at <= seen.replayed {
			return lag, true
		}
		lag = now.Sub(sample.asked)
	}
	return lag, lag > maxReplicaLag
}

// change returns a channel that is closed with the next answer of a replica or the primary.
func (s *replicas) change() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// tell wakes all reads that wait.
func (s *replicas) tell() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.changed)
	s.changed = make(chan struct{})
}

// kick makes a watcher ask at once.
func kick(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
