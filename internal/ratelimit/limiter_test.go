package ratelimit

import (
	"errors"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
)

var start = time.Date(2026, 7, 1, 9, 0, 0, 0, time.UTC)

func TestLimiterDropsFullBuckets(t *testing.T) {
	t.Parallel()
	l, now := New(Options{PerToken: 3600}), start
	busy := uuid.New()
	for range 100 {
		l.Take(busy, uuid.Nil, now)
	}
	for i := range 10 * minSweep {
		now = now.Add(2 * time.Millisecond)
		l.Take(uuid.New(), uuid.Nil, now)
		if len(l.buckets) > 4*minSweep+1000 { // none is dropped within its first second
			t.Fatalf("%d buckets after %d tokens", len(l.buckets), i)
		}
	}
	if u := l.Peek(busy, uuid.Nil, now); u.Token.Remaining >= 3600-50 {
		t.Errorf("the bucket of a token in use was dropped: %d remaining", u.Token.Remaining)
	}
	now = now.Add(2 * time.Hour)
	for range 4 * minSweep {
		l.Take(uuid.New(), uuid.Nil, now)
		now = now.Add(time.Second)
	}
	if len(l.buckets) > 2*minSweep {
		t.Errorf("%d buckets remain", len(l.buckets))
	}
}

// TestWaitIsExact for each limit that refuses.
func TestWaitIsExact(t *testing.T) {
	t.Parallel()
	for _, o := range []Options{
		{PerToken: 100}, {PerPractice: 100}, {PerToken: 100, PerPractice: 100}, {PerToken: 100, PerPractice: 10}, {PerToken: 10, PerPractice: 15}, {PerToken: 7, PerPractice: 3},
	} {
		l, now := New(o), start
		tokens, practice := []uuid.UUID{uuid.New(), uuid.New(), uuid.New()}, uuid.New()
		for i := range 2000 {
			token := tokens[i%7%3]
			u, ok := l.Take(token, practice, now)
			if ok {
				continue
			}
			if wait := l.Peek(token, practice, now.Add(u.Wait()-2*time.Microsecond)).Wait(); wait <= 0 {
				t.Fatalf("%+v: the request is possible before %v", o, u.Wait())
			}
			now = now.Add(u.Wait())
			if _, ok := l.Take(token, practice, now); !ok {
				t.Fatalf("%+v: the request is not possible after %v", o, u.Wait())
			}
		}
	}
}

// TestSynchronizationsDoNotStarveTheFrontDesk, which makes a request every three seconds
// while others make as many as they can.
func TestSynchronizationsDoNotStarveTheFrontDesk(t *testing.T) {
	t.Parallel()
	for _, busy := range []int{1, 3, 20} {
		l := New(Options{PerToken: 36000, PerPractice: 36000})
		practice, desk := uuid.New(), uuid.New()
		tokens := make([]uuid.UUID, busy)
		for i := range tokens {
			tokens[i] = uuid.New()
		}
		served := 0
		for tick := range 4 * 3600 { // four hours
			now := start.Add(time.Duration(tick) * time.Second)
			for i := range 30 {
				if _, ok := l.Take(tokens[(tick+i)%busy], practice, now); ok {
					served++
				}
			}
			if tick%3 == 0 {
				if u, ok := l.Take(desk, practice, now); !ok {
					t.Fatalf("%d busy tokens: the front desk is refused after %v: %+v", busy, now.Sub(start), u)
				}
			}
		}
		if total := served + 4*1200; total < 4*36000 {
			t.Errorf("%d busy tokens: only %d requests are served in four hours", busy, total)
		}
	}
}

// TestUnlimited limits nothing and remembers nothing.
func TestUnlimited(t *testing.T) {
	t.Parallel()
	l := New(Options{})
	for range 100 {
		u, ok := l.Take(uuid.New(), uuid.New(), start)
		if !ok || u.Token.Remaining != Unlimited || u.Token.Limit != 0 || u.Wait() != 0 {
			t.Fatalf("%+v", u)
		}
	}
	if len(l.buckets) > 0 {
		t.Errorf("%d buckets", len(l.buckets))
	}
}

// TestDatabaseOutageNeverBlocksRequests: neither an error nor a database that hangs.
func TestDatabaseOutageNeverBlocksRequests(t *testing.T) {
	t.Parallel()
	recovered, calls := make(chan struct{}), 0
	l := New(Options{PerToken: 400, Share: func(spent []Spending) ([]time.Time, error) {
		if calls++; calls == 1 {
			return nil, errors.New("down")
		}
		<-recovered // hangs
		return []time.Time{spent[0].Since.Add(spent[0].Cost)}, nil
	}})
	token, served := uuid.New(), 0
	for i := range 1000 {
		if _, ok := l.Take(token, uuid.Nil, start.Add(time.Duration(i)*10*time.Millisecond)); ok {
			served++
		}
		if i == 100 {
			l.Settle() // the error
		}
	}
	if served != 401 { // the bucket, and the refill of ten seconds
		t.Errorf("%d requests were served by a limit of 400", served)
	}
	close(recovered)
	l.Settle()
	if calls < 2 || calls > 4 {
		t.Errorf("%d attempts to share in ten seconds", calls)
	}
	if u := l.Peek(token, uuid.Nil, start.Add(10*time.Second)); u.Token.Remaining > 1 {
		t.Errorf("%d requests are forgotten", u.Token.Remaining)
	}
}

func TestAddressesAreLimited(t *testing.T) {
	t.Parallel()
	a := NewAddresses(3)
	take := func(address string, want bool) {
		t.Helper()
		if _, ok := a.Take(netip.MustParseAddr(address), start); ok != want {
			t.Errorf("%s: %v", address, ok)
		}
	}
	for range 3 {
		take("192.0.2.1", true)
		take("2001:db8::1", true)
	}
	take("192.0.2.1", false)
	take("::ffff:192.0.2.1", false)
	take("192.0.2.2", true)
	take("2001:db8::ffff:0:1", false)
	take("2001:db8::1%eth0", false)
	take("2001:db8:0:1::1", true)
	if _, ok := a.Take(netip.Addr{}, start); !ok { // an address that is not known
		t.Error("refused")
	}
	if left, ok := NewAddresses(0).Take(netip.MustParseAddr("192.0.2.1"), start); !ok || left.Remaining != Unlimited {
		t.Errorf("%+v", left)
	}
}

// TestAddressesTakeBoundedMemory however many addresses an attacker has.
func TestAddressesTakeBoundedMemory(t *testing.T) {
	t.Parallel()
	a := NewAddresses(10)
	for i := range 3 * maxAddresses {
		network := netip.AddrFrom16([16]byte{0x20, 1, 0xd, 0xb8, byte(i >> 24), byte(i >> 16), byte(i >> 8), byte(i)})
		if _, ok := a.Take(network, start); !ok {
			t.Fatalf("%s is refused", network)
		}
		if len(a.fullAt) > maxAddresses {
			t.Fatalf("%d addresses", len(a.fullAt))
		}
	}
}

func BenchmarkTake(b *testing.B) {
	l, now, token, practice := New(Options{PerToken: 1 << 30, PerPractice: 1 << 30}), start, uuid.New(), uuid.New()
	for b.Loop() {
		l.Take(token, practice, now)
	}
}

// TestSlowSharingHoldsBurstsBack: two processes whose bursts are over before the database has
// responded once serve together no more than one would, to within a twentieth.
func TestSlowSharingHoldsBurstsBack(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 7, 1, 9, 0, 0, 0, time.UTC)
	for _, o := range []Options{{PerToken: 600}, {PerToken: 36000, PerPractice: 180}, {PerPractice: 180}} {
		var mu sync.Mutex
		stored := map[uuid.UUID]time.Time{}
		o.Share = func(spent []Spending) (fullAt []time.Time, err error) {
			time.Sleep(30 * time.Millisecond)
			mu.Lock()
			defer mu.Unlock()
			for _, s := range spent {
				if stored[s.ID].Before(s.Since) {
					stored[s.ID] = s.Since
				}
				stored[s.ID] = stored[s.ID].Add(s.Cost)
				fullAt = append(fullAt, stored[s.ID])
			}
			return fullAt, nil
		}
		token, practice := uuid.New(), uuid.New()
		limit := o.PerToken // what one process serves in a burst
		if o.PerPractice > 0 {
			limit = o.PerPractice * 2 / 3
		}
		var served atomic.Int64
		var clients sync.WaitGroup
		for range 2 {
			process := New(o)
			defer process.Settle()
			for range 4 {
				clients.Go(func() {
					for range limit {
						if _, ok := process.Take(token, practice, now); ok {
							served.Add(1)
						}
					}
				})
			}
		}
		clients.Wait()
		if most := int64(limit + limit/20 + 8); served.Load() > most || served.Load() < int64(limit)*9/10 {
			t.Errorf("two processes served %d, want %d to %d", served.Load(), limit*9/10, most)
		}
	}
}
