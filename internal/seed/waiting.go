package seed

import (
	"time"

	"chairside/ent"
	entwaiting "chairside/ent/waitinglist"
)

// waiting chooses the entries of the waiting list.
type waiting struct {
	random  random
	written rarity
}

// writeWaiting puts some patients on the waiting list: some who have nothing booked, and some
// who were given an appointment since.
func (g *generator) writeWaiting(p *person) {
	r := g.waiting.random
	if !p.row.Active || !g.waiting.written.next(3, 12) {
		return
	}
	const wait = month * 24 * time.Hour
	row := ent.WaitingList{
		ID: g.number(entwaiting.Table), PracticeID: g.practice, PatientID: p.row.ID,
		PractitionerID: optional(r, 60, p.dentist.id), AppointmentReason: new(pick(r, []string{reasonExam, reasonContinuing, reasonReview})),
		Duration: new(pick(r, []int{15, 20, 30, 45})), Mornings: true, Afternoons: r.chance(70),
		Notes: optional(r, 30, "Can come at short notice"), Priority: r.weighted(60, 20, 10, 10),
	}
	if r.chance(40) {
		row.Days = []string{"Monday", "Wednesday", "Friday"}[r.IntN(2):]
	}
	if next := p.nextVisit(g.now); next != nil {
		row.CreatedAt = r.timeBetween(later(p.row.CreatedAt, next.booked.Add(-wait)), next.booked)
		row.AppointmentID, row.UpdatedAt = &next.id, next.booked
		g.out.waiting = append(g.out.waiting, row)
		return
	}
	row.CreatedAt = r.timeBetween(later(p.row.CreatedAt, g.now.Add(-wait)), g.now)
	row.UpdatedAt = row.CreatedAt
	if r.chance(60) {
		row.FromDate, row.ToDate = new(g.date(g.today+r.between(0, 10))), new(g.date(g.today+r.between(20, 90)))
	}
	if r.chance(15) {
		row.UpdatedAt = r.timeBetween(row.CreatedAt, g.now)
		row.RemovedAt = &row.UpdatedAt
	}
	g.out.waiting = append(g.out.waiting, row)
}

// nextVisit returns the patient's first visit after now that is neither cancelled nor missed, or
// nil.
func (p *person) nextVisit(now time.Time) (next *attendance) {
	for i := range p.visits {
		if v := &p.visits[i]; v.begin.After(now) && v.state.Blocks() && (next == nil || v.begin.Before(next.begin)) {
			next = v
		}
	}
	return next
}

// later returns the later of two times.
func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
