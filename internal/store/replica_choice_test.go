package store

import (
	"testing"

	"github.com/google/uuid"
)

// TestWhatAReplicaMeets: a client may come back to the replica that it read from last before that has
// said how far it is, but not with what it has seen elsewhere, and not to another server at its address.
func TestWhatAReplicaMeets(t *testing.T) {
	one, two := &replica{name: "one"}, &replica{name: "two"}
	const before, after = 1, 2 // incarnations
	for name, c := range map[string]struct {
		history func(*clients, uuid.UUID)
		header  lsn
		on      *replica
		seen    sight
		met     bool
	}{
		"it stays, though the last answer is older":           {func(c *clients, id uuid.UUID) { c.showed(id, 50, 51, one, before) }, 0, one, sight{replayed: 40, incarnation: before}, true},
		"another replica must have replayed what may be seen": {func(c *clients, id uuid.UUID) { c.showed(id, 50, 51, one, before) }, 0, two, sight{replayed: 50, incarnation: before}, false},
		"another replica has":                                 {func(c *clients, id uuid.UUID) { c.showed(id, 50, 51, one, before) }, 0, two, sight{replayed: 51, incarnation: before}, true},
		"the replica was restarted":                           {func(c *clients, id uuid.UUID) { c.showed(id, 50, 51, one, before) }, 0, one, sight{replayed: 40, incarnation: after}, false},
		"the replica is on another timeline":                  {func(c *clients, id uuid.UUID) { c.showed(id, 50, 51, one, before) }, 0, one, sight{replayed: 60, incarnation: before, timeline: 2}, false},
		"the client wrote since": {func(c *clients, id uuid.UUID) {
			c.showed(id, 50, 51, one, before)
			c.reached(id, 60)
		}, 0, one, sight{replayed: 40, incarnation: before}, false},
		"it wrote before, and the replica has shown it": {func(c *clients, id uuid.UUID) {
			c.reached(id, 50)
			c.showed(id, 50, 51, one, before)
		}, 0, one, sight{replayed: 40, incarnation: before}, true},
		"what may be seen on one replica is not on the other yet": {func(c *clients, id uuid.UUID) {
			c.showed(id, 50, 51, one, before)
			c.showed(id, 50, 51, two, before)
		}, 0, two, sight{replayed: 50, incarnation: before}, false},
		"a header of another process that may be ahead": {func(c *clients, id uuid.UUID) { c.showed(id, 50, 51, one, before) }, 51, one, sight{replayed: 50, incarnation: before}, false},
		"a header of another process that is not":       {func(c *clients, id uuid.UUID) { c.showed(id, 50, 51, one, before) }, 50, one, sight{replayed: 40, incarnation: before}, true},
		"nothing is known, and positions were lost":     {func(c *clients, _ uuid.UUID) { c.floor = 50 }, 0, one, sight{replayed: 40}, false},
	} {
		positions, id := &clients{known: map[uuid.UUID]progress{}, timeline: 1}, uuid.New()
		c.history(positions, id)
		known, timeline, _ := positions.of(id)
		need := want{Position{timeline, known.after}, known}
		need.raise(c.header)
		if c.seen.timeline == 0 {
			c.seen.timeline = 1
		}
		if got := need.metBy(c.on, &c.seen); got != c.met {
			t.Errorf("%s: %t, want %t", name, got, c.met)
		}
	}
}

// TestPoolsRefuseAServerThatShowsLess: after a crash of one process, PostgreSQL replays again under the same start.
func TestPoolsRefuseAServerThatShowsLess(t *testing.T) {
	p := &replicaPools{incarnation: 7}
	p.saw(50)
	p.saw(40)
	for answer, want := range map[string]error{"7 50": nil, "7 60": nil, "7 49": errReplaysAgain, "8 60": errSeveral} {
		if err := p.admit(answer); err != want {
			t.Errorf("%s: %v, want %v", answer, err, want)
		}
	}
	if p.admit("7") == nil {
		t.Error("half an answer is accepted")
	}
}
