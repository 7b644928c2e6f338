package ratelimit_test

import (
	"math"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"chairside/internal/ratelimit"
	"chairside/internal/store"
	"chairside/internal/test/localpg/pgtest"
	"chairside/internal/test/testdb"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// each runs a test on both databases.
func each(t *testing.T, test func(t *testing.T, url string)) {
	t.Helper()
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) { t.Parallel(); test(t, testdb.Migrated.SQLite(t)) })
	t.Run("postgres", func(t *testing.T) { t.Parallel(); test(t, testdb.Migrated.Postgres(t)) })
}

// process is a limiter as one server process has it.
type process struct {
	*ratelimit.Limiter
	statements atomic.Int64
}

// newProcess opens the database at url.
func newProcess(t *testing.T, url string, o ratelimit.Options) *process {
	t.Helper()
	db, err := store.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	p := &process{}
	share := ratelimit.Database(db.SQL, db.Dialect, func(err error) { t.Error(err) })
	o.Share = func(spent []ratelimit.Spending) ([]time.Time, error) {
		p.statements.Add(1)
		return share(spent)
	}
	p.Limiter = ratelimit.New(o)
	t.Cleanup(p.Settle)
	return p
}

// TestProcessesShareLimits: two processes together serve a token no more than one would, to
// within 5 %, and share with at most one statement per hundred requests.
func TestProcessesShareLimits(t *testing.T) {
	each(t, func(t *testing.T, url string) {
		begin := time.Date(2026, 7, 1, 9, 0, 0, 0, time.UTC)
		for _, load := range []struct {
			name    string
			options ratelimit.Options
			limit   int
			perHour [2]float64 // requests of each process
			hours   float64
		}{
			{"both far too many", ratelimit.Options{PerToken: 3600}, 3600, [2]float64{36000, 36000}, 2},
			{"a burst", ratelimit.Options{PerToken: 3600}, 3600, [2]float64{7e6, 7e6}, 0.01},
			{"each below the limit, together above", ratelimit.Options{PerToken: 3600}, 3600, [2]float64{2700, 2700}, 8},
			{"uneven", ratelimit.Options{PerToken: 3600}, 3600, [2]float64{200, 20000}, 2},
			{"the practice", ratelimit.Options{PerToken: 36000, PerPractice: 7200}, 7200, [2]float64{36000, 36000}, 2},
		} {
			processes := []*process{newProcess(t, url, load.options), newProcess(t, url, load.options)}
			tokens, practice := []uuid.UUID{uuid.New()}, uuid.New()
			if load.options.PerPractice > 0 {
				tokens = append(tokens, uuid.New(), uuid.New())
			}
			random := rand.New(rand.NewPCG(1, 2))
			served, asked, now := 0, 0, begin
			end := begin.Add(time.Duration(load.hours * float64(time.Hour)))
			for ; now.Before(end); asked++ { // requests arrive at random
				all := load.perHour[0] + load.perHour[1]
				now = now.Add(time.Duration(random.ExpFloat64() / all * float64(time.Hour)))
				p := processes[0]
				if random.Float64()*all >= load.perHour[0] {
					p = processes[1]
				}
				if _, ok := p.Take(tokens[asked%len(tokens)], practice, now); ok {
					served++
				}
				if asked%20 == 0 { // sharing takes some time
					p.Settle()
				}
			}
			most := float64(load.limit) * (1 + load.hours)
			if load.options.PerPractice > 0 {
				most -= float64(load.limit) / 6 // left to other tokens
			}
			if off := float64(served)/most - 1; math.Abs(off) > 0.05 {
				t.Errorf("%s: %d requests served, %.1f %% off %.0f", load.name, served, 100*off, most)
			}
			statements := processes[0].statements.Load() + processes[1].statements.Load()
			if share := float64(statements) / float64(served); share > 0.01 {
				t.Errorf("%s: %d statements for %d requests served: %.2f %%", load.name, statements, served, 100*share)
			}
			t.Logf("%s: %d of %d served, at most %.0f; %d statements", load.name, served, asked, most, statements)
		}
	})
}

// TestClockSetBack: limits that were counted with a clock that was ahead do not refuse requests until then, but for
// some minutes at most.
func TestClockSetBack(t *testing.T) {
	each(t, func(t *testing.T, url string) {
		now := time.Date(2026, 7, 1, 9, 0, 0, 0, time.UTC)
		token, practice := uuid.New(), uuid.New()
		running, restarted := newProcess(t, url, ratelimit.Options{PerToken: 3600, PerPractice: 7200}), newProcess(t, url, ratelimit.Options{PerToken: 3600, PerPractice: 7200})
		for range 500 {
			running.Take(token, practice, now.Add(3*time.Hour))
		}
		running.Settle()
		for _, p := range []*process{running, restarted} {
			for range 3 {
				if u, ok := p.Take(token, practice, now); !ok && u.Wait() > 5*time.Minute {
					t.Errorf("refused for %v", u.Wait())
				}
				p.Settle()
				now = now.Add(2 * time.Minute)
			}
			if u, ok := p.Take(token, practice, now); !ok {
				t.Errorf("still refused for %v", u.Wait())
			}
		}
	})
}

// TestReserveOverProcesses: a burst over two processes leaves the front desk as much as a burst
// over one.
func TestReserveOverProcesses(t *testing.T) {
	each(t, func(t *testing.T, url string) {
		for _, o := range []ratelimit.Options{{PerToken: 1800, PerPractice: 180}, {PerToken: 36000, PerPractice: 3600}, {PerPractice: 180}} {
			limit := o.PerPractice
			processes := []*process{newProcess(t, url, o), newProcess(t, url, o)}
			practice, burst, desk := uuid.New(), uuid.New(), uuid.New()
			now := time.Date(2026, 7, 1, 9, 0, 0, 0, time.UTC)
			take := func(token uuid.UUID, requests int) (served int) {
				for i := range requests {
					p := processes[i%2]
					if _, ok := p.Take(token, practice, now); ok {
						served++
					}
					p.Settle()
				}
				return served
			}
			// Alone, a token gets two thirds. What it leaves is for others, who leave half of
			// what they use: 2/9 of the limit.
			if served := take(burst, 2*limit); float64(served) > 0.72*float64(limit) {
				t.Errorf("%+v: the burst gets %d requests", o, served)
			}
			if served := take(desk, limit); float64(served) < 0.18*float64(limit) {
				t.Errorf("%+v: the front desk gets %d requests", o, served)
			}
		}
	})
}

// TestBurstOverThreeProcesses: together they serve a token, and then a practice's tokens, no more than
// one would, to within 5 %, and the front desk after that.
func TestBurstOverThreeProcesses(t *testing.T) {
	each(t, func(t *testing.T, url string) {
		o := ratelimit.Options{PerToken: 3600, PerPractice: 7200}
		processes := []*process{newProcess(t, url, o), newProcess(t, url, o), newProcess(t, url, o)}
		practice, now := uuid.New(), time.Date(2026, 7, 1, 9, 0, 0, 0, time.UTC)
		take := func(requests int, tokens ...uuid.UUID) (served int) {
			for i := range requests {
				p := processes[i%3]
				if _, ok := p.Take(tokens[i/3%len(tokens)], practice, now); ok {
					served++
				}
				p.Settle()
			}
			return served
		}
		first := take(4500, uuid.New())
		if first < 3600 || first > 3780 {
			t.Errorf("a token of 3600 gets %d requests", first)
		}
		four := take(4500, uuid.New(), uuid.New(), uuid.New(), uuid.New())
		desk := take(60, uuid.New())
		if desk < 60 {
			t.Errorf("the front desk gets %d of 60 requests", desk)
		}
		if served := first + four + desk; served < 6600 || served > 7560 {
			t.Errorf("a practice of 7200 gets %d requests", served)
		}
		statements := processes[0].statements.Load() + processes[1].statements.Load() + processes[2].statements.Load()
		if 100*statements > int64(first+four) {
			t.Errorf("%d statements for %d requests", statements, first+four)
		}
		t.Logf("%d, %d, %d served; %d statements", first, four, desk, statements)
	})
}

// TestWaitAfterABurstOverProcesses: only the first time may a client be asked to wait too short.
func TestWaitAfterABurstOverProcesses(t *testing.T) {
	each(t, func(t *testing.T, url string) {
		for _, o := range []ratelimit.Options{{PerToken: 3600}, {PerToken: 36000, PerPractice: 3600}, {PerToken: 90}} {
			processes := []*process{newProcess(t, url, o), newProcess(t, url, o)}
			token, practice, now := uuid.New(), uuid.New(), time.Date(2026, 7, 1, 9, 0, 0, 0, time.UTC)
			for i := range 8000 {
				processes[i%2].Take(token, practice, now)
				if i%50 == 0 {
					processes[i%2].Settle()
				}
			}
			for i, p := range processes {
				p.Settle()
				var waits []time.Duration
				for {
					u, ok := p.Take(token, practice, now)
					p.Settle()
					if ok {
						break
					}
					waits = append(waits, u.Wait())
					now = now.Add(u.Wait() + time.Second)
				}
				if len(waits) > 2 {
					t.Errorf("%+v: process %d asks to wait for %v", o, i, waits)
				}
			}
		}
	})
}

// TestSlowClientsShareNothing: the limiter costs them no statements.
func TestSlowClientsShareNothing(t *testing.T) {
	each(t, func(t *testing.T, url string) {
		p, token := newProcess(t, url, ratelimit.Options{PerToken: 3600, PerPractice: 36000}), uuid.New()
		for i := range 300 {
			u, ok := p.Take(token, uuid.Nil, time.Date(2026, 7, 1, 9, 0, 10*i, 0, time.UTC))
			if !ok || u.Token.Remaining != 3599 {
				t.Fatalf("request %d: %+v", i, u)
			}
		}
		if p.Settle(); p.statements.Load() > 0 {
			t.Errorf("%d statements", p.statements.Load())
		}
	})
}

// TestRestartedProcessLearnsTheLimit from the others.
func TestRestartedProcessLearnsTheLimit(t *testing.T) {
	each(t, func(t *testing.T, url string) {
		o, now, token := ratelimit.Options{PerToken: 1000}, time.Date(2026, 7, 1, 9, 0, 0, 0, time.UTC), uuid.New()
		first := newProcess(t, url, o)
		for range 1000 {
			first.Take(token, uuid.Nil, now)
			first.Settle()
		}
		restarted, served := newProcess(t, url, o), 0
		for range 1000 {
			if _, ok := restarted.Take(token, uuid.Nil, now); ok {
				served++
			}
			restarted.Settle()
		}
		if served > 100 {
			t.Errorf("%d of 1000 requests are served again", served)
		}
	})
}
