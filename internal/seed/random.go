package seed

import (
	"encoding/binary"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"
)

// random is the source of every choice. Seeded alike it chooses alike, as long
// as it is asked in the same order: nothing here ranges over a map.
type random struct{ *rand.Rand }

func newRandom(seed int64) random {
	const stream = 0x6368616972736964 // any constant; "chairsid"
	return random{rand.New(rand.NewPCG(uint64(seed), stream))}
}

// chance is true in so many of a hundred cases.
func (r random) chance(percent float64) bool { return r.Float64()*100 < percent }

// between is low, high, or anything in between.
func (r random) between(low, high int) int {
	if high <= low {
		return low
	}
	return low + r.IntN(high-low+1)
}

// around is near zero more often than far from it, and at most reach away.
func (r random) around(reach int) int {
	return (r.between(-reach, reach) + r.between(-reach, reach)) / 2
}

// timeBetween is an instant from early on, before late.
func (r random) timeBetween(early, late time.Time) time.Time {
	span := late.Sub(early).Milliseconds()
	if span <= 0 {
		return early
	}
	return early.Add(time.Duration(r.Int64N(span)) * time.Millisecond)
}

// minutesAfter is between low and high minutes after t, with odd milliseconds.
func (r random) minutesAfter(t time.Time, low, high int) time.Time {
	return r.timeBetween(t.Add(time.Duration(low)*time.Minute), t.Add(time.Duration(high)*time.Minute))
}

// pick is one of the list.
func pick[T any](r random, list []T) T { return list[r.IntN(len(list))] }

// weighted is the index of one of the weights, the heavier the likelier.
func (r random) weighted(weights ...int) int {
	sum := 0
	for _, w := range weights {
		sum += w
	}
	n := r.IntN(sum)
	for i, w := range weights {
		if n -= w; n < 0 {
			return i
		}
	}
	return len(weights) - 1
}

// optional is the value in so many of a hundred cases, else nil.
func optional[T any](r random, percent float64, value T) *T {
	if r.chance(percent) {
		return &value
	}
	return nil
}

// rarity counts cases, of which some are special: a few among the first, so
// that small practices have one of everything too, and then one in many.
type rarity struct{ cases int }

func (r *rarity) strikes(early, late int) bool {
	r.cases++
	if r.cases <= 4*early {
		return r.cases%early == 0
	}
	return r.cases%late == 0
}

// ids gives out the identifiers of rows.
type ids struct {
	random random
	last   map[string]int64 // per table with integer ids
	epoch  uint64           // milliseconds since 1970 of the first uuid
	count  uint64           // uuids given out
}

// newIDs gives out the integer ids that follow the last ones.
func newIDs(r random, c *calendar, last map[string]int64) *ids {
	return &ids{random: r, last: last, epoch: uint64(c.at(0, 0).UnixMilli())}
}

// number is the next integer id of a table.
func (i *ids) number(table string) int64 {
	i.last[table]++
	return i.last[table]
}

// uuid is a version 7 identifier whose time advances a little with each one,
// so that rows are stored in the order in which they are made.
func (i *ids) uuid() uuid.UUID {
	var id uuid.UUID
	binary.BigEndian.PutUint64(id[:8], (i.epoch+i.count>>12)<<16|0x7000|i.count&0xfff)
	binary.BigEndian.PutUint64(id[8:], 0x8000000000000000|i.random.Uint64()>>2)
	i.count++
	return id
}
