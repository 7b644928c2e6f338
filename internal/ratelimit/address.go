package ratelimit

import (
	"net/netip"
	"sync"
	"time"
)

// maxAddresses is the most addresses that are remembered, of about 100 bytes each.
const maxAddresses = 1 << 16

// Addresses limits requests by network address: IPv4 addresses, and the /64 networks of IPv6.
type Addresses struct {
	rate rate // limit 0 is unlimited

	mu     sync.Mutex
	fullAt map[netip.Addr]time.Time
}

// NewAddresses returns a limiter of perHour requests; 0 is unlimited.
func NewAddresses(perHour int) *Addresses {
	a := &Addresses{fullAt: map[netip.Addr]time.Time{}}
	if perHour > 0 {
		a.rate = newRate(perHour)
	}
	return a
}

// Take counts a request if it is possible, and returns what remains. ok is false if it is not
// possible.
func (a *Addresses) Take(address netip.Addr, now time.Time) (left Allowance, ok bool) {
	if a.rate.limit == 0 {
		return Allowance{Remaining: Unlimited, Full: now}, true
	}
	if address = address.Unmap(); address.Is6() {
		network, _ := address.WithZone("").Prefix(64) // every IPv6 address has one
		address = network.Addr()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	b := bucket{fullAt: a.fullAt[address]}
	if left = b.describe(a.rate, now, 0); left.Wait > 0 {
		return left, false
	}
	b.spend(a.rate, now)
	if _, known := a.fullAt[address]; !known && len(a.fullAt) >= maxAddresses {
		a.makeRoom(now)
	}
	a.fullAt[address] = b.fullAt
	return b.describe(a.rate, now, 0), true
}

// makeRoom drops the full buckets. If that leaves too little room, it drops any: the limit of
// some addresses starts again. mu is held.
func (a *Addresses) makeRoom(now time.Time) {
	for address, fullAt := range a.fullAt {
		if !fullAt.After(now) {
			delete(a.fullAt, address)
		}
	}
	for address := range a.fullAt {
		if len(a.fullAt) <= maxAddresses/2 {
			return
		}
		delete(a.fullAt, address)
	}
}
