package seed

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"
)

// random makes every choice. The same seed and the same order of calls give the same
// choices, so nothing here may range over a map.
type random struct{ *rand.Rand }

func newRandom(seed int64) random {
	const stream = 0x6368616972736964 // any constant; "chairsid"
	return random{rand.New(rand.NewPCG(uint64(seed), stream))}
}

// stream returns random choices of its own for one kind of a practice's rows. Adding such a
// kind, or changing it, leaves all other rows as they are.
func stream(practice uuid.UUID, kind string) random {
	h := fnv.New64a()
	h.Write([]byte(kind))
	return random{rand.New(rand.NewPCG(binary.BigEndian.Uint64(practice[8:]), h.Sum64()))}
}

// chance returns true in percent of the cases.
func (r random) chance(percent float64) bool { return r.Float64()*100 < percent }

// between returns a number from low to high.
func (r random) between(low, high int) int {
	if high <= low {
		return low
	}
	return low + r.IntN(high-low+1)
}

// around returns a number at most reach from zero, more often near it.
func (r random) around(reach int) int {
	return (r.between(-reach, reach) + r.between(-reach, reach)) / 2
}

// timeBetween returns an instant from early to before late.
func (r random) timeBetween(early, late time.Time) time.Time {
	span := late.Sub(early).Milliseconds()
	if span <= 0 {
		return early
	}
	return early.Add(time.Duration(r.Int64N(span)) * time.Millisecond)
}

// noise returns a number from 0 to below 1 that is always the same for a practitioner's day.
func noise(practitioner int64, day int) float64 {
	h := fnv.New32a()
	h.Write(binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, uint64(practitioner)), uint64(day)))
	return float64(h.Sum32()) / (1 << 32)
}

// minutesAfter returns an instant low to high minutes after t, with random milliseconds.
func (r random) minutesAfter(t time.Time, low, high int) time.Time {
	return r.timeBetween(t.Add(time.Duration(low)*time.Minute), t.Add(time.Duration(high)*time.Minute))
}

// pick returns an element of the list.
func pick[T any](r random, list []T) T { return list[r.IntN(len(list))] }

// weighted returns an index, in proportion to its weight.
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

// optional returns the value in percent of the cases, and nil otherwise.
func optional[T any](r random, percent float64, value T) *T {
	if r.chance(percent) {
		return &value
	}
	return nil
}

// rarity selects special cases: a few among the first, so that small practices also have
// some, and then one in many.
type rarity struct{ cases int }

// next reports whether the next case is special: every early-th of the first 4*early
// cases, and then every late-th.
func (r *rarity) next(early, late int) bool {
	r.cases++
	if r.cases <= 4*early {
		return r.cases%early == 0
	}
	return r.cases%late == 0
}

// ids generates row ids.
type ids struct {
	seed  int64
	last  map[string]int64  // per table with integer ids
	count map[string]uint64 // uuids generated, per table
}

// newIDs returns ids that follow the last integer ids.
func newIDs(seed int64, last map[string]int64) *ids {
	return &ids{seed: seed, last: last, count: map[string]uint64{}}
}

// number returns the next integer id of a table.
func (i *ids) number(table string) int64 {
	i.last[table]++
	return i.last[table]
}

// uuidEpoch is the time in the first uuid of each table: milliseconds since 1970, the start
// of 2020.
const uuidEpoch = 1_577_836_800_000

// uuid returns the next version 7 id of a table. Its time advances with each one, so that rows
// are stored in creation order. The n-th id of a table depends on the seed alone, not on the day
// and the size of the demo: the examples in the documentation name the first ones.
func (i *ids) uuid(table string) uuid.UUID {
	n := i.count[table]
	i.count[table]++
	h := fnv.New64a()
	fmt.Fprint(h, i.seed, table, n)
	var id uuid.UUID
	binary.BigEndian.PutUint64(id[:8], (uuidEpoch+n>>12)<<16|0x7000|n&0xfff)
	binary.BigEndian.PutUint64(id[8:], 0x8000000000000000|h.Sum64()>>2)
	return id
}
