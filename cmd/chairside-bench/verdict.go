package main

import "fmt"

// verdict is a target with its measurement.
type verdict struct {
	What   string  `json:"what"`
	Wanted string  `json:"wanted"`
	Is     float64 `json:"is"`
	Met    bool    `json:"met"`
}

func atLeast(what string, wanted, is float64) verdict {
	return verdict{what, fmt.Sprintf("≥ %g", wanted), is, is >= wanted}
}

func atMost(what string, wanted, is float64) verdict {
	return verdict{what, fmt.Sprintf("≤ %g", wanted), is, is <= wanted}
}

const (
	searchFactor   = 3   // p99 of a search to that of W1
	keptAfterFresh = 0.8 // of W2's rate
	residentTarget = 80  // MB
)

// judge compares the measurements with the targets, and skips targets without a
// measurement.
func (r *result) judge() {
	for _, w := range workloads {
		if m := r.find(judged, w.ID); m != nil && w.Target > 0 {
			r.Verdicts = append(r.Verdicts, atLeast(w.ID+" to the hand-written server, "+judged, w.Target, m.Ratio.Median))
		}
	}
	for _, w := range workloads {
		if m := r.find(judged, w.ID); m != nil && m.EqualRatio != nil && w.EqualTarget > 0 {
			r.Verdicts = append(r.Verdicts, atLeast(w.ID+" to the hand-written server with equal promises, "+judged, w.EqualTarget, m.EqualRatio.Median))
		}
	}
	r.judgeSearch()
	for _, w := range workloads {
		small, large := r.find(smallest, w.ID), r.find(largest, w.ID)
		if w.Growth == 0 || small == nil || large == nil {
			continue
		}
		r.Verdicts = append(r.Verdicts, atLeast(fmt.Sprintf("%s at %s to %s", w.ID, largest, smallest), w.Growth, ratioOf(*large.of(chairside), *small.of(chairside)).Median))
	}
	for _, w := range r.Workloads {
		if w.SQLiteRatio != nil {
			r.Verdicts = append(r.Verdicts, atLeast(fmt.Sprintf("%s on SQLite to PostgreSQL, %s", w.ID, w.Size), 1, w.SQLiteRatio.Median))
		}
	}
	if f := r.Fresh; f != nil {
		r.Verdicts = append(r.Verdicts,
			atLeast(fmt.Sprintf("W2 after %d inserts without autovacuum, to before, %s", f.Inserted, f.Size), keptAfterFresh, f.W2.Median),
			atLeast(fmt.Sprintf("W8 after %d inserts, to the hand-written server, %s", f.InsertedForW8, f.Size), byID("W8").Target, f.W8.Median))
		r.Verdicts = append(r.Verdicts, verdict{"W8 keeps its plan, " + f.Size, "1", map[bool]float64{true: 1}[f.SamePlan], f.SamePlan})
	}
	for _, z := range r.Sizes {
		for _, m := range z.Memory {
			if m.Server == chairside && z.Name == judged {
				r.Verdicts = append(r.Verdicts, atMost("resident MB at the end, "+z.Name, residentTarget, float64(m.Resident)/1e6))
			}
		}
	}
}

// judgeSearch compares the p99 of searches with that of reading one appointment.
func (r *result) judgeSearch() {
	one := r.find(judged, "W1")
	if one == nil {
		return
	}
	for _, id := range []string{"W9a", "W9b", "W9c"} {
		if m := r.find(judged, id); m != nil {
			r.Verdicts = append(r.Verdicts, atMost("p99 of "+id+" to that of W1, "+judged, searchFactor, m.of(chairside).Median.P99/one.of(chairside).Median.P99))
		}
	}
}
