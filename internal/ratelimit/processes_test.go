package ratelimit

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
)

// sharedBuckets is table rate_buckets in memory.
type sharedBuckets struct {
	mu         sync.Mutex
	fullAt     map[uuid.UUID]time.Time
	statements int
}

func (s *sharedBuckets) share(spent []Spending) (fullAt []time.Time, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.statements++
	for _, b := range spent {
		if s.fullAt[b.ID].Before(b.Since) {
			s.fullAt[b.ID] = b.Since
		}
		s.fullAt[b.ID] = s.fullAt[b.ID].Add(b.Cost)
		fullAt = append(fullAt, s.fullAt[b.ID])
	}
	return fullAt, nil
}

// cluster is processes that share buckets, with a clock that only the test moves.
type cluster struct {
	*sharedBuckets
	processes []*Limiter
	practice  uuid.UUID
	now       time.Time
	served    int
	random    *rand.Rand
}

func newCluster(processes int, o Options) *cluster {
	c := &cluster{
		sharedBuckets: &sharedBuckets{fullAt: map[uuid.UUID]time.Time{}},
		practice:      uuid.New(), now: start, random: rand.New(rand.NewPCG(1, 2)),
	}
	o.Share = c.share
	for range processes {
		c.processes = append(c.processes, New(o))
	}
	return c
}

// take makes a request to process i.
func (c *cluster) take(i int, token uuid.UUID) bool {
	p := c.processes[i]
	_, ok := p.Take(token, c.practice, c.now)
	p.Settle()
	if ok {
		c.served++
	}
	return ok
}

// burst makes 1000 requests a second of the tokens by turns, to the processes that next chooses,
// until 50 in a row are refused.
func (c *cluster) burst(next func(i int) int, tokens ...uuid.UUID) {
	for i, refused := 0, 0; refused < 50; i++ {
		c.now = c.now.Add(time.Millisecond)
		if refused++; c.take(next(i), tokens[i/len(c.processes)%len(tokens)]) {
			refused = 0
		}
	}
}

// byTurns, atRandom and unevenly choose the process of a request.
func (c *cluster) byTurns(i int) int { return i % len(c.processes) }

func (c *cluster) atRandom(int) int { return c.random.IntN(len(c.processes)) }

func (c *cluster) unevenly(int) int {
	return min(c.random.IntN(len(c.processes)), c.random.IntN(len(c.processes)))
}

// check fails if the processes have served a twentieth more than allowed by a limit of perHour, a
// twentieth less than what least tokens may have taken, or if they have shared more often than once
// per hundred requests and eight times each.
func (c *cluster) check(t *testing.T, what string, perHour, least int) {
	t.Helper()
	refill := perHour * int(c.now.Sub(start)/time.Second) / 3600
	allowed := perHour + refill
	t.Logf("%s, %d processes: %d served of %d (%+.1f %%), %d statements (%.2f %%)", what, len(c.processes), c.served, allowed,
		100*(float64(c.served)/float64(allowed)-1), c.statements, 100*float64(c.statements)/float64(c.served))
	if c.served > allowed*21/20 {
		t.Errorf("%s, %d processes: %d requests are served of %d", what, len(c.processes), c.served, allowed)
	}
	if c.served < (least+refill)*95/100 {
		t.Errorf("%s, %d processes: only %d requests are served of %d", what, len(c.processes), c.served, least+refill)
	}
	if 100*c.statements > c.served+800*len(c.processes) {
		t.Errorf("%s, %d processes: %d statements for %d requests", what, len(c.processes), c.statements, c.served)
	}
}

// TestBurstOverManyProcesses: together they serve a token no more than one would, to within 5 %.
func TestBurstOverManyProcesses(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 3, 5} {
		for _, limit := range []int{3600, 36000} {
			for _, choice := range []struct {
				name string
				next func(*cluster, int) int
			}{{"by turns", (*cluster).byTurns}, {"at random", (*cluster).atRandom}, {"unevenly", (*cluster).unevenly}} {
				c := newCluster(n, Options{PerToken: limit})
				c.burst(func(i int) int { return choice.next(c, i) }, uuid.New())
				c.check(t, choice.name, limit, limit)
			}
		}
		c, token := newCluster(n, Options{PerToken: 3600}), uuid.New()
		for i := range n {
			c.burst(func(int) int { return i }, token)
		}
		c.check(t, "one process after the other", 3600, 3600)
	}
}

// TestOverloadOfManyProcesses for hours serves what refills, to within 5 %.
func TestOverloadOfManyProcesses(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 3, 5} {
		for _, choice := range []struct {
			name string
			next func(*cluster, int) int
		}{{"by turns", (*cluster).byTurns}, {"at random", (*cluster).atRandom}, {"unevenly", (*cluster).unevenly}} {
			c, token := newCluster(n, Options{PerToken: 3600}), uuid.New()
			for _, hours := range []time.Duration{1, 4} {
				for i := 0; c.now.Before(start.Add(hours * time.Hour)); i++ {
					c.now = c.now.Add(time.Duration(c.random.ExpFloat64() * float64(50*time.Millisecond)))
					c.take(choice.next(c, i), token)
				}
				c.check(t, "overload "+choice.name, 3600, 3600)
			}
		}
	}
}

// TestReserveOverManyProcesses: after a token has reached its limit and four others have taken
// what they can of the practice's, the front desk is served, and the practice's limit holds.
func TestReserveOverManyProcesses(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 3, 5} {
		c, desk := newCluster(n, Options{PerToken: 3600, PerPractice: 7200}), uuid.New()
		c.burst(c.byTurns, uuid.New())
		c.burst(c.byTurns, uuid.New(), uuid.New(), uuid.New(), uuid.New())
		served := 0
		for i := range 60 {
			if c.take(i%n, desk) {
				served++
			}
		}
		if served < 60 {
			t.Errorf("%d processes: the front desk gets %d of 60 requests", n, served)
		}
		c.check(t, "five synchronisations", 7200, 6840)

		if n > 3 {
			continue // the limit holds, but the token leaves a quarter of it instead of a third
		}
		c = newCluster(n, Options{PerPractice: 3600})
		c.burst(c.byTurns, uuid.New())
		c.check(t, "two thirds for one token", 2400, 2400)
	}
}
