package store

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"chairside/internal/principal"
)

// TestTheLogWaitsForALagToSettle, but not for other reasons why a replica is left out.
func TestTheLogWaitsForALagToSettle(t *testing.T) {
	t.Parallel()
	const gone = "it does not answer"
	l, begin := logged{reason: ""}, time.Now()
	for i, step := range []struct {
		after  time.Duration // since the first step
		reason string
		logged bool
	}{
		{0, "", false},
		{1 * time.Second, farBehind, false}, {2 * time.Second, "", false}, // it comes and goes
		{3 * time.Second, farBehind, false}, {4 * time.Second, lagUnknown, false}, {5 * time.Second, farBehind, false},
		{7 * time.Second, farBehind, false}, {8 * time.Second, farBehind, true}, {9 * time.Second, farBehind, false},
		{10 * time.Second, "", false}, {13 * time.Second, "", true},
		{14 * time.Second, gone, true}, {15 * time.Second, gone, false}, {16 * time.Second, "", true},
	} {
		if got := l.changes(step.reason, begin.Add(step.after)); got != step.logged {
			t.Errorf("step %d, after %s, %q: logged is %v", i, step.after, step.reason, got)
		}
	}
}

// TestTheLogNamesTheNewPrimary although its promotion is seen before the pool of the primary leads to it.
func TestTheLogNamesTheNewPrimary(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s := &replicas{log: slog.New(slog.NewTextHandler(&log, nil)), identity: "a", incarnation: 1}
	r := &replica{name: "db2"}
	for _, step := range []struct {
		primary int64 // the incarnation that the pool of the primary leads to
		logged  string
		is      bool
	}{
		{1, "a replica is left out", false}, {1, "", false},
		{2, "a server that is named as a replica is the primary now", true}, {2, "", true},
	} {
		log.Reset()
		s.incarnation = step.primary
		seen := &sight{incarnation: 2, reason: acceptsWrites}
		s.compare(seen, "a")
		r.seen.Store(seen)
		s.logChange(r)
		if got := log.String(); (got == "") != (step.logged == "") || !strings.Contains(got, step.logged) {
			t.Errorf("with primary %d the log says %q", step.primary, got)
		}
		if state := s.stateOf(r, time.Now()); state.Primary != step.is || state.Reason == "" {
			t.Errorf("with primary %d: %+v", step.primary, state)
		}
	}
}

// TestAnEndlessLagGrows although the primary's positions are kept for a short time only.
func TestAnEndlessLagGrows(t *testing.T) {
	t.Parallel()
	now := time.Now()
	s := &replicas{samples: []sample{{at: 50, asked: now.Add(-maxReplicaLag - time.Second)}, {at: 60, asked: now}}}
	r := &replica{}
	r.seen.Store(&sight{asked: now, answered: now, replayed: 40})
	if state := s.stateOf(r, now); state.Reason != farBehind || state.LagKnown {
		t.Errorf("never caught up: %+v", state)
	}
	r.current.Store(now.Add(-time.Hour).UnixNano())
	if state := s.stateOf(r, now); state.Reason != farBehind || !state.LagKnown || state.Lag.Round(time.Second) != time.Hour {
		t.Errorf("caught up an hour ago: %+v", state)
	}
}

// TestNoPositionIsAskedOfASilentPrimary: the client would wait for it after its time is over. What it has written is
// not known then, so no replica is used until the primary answers again.
func TestNoPositionIsAskedOfASilentPrimary(t *testing.T) {
	t.Parallel()
	db := &DB{replicas: &replicas{}} // without a database to ask
	db.replicas.clients.timeline = 1
	id := uuid.New()
	db.Reached(principal.With(t.Context(), &principal.Principal{TokenID: id}), fmt.Errorf("read: %w", context.DeadlineExceeded))
	if _, _, ok := db.replicas.clients.of(id); ok {
		t.Error("a replica may be used")
	}
}
