package admission

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"chairside/internal/principal"
)

var practiceA, practiceB = uuid.UUID{1}, uuid.UUID{2}

// work returns the context of a request.
func work(t *testing.T, practice uuid.UUID, kind string) context.Context {
	ctx := With(t.Context(), kind, kind)
	if practice == uuid.Nil {
		return ctx
	}
	return principal.With(ctx, &principal.Principal{PracticeID: practice})
}

// fill takes places until the next one would have to wait.
func fill(t *testing.T, g *Gate, ctx context.Context) (leave []func()) {
	t.Helper()
	for g.fits(shareOf(ctx, loadOf(ctx))) {
		l, err := g.Enter(ctx)
		if err != nil {
			t.Fatal(err)
		}
		leave = append(leave, l)
	}
	return leave
}

func TestStalledKindLeavesPlaces(t *testing.T) {
	for _, connections := range []int{4, 7, 10, 20, 100} {
		g := NewGate(connections)
		stalled := len(fill(t, g, work(t, practiceA, "appointments")))
		if stalled < g.half || stalled >= connections-2 && connections > 4 {
			t.Errorf("of %d connections one kind gets %d", connections, stalled)
		}
		others := len(fill(t, g, work(t, practiceA, "patients"))) + len(fill(t, g, work(t, practiceB, "fees")))
		if others == 0 || stalled+others >= connections {
			t.Errorf("of %d connections, beside %d, others get %d", connections, stalled, others)
		}
		if g.inUse != g.places {
			t.Errorf("of %d connections %d are in use, %d have places", connections, g.inUse, g.places)
		}
	}
}

func TestSmallPoolServesOneKind(t *testing.T) {
	for connections := 1; connections < 4; connections++ {
		if got := len(fill(t, NewGate(connections), work(t, practiceA, "patients"))); got != connections {
			t.Errorf("of %d connections one kind gets %d", connections, got)
		}
	}
}

func TestStalledPracticeLeavesPlaces(t *testing.T) {
	g := NewGate(20)
	for _, kind := range []string{"appointments", "patients", "fees"} {
		fill(t, g, work(t, practiceA, kind))
	}
	if len(fill(t, g, work(t, practiceB, "rooms"))) == 0 {
		t.Error("another practice gets no place")
	}

	g = NewGate(20)
	fill(t, g, work(t, practiceA, "appointments"))
	if len(fill(t, g, work(t, practiceB, "appointments"))) == 0 || len(fill(t, g, work(t, practiceA, "patients"))) == 0 {
		t.Error("beside one practice's stalled kind, another practice or another kind gets no place")
	}
}

// TestWaitingWorkIsServedByShare checks the order in which waiting requests are admitted.
func TestWaitingWorkIsServedByShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(20)
		busy := fill(t, g, work(t, practiceA, "appointments"))
		fill(t, g, work(t, practiceA, "patients"))
		fill(t, g, work(t, practiceB, "fees"))
		served := make(chan string, 3)
		wait := func(name string, ctx context.Context) {
			go func() {
				if _, err := g.Enter(ctx); err == nil {
					served <- name
				}
			}()
			synctest.Wait()
		}
		wait("same kind", work(t, practiceA, "appointments"))
		wait("same practice", work(t, practiceA, "reports"))
		wait("other practice", work(t, practiceB, "rooms"))
		for i, want := range []string{"other practice", "same practice", "same kind"} {
			for len(served) == 0 && len(busy) > 0 {
				busy[0]()
				busy = busy[1:]
				synctest.Wait()
			}
			if got := <-served; got != want {
				t.Errorf("served as number %d: %s, want %s", i, got, want)
			}
		}
	})
}

// TestEqualRequestsAreServedInOrder checks that requests with the same share are admitted in the
// order of their arrival.
func TestEqualRequestsAreServedInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, ctx := NewGate(2), work(t, practiceA, "patients")
		busy := fill(t, g, ctx)
		var order []int
		for i := range 5 {
			go func() {
				leave, err := g.Enter(ctx)
				if err != nil {
					t.Error(err)
					return
				}
				order = append(order, i)
				leave()
			}()
			synctest.Wait()
		}
		busy[0]()
		synctest.Wait()
		for i, got := range order {
			if got != i {
				t.Fatalf("served in the order %v", order)
			}
		}
		if len(order) != 5 {
			t.Errorf("%d of 5 were served", len(order))
		}
	})
}

func TestWaitingEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, ctx := NewGate(2), work(t, practiceA, "patients")
		busy := fill(t, g, ctx)
		began := time.Now()
		if _, err := g.Enter(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != MaxWait {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		cancelled, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := g.Enter(cancelled); !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled request gets %v", err)
		}
		if u := g.Usage(); len(u) != 1 || u[0] != (Usage{Kind: "patients", InUse: 2, Admitted: 2, Waited: 2, Refused: 1}) {
			t.Errorf("usage %+v", u)
		}
		for _, leave := range busy {
			leave()
		}
		if len(g.queues) != 0 || len(fill(t, g, ctx)) != 2 {
			t.Error("requests that gave up still wait or hold places")
		}
	})
}

func TestHoldServesAllStatements(t *testing.T) {
	g, ctx := NewGate(20), work(t, practiceA, "patients")
	leave, err := g.Hold(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for range 30 {
		if _, err := g.Enter(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if g.inUse != 1 {
		t.Errorf("%d places in use, want 1", g.inUse)
	}
	leave()
	if _, err := g.Enter(ctx); err != nil || g.inUse != 1 {
		t.Errorf("after it: %d places in use, error %v", g.inUse, err)
	}
}

func TestWorkWithoutAKindShares(t *testing.T) {
	g := NewGate(20)
	for range g.half {
		leave, err := g.Hold(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer leave()
	}
	if u := g.Usage(); len(u) != 1 || u[0].Kind != Other || u[0].InUse != g.half {
		t.Errorf("usage %+v", u)
	}
}

// TestGateCountsConcurrentRequests runs requests of all kinds at once; some of them give up.
func TestGateCountsConcurrentRequests(t *testing.T) {
	g := NewGate(6)
	var group sync.WaitGroup
	for worker := range 40 {
		group.Go(func() {
			ctx := work(t, uuid.UUID{byte(worker % 3)}, []string{"a", "b", "c", "d"}[worker%4])
			for range 200 {
				brief, cancel := context.WithTimeout(ctx, time.Duration(rand.IntN(2000))*time.Microsecond)
				leave, err := g.Enter(brief)
				cancel()
				if err == nil {
					if used := g.total(); used < 1 || used > g.places {
						t.Errorf("%d places in use", used)
					}
					leave()
				}
			}
		})
	}
	group.Wait()
	if g.inUse != 0 || len(g.queues) != 0 || len(g.practices) != 0 || len(g.operations) != 0 {
		t.Errorf("left over: %d places, queues %v, practices %v, operations %v", g.inUse, g.queues, g.practices, g.operations)
	}
	for _, u := range g.Usage() {
		if u.InUse != 0 || u.Waiting != 0 {
			t.Errorf("usage %+v", u)
		}
	}
}

// TestTurns checks that one request runs at a time, that others wait as long as they may, and that many
// of one practice do not hold up the first of another.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewTurns(1, ThreeFifths)
		first, err := g.Enter(work(t, practiceA, ReportTurns))
		if err != nil {
			t.Fatal(err)
		}
		var order []uuid.UUID
		for _, practice := range []uuid.UUID{practiceA, practiceA, practiceB} {
			go func() {
				leave, err := g.Enter(work(t, practice, ReportTurns))
				if err != nil {
					t.Errorf("refused: %v", err)
					return
				}
				order = append(order, practice)
				time.Sleep(20 * time.Second) // longer than MaxWait
				leave()
			}()
			synctest.Wait()
		}
		if len(order) > 0 {
			t.Errorf("%d more at once", len(order))
		}
		first()
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if want := []uuid.UUID{practiceB, practiceA, practiceA}; !slices.Equal(order, want) {
			t.Errorf("the turns were %v", order)
		}
	})
}

// TestTurnsInALoop checks that a practice that asks again at once does not hold up another one's second and
// third request.
func TestTurnsInALoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewTurns(1, ThreeFifths)
		var got []uuid.UUID
		ask := func(practice uuid.UUID) {
			leave, err := g.Enter(work(t, practice, ReportTurns))
			if err != nil {
				t.Errorf("refused: %v", err)
				return
			}
			got = append(got, practice)
			time.Sleep(time.Second)
			leave()
		}
		for range 2 {
			go func() {
				for range 10 {
					ask(practiceB)
				}
			}()
			synctest.Wait()
		}
		for range 3 {
			go ask(practiceA)
			synctest.Wait()
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		third := 0
		for i, practice := range got {
			if practice == practiceA {
				third = i + 1
			}
		}
		if third > 8 || len(got) != 23 {
			t.Errorf("the third request of A was number %d of %d", third, len(got))
		}
	})
}

// TestTurnsLeaveTimeToWork checks that a request is refused while it still has two fifths of its time.
func TestTurnsLeaveTimeToWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewTurns(1, ThreeFifths)
		leave, err := g.Enter(work(t, practiceA, ReportTurns))
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range []struct{ has, waits time.Duration }{{25 * time.Second, 15 * time.Second}, {2 * time.Minute, 72 * time.Second}} {
			ctx, cancel := context.WithTimeout(work(t, practiceA, ReportTurns), x.has)
			begun := time.Now()
			if _, err := g.Enter(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != x.waits {
				t.Errorf("with %v: %v after %v", x.has, err, time.Since(begun))
			}
			cancel()
		}
		gone, cancel := context.WithCancel(work(t, practiceA, ReportTurns))
		go func() {
			time.Sleep(time.Second)
			cancel()
		}()
		if _, err := g.Enter(gone); !errors.Is(err, context.Canceled) {
			t.Errorf("a client that left: %v", err)
		}
		if u := g.Usage(); len(u) != 1 || u[0].Refused != 2 {
			t.Errorf("usage %+v, want two refused", u)
		}
		leave()
		if len(g.next) != 0 || g.clock != 0 {
			t.Errorf("left over: clock %d, next %v", g.clock, g.next)
		}
	})
}

// TestLookupsAreNotHeldUpByEachOther checks that the lookup of a token, whose practice is not known yet, goes
// before a later request of a practice, however many lookups wait.
func TestLookupsAreNotHeldUpByEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewTurns(1, ThreeFifths)
		leave, err := g.Enter(work(t, practiceA, "lists"))
		if err != nil {
			t.Fatal(err)
		}
		var order []string
		enter := func(practice uuid.UUID, kind string) {
			go func() {
				leave, err := g.Enter(work(t, practice, kind))
				if err != nil {
					t.Errorf("refused: %v", err)
					return
				}
				order = append(order, kind)
				time.Sleep(time.Second)
				leave()
			}()
			synctest.Wait()
		}
		enter(uuid.Nil, Tokens)
		enter(uuid.Nil, Tokens)
		enter(practiceB, "lists")
		leave()
		time.Sleep(time.Minute)
		synctest.Wait()
		if want := []string{Tokens, Tokens, "lists"}; !slices.Equal(order, want) {
			t.Errorf("the order was %v", order)
		}
	})
}

func (g *Gate) total() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.inUse
}

func BenchmarkEnter(b *testing.B) {
	g := NewGate(20)
	ctx := principal.With(With(b.Context(), "patients", "getPatient"), &principal.Principal{PracticeID: practiceA})
	b.ReportAllocs()
	for b.Loop() {
		leave, err := g.Enter(ctx)
		if err != nil {
			b.Fatal(err)
		}
		leave()
	}
}
