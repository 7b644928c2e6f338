package seed

import (
	"chairside/ent"
	"chairside/schema"
)

const (
	month     = 30 // days, roughly
	adultCare = 16 // years from which patients have the check-ups and findings of adults
)

// generateHistory generates a patient's history: check-ups with their treatment, hygiene
// visits, emergencies and purchases.
func (g *generator) generateHistory(p *person) {
	seen := g.checkUps(p)
	hygiene := g.hygieneVisits(p)
	g.emergencies(p)
	if g.chance(3) && p.joined < g.today-5 {
		if day := g.workday(g.between(max(p.joined+1, 0), min(p.leaves, g.today)-1)); day < g.today {
			g.invoice(p, g.at(day, g.between(9*hour, 17*hour)), p.dentist.site, g.sundryLines(70, p.on(g.date(day))))
		}
	}
	row := &p.row
	row.DentistRecallDate = new(g.date(seen + month**row.DentistRecallInterval))
	if row.HygienistRecallInterval != nil {
		row.HygienistRecallDate = new(g.date(hygiene + month**row.HygienistRecallInterval))
	}
}

// checkUps generates the check-ups and returns the day of the last one that took place, which may
// have been before the diary begins.
func (g *generator) checkUps(p *person) (last int) {
	interval := month * *p.row.DentistRecallInterval
	day := g.firstVisit(p, interval)
	last = day - interval
	first := p.joined >= 0
	for day < min(p.leaves, g.end) {
		if !first && !g.books(day) {
			break
		}
		v := g.checkUp(p, day, first)
		if v == nil { // fully booked: the patient tries again later
			day += longestWait
			continue
		}
		if v.state != schema.Completed {
			break
		}
		first, last = false, v.day
		day = v.day + interval + g.around(8)
	}
	return last
}

// books reports whether a patient has already booked the visit that is due on a day: not all visits
// far ahead are.
func (g *generator) books(day int) bool {
	const soon, percentPerDay, most = 21, 1.2, 60.0
	return day <= g.today+soon || !g.chance(min(most, percentPerDay*float64(day-g.today-soon)))
}

// firstVisit returns the day of the first visit within the diary: soon after joining, or
// when the next one is due. More than the usual number are due in the first month, which would
// otherwise be half empty: the treatments of earlier check-ups are missing.
func (g *generator) firstVisit(p *person, interval int) int {
	const early = 5 // percent
	if p.joined >= 0 {
		return p.joined + g.between(2, 20)
	}
	turn := g.IntN(interval)
	if g.chance(early) {
		turn = g.IntN(month)
	}
	if g.chance(g.focus) {
		turn = ((g.today+g.around(9))%interval + interval) % interval
	}
	return turn
}

// checkUp generates a visit to the dentist and the treatment that follows.
func (g *generator) checkUp(p *person, day int, first bool) *visit {
	w := visitRequest{by: g.dentist(p, day), day: day, reason: reasonExam, description: examination, since: p.row.CreatedAt}
	exam, polish := examination, false
	age := p.on(g.date(day)).age
	switch {
	case first:
		exam, w.reason = newPatientExam, firstVisit
	case age < adultCare && g.chance(50):
		w.reason = childCheckUp
	case age > 20 && g.chance(22):
		polish, w.reason = true, reasonExamAndScale
	}
	w.minutes = g.catalogue.minutes(p.kind, exam)
	if polish {
		w.minutes += g.catalogue.minutes(p.kind, scaleAndPolish)
	}
	v := g.visit(p, w)
	if v == nil || v.state != schema.Completed {
		return v
	}
	c := g.beginCourse(p, v, p.kind, pickIf(first, "First course", "Check-up"))
	done := []*ent.TreatmentPlanItem{c.add(exam, v.by, nil, nil)}
	if polish {
		done = append(done, c.add(scaleAndPolish, v.by, nil, nil))
	}
	if c.suits(bitewings) && g.chance(22) {
		done = append(done, c.add(bitewings, v.by, nil, nil))
	}
	if age < adultCare && c.suits(fluoride) && g.chance(50) {
		done = append(done, c.add(fluoride, v.by, nil, nil))
	}
	needed := c.needs()
	c.perform(v, done...)
	c.treat(needed)
	c.finish()
	return v
}

// dentist returns the dentist whom a patient sees on a day, mostly their own.
func (g *generator) dentist(p *person, day int) *practitioner {
	const predecessor = 25 // percent of the visits, which is about their part of the two dentists' hours
	for _, d := range g.staff.left {
		if d.site == p.dentist.site && day < d.until && g.chance(predecessor) {
			return d
		}
	}
	if g.chance(5) {
		if other := pick(g.random, g.staff.dentists); other.site == p.dentist.site {
			return other
		}
	}
	return p.dentist
}

// hygieneVisits generates the hygiene visits and returns the day of the last one that took place, as
// checkUps does.
func (g *generator) hygieneVisits(p *person) (last int) {
	if p.row.HygienistRecallInterval == nil {
		return 0
	}
	interval := month * *p.row.HygienistRecallInterval
	first := g.firstVisit(p, interval) + 9
	last = first - interval
	for day := first; day < min(p.leaves, g.end); day += interval + g.around(8) {
		if !g.books(day) {
			break
		}
		if !treatmentAges[hygieneVisit].suits(p.on(g.date(day))) {
			continue
		}
		v := g.visit(p, visitRequest{by: p.hygienist, day: day, minutes: 30, reason: reasonScale, description: hygieneVisit, since: p.row.CreatedAt})
		if v == nil {
			continue
		}
		if v.state != schema.Completed {
			break
		}
		c := g.beginCourse(p, v, pickIf(p.kind.nhs(), planPrivate, p.kind), "Hygiene")
		c.perform(v, c.add(hygieneVisit, v.by, nil, nil))
		c.finish()
		last, day = v.day, v.day
	}
	return last
}

const (
	walkIns          = 5 // emergencies on the last day of full diaries
	emergencyMinutes = 20
)

// emergencies generates toothaches and lost fillings.
func (g *generator) emergencies(p *person) {
	from := max(p.joined+3, 0)
	for day := from + g.IntN(9*365); day < min(p.leaves, g.today); day += 30 + g.IntN(9*365) {
		g.emergency(p, visitRequest{by: p.dentist, day: day})
	}
	if g.walkIns > 0 && p.leaves == g.end && p.joined < g.today-3 {
		g.walkIns--
		preferred := g.rush - 50 + 20*g.walkIns
		if by := g.onDuty(g.today, preferred); by != nil {
			g.emergency(p, visitRequest{by: by, day: g.today, preferred: preferred})
		}
	}
}

// onDuty returns a dentist who is free at a minute of a day, in turn, or else one who
// works on that day.
func (g *generator) onDuty(day, minute int) (working *practitioner) {
	weekday := g.weekday(day)
	for i := range g.staff.dentists {
		d := g.staff.dentists[(g.walkIns+i)%len(g.staff.dentists)]
		if !g.works(d, day) {
			continue
		}
		if start, ok := d.diary.free(day, weekday, minute, emergencyMinutes); ok && start == minute {
			return d
		}
		working = d
	}
	return working
}

// emergency generates an urgent visit, with its treatment if it took place. w has the
// practitioner and the day.
func (g *generator) emergency(p *person, w visitRequest) {
	w.reason, w.minutes, w.description, w.since, w.urgent = reasonEmergency, emergencyMinutes, emergencyExam, p.row.CreatedAt, true
	var v *visit
	if g.squeezed.next(5, 32) {
		v = g.doubleBook(p, w)
	}
	if v == nil {
		v = g.visit(p, w)
	}
	if v == nil || v.state != schema.Completed {
		return
	}
	c := g.beginCourse(p, v, p.kind, "Emergency")
	done := []*ent.TreatmentPlanItem{c.add(emergencyExam, v.by, nil, nil)}
	switch {
	case c.suits(temporaryFill) && g.chance(35):
		done = append(done, c.add(temporaryFill, v.by, c.teeth(1, 4, 7), nil))
	case c.suits(recement) && g.chance(15):
		done = append(done, c.add(recement, v.by, c.teeth(1, 4, 7), nil))
	}
	c.perform(v, done...)
	c.finish()
}
