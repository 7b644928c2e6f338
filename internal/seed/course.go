package seed

import (
	"strconv"
	"strings"
	"time"

	"chairside/ent"
	entvisit "chairside/ent/treatmentappointment"
	entplan "chairside/ent/treatmentplan"
	entitem "chairside/ent/treatmentplanitem"
	"chairside/internal/civil"
	"chairside/internal/decimal"
	"chairside/schema"
)

// course is a course of treatment in progress.
type course struct {
	*generator
	patient *person
	who     who // the patient on the first day
	kind    planKind
	plan    ent.TreatmentPlan
	by      *practitioner
	items   []*ent.TreatmentPlanItem
	kinds   []planKind // of the items
	visits  []ent.TreatmentAppointment
	year    int             // in which the contract year of its first day begins, which has its prices
	band    string          // the highest of the NHS items
	treated int             // teeth to be filled or taken out by the NHS
	charged decimal.Decimal // by the NHS items
	ortho   bool
	last    time.Time // last treatment
}

// beginCourse starts a course of treatment at a visit.
func (g *generator) beginCourse(p *person, v *visit, kind planKind, nickname string) *course {
	return &course{
		generator: g, patient: p, who: p.on(g.date(v.day)), kind: kind, by: v.by, last: v.begin, year: contractYear(civil.Of(v.begin.In(g.zone))).Year,
		plan: ent.TreatmentPlan{
			ID: g.number(entplan.Table), PracticeID: g.practice, CreatedAt: v.begin,
			Nickname: &nickname, PatientID: p.row.ID, PractitionerID: v.by.id, PaymentPlanID: g.catalogue.plans[kind],
			StartDate: new(civil.Of(v.begin.In(g.zone))),
		},
	}
}

// add plans a treatment. An NHS item costs what it adds to the charge for the course,
// which its highest band determines; treatments without a band are private.
func (c *course) add(name string, by *practitioner, teeth, surfaces []string) *ent.TreatmentPlanItem {
	t := c.catalogue.treatments[name]
	kind := c.kind
	if kind.nhs() && t.band == "" {
		kind = planPrivate
	}
	count := len(teeth)
	if t.per == surface {
		count = len(surfaces)
	}
	price, minutes := c.catalogue.price(kind, t, count, c.year)
	item := &ent.TreatmentPlanItem{
		ID: c.number(entitem.Table), PracticeID: c.practice, CreatedAt: c.plan.CreatedAt, UpdatedAt: c.plan.CreatedAt,
		TreatmentPlanID: c.plan.ID, TreatmentID: t.id, PatientID: c.patient.row.ID, PractitionerID: by.id, PaymentPlanID: c.catalogue.plans[kind],
		Teeth: teeth, Surfaces: surfaces, Price: price, Duration: minutes, Nomenclature: t.name,
	}
	if kind.nhs() {
		item.UdaBand = &t.band
		c.band = higher(c.band, t.band)
		if t.band == "2a" && t.per != mouth {
			if c.treated += len(teeth); c.treated > 2 {
				c.band = higher(c.band, bandTwoB)
			}
		}
		item.Price = 0
		if kind == planNHS {
			item.Price = max(0, chargeOf(c.band, c.year)-c.charged)
			c.charged += item.Price
		}
	}
	c.items, c.kinds = append(c.items, item), append(c.kinds, kind)
	return item
}

// perform completes and invoices items at the end of a visit.
func (c *course) perform(v *visit, items ...*ent.TreatmentPlanItem) {
	var lines []line
	for _, item := range items {
		item.Completed, item.CompletedAt, item.UpdatedAt = true, &v.finish, v.finish
		item.PractitionerID = v.by.id
		c.answer(c.questions.treatment, v.finish, c.patient.row.ID, c.who, item)
		if item.Price > 0 {
			nhs := item.UdaBand != nil
			lines = append(lines, line{name: item.Nomenclature, quantity: 1, price: item.Price, nhs: nhs, by: &v.by.id, item: item})
		}
	}
	v.done = append(v.done, items...)
	c.last = v.finish
	c.patient.touch(v.finish)
	lines = append(lines, c.sundryLines(7, c.who)...)
	c.invoice(c.patient, c.notAfterNow(c.minutesAfter(v.finish, 1, 6)), v.place.site, lines)
}

// describe names a visit's treatments.
func describe(items []*ent.TreatmentPlanItem) string {
	var words []string
	for _, item := range items {
		name := item.Nomenclature
		if len(item.Teeth) > 0 {
			name += " " + strings.Join(item.Teeth, ", ")
		}
		words = append(words, name)
	}
	return strings.Join(words, "; ")
}

// finish writes the course, and its NHS claim if it is complete.
func (c *course) finish() {
	plan := &c.plan
	plan.UpdatedAt, plan.Completed = c.last, true
	for i, item := range c.items {
		nhs := c.kinds[i].nhs()
		if !nhs {
			plan.PrivateTreatmentValue += item.Price
		}
		switch {
		case item.Completed:
		case nhs:
			plan.Completed = false
			c.patient.ledger.plannedNHS += item.Price
		default:
			plan.Completed = false
			c.patient.ledger.plannedPrivate += item.Price
		}
		c.out.treatmentItems = append(c.out.treatmentItems, *item)
	}
	plan.NhsUdaValue = units[c.band]
	if plan.Completed {
		plan.CompletedAt, plan.EndDate = &c.last, new(civil.Of(c.last.In(c.zone)))
	}
	c.out.treatmentPlans = append(c.out.treatmentPlans, *plan)
	c.out.planVisits = append(c.out.planVisits, c.visits...)
	if plan.Completed && c.band != "" {
		c.claim()
	}
	if due := plan.PrivateTreatmentValue; !plan.Completed && due > 150_00 && c.chance(50) {
		c.deposit(c.patient, c.notAfterNow(c.minutesAfter(c.last, 5, 90)), c.by.site, due/4)
	}
}

// procedure is treatment that a check-up found necessary.
type procedure struct {
	items  []*ent.TreatmentPlanItem
	by     *practitioner
	visits int // completed at the last one; 0 means 1
	reason string
	review bool // followed by a review
}

// minutes returns the length of each visit.
func (p procedure) minutes() (n int) {
	for _, item := range p.items {
		n += item.Duration
	}
	const shortest, longest = 10, 90
	return min(max(shortest, (n/max(1, p.visits)+4)/slotMinutes*slotMinutes), longest)
}

// needs plans a check-up's findings.
func (c *course) needs() []procedure {
	if c.who.age < adultCare {
		return c.childNeeds()
	}
	age := c.who.age
	var list []procedure
	plan := func(p procedure) { list = append(list, p) }

	if by := c.patient.hygienist; by != nil && c.chance(24) {
		plan(procedure{by: by, reason: reasonScale, items: c.adds(by, hygieneVisit)})
	}
	if c.chance(52) {
		by, material := c.assistant(), c.material()
		p := procedure{by: by, reason: reasonContinuing}
		for range c.weighted(0, 62, 26, 12) {
			if material == compositeFront {
				p.items = append(p.items, c.add(material, by, c.teeth(1, 1, 3), c.surfacesOf(frontSurfaces)))
			} else {
				p.items = append(p.items, c.add(material, by, c.teeth(1, 4, 8), c.surfacesOf(backSurfaces)))
			}
		}
		plan(p)
	}
	if age > 30 && c.chance(7) {
		by := c.assistant()
		plan(procedure{by: by, reason: reasonContinuing, items: c.adds(by, rootPlaning), review: true})
	}
	if c.chance(7) {
		position := c.between(1, 7)
		plan(procedure{by: c.by, reason: reasonContinuing, items: c.adds(c.by, pickIf(position > 5, rootCanalMolar, rootCanal), c.teeth(1, position, position)...), visits: 2})
	}
	if age > 25 && c.chance(11) {
		crown := pickIf(c.chance(pickIf(c.kind.nhs(), 75.0, 40)), crownCeramic, crownZirconia)
		plan(procedure{by: c.by, reason: reasonContinuing, items: c.adds(c.by, crown, c.teeth(1, 4, 7)...), visits: 2})
	}
	if c.chance(9) {
		plan(procedure{by: c.by, reason: reasonContinuing, items: c.adds(c.by, extraction, c.teeth(c.between(1, 2), 4, 8)...), review: c.chance(60)})
	}
	if age > 55 && c.chance(4) {
		plan(procedure{by: c.by, reason: reasonContinuing, items: c.adds(c.by, pickIf(age > 75, fullDenture, partialDenture)), visits: 3})
	}
	if age < 60 && c.suits(whitening) && !c.patient.pregnant && c.chance(2) {
		plan(procedure{by: c.by, reason: whiteningReview, items: c.adds(c.by, whitening)})
	}
	if age > 28 && c.chance(1.2) {
		plan(procedure{by: c.by, reason: implantConsultation, items: c.adds(c.by, implant, c.teeth(1, 4, 7)...), visits: 2})
	}
	if c.suits(nightGuard) && c.chance(1.5) {
		plan(procedure{by: c.by, reason: reasonOther, items: c.adds(c.by, nightGuard)})
	}
	return list
}

// material chooses the filling of an adult's tooth.
func (c *course) material() string {
	material := pick(c.random, []string{compositeFront, compositeBack, amalgam})
	if material == compositeBack && c.kind.nhs() && c.chance(60) {
		material = amalgam
	}
	if material == amalgam && c.patient.pregnant {
		material = glassIonomer
	}
	return material
}

// childNeeds plans a child's treatment: sealants, fillings and orthodontics.
func (c *course) childNeeds() (list []procedure) {
	if by := c.assistant(); c.suits(fissureSealant) && c.chance(18) {
		list = append(list, procedure{by: by, reason: reasonContinuing, items: c.adds(by, fissureSealant, teethOf(16, 26, 36, 46)[:c.between(1, 4)]...)})
	}
	if by := c.assistant(); c.suits(glassIonomer) && c.chance(10) {
		const firstMolar = 6
		list = append(list, procedure{by: by, reason: reasonContinuing, items: []*ent.TreatmentPlanItem{c.add(glassIonomer, by, c.teeth(1, firstMolar, firstMolar), c.surfacesOf(backSurfaces))}})
	}
	if c.by.orthodontist && c.suits(orthoAssessment) && c.chance(25) {
		c.ortho = true
		list = append(list, procedure{by: c.by, reason: reasonContinuing, items: c.adds(c.by, orthoAssessment)})
	}
	return list
}

// adds is add for a single treatment without surfaces.
func (c *course) adds(by *practitioner, name string, teeth ...string) []*ent.TreatmentPlanItem {
	return []*ent.TreatmentPlanItem{c.add(name, by, teeth, nil)}
}

// assistant returns the site's therapist, if any, for some simple treatments.
func (c *course) assistant() *practitioner {
	if t := c.by.site.therapist; t != nil && c.chance(85) {
		return t
	}
	return c.by
}

// teethOf returns teeth in FDI notation.
func teethOf(numbers ...int) (all []string) {
	for _, n := range numbers {
		all = append(all, strconv.Itoa(n))
	}
	return all
}

// The surfaces that fillings cover: mesial, distal, occlusal, incisal, buccal.
var (
	frontSurfaces = [][]string{{"M"}, {"D"}, {"B"}, {"M", "B"}, {"M", "I"}}
	backSurfaces  = [][]string{{"O"}, {"M", "O"}, {"D", "O"}, {"M", "O", "D"}, {"B"}}
)

// surfacesOf returns the surfaces of a filling.
func (c *course) surfacesOf(list [][]string) []string { return pick(c.random, list) }

// planVisits plans a visit for each that the procedures need. It makes no random choice, so that
// the rest of the data stays as it is.
func (c *course) planVisits(list []procedure) {
	for _, p := range list {
		for range max(1, p.visits) {
			c.visits = append(c.visits, ent.TreatmentAppointment{
				ID: c.number(entvisit.Table), PracticeID: c.practice, CreatedAt: c.plan.CreatedAt, UpdatedAt: c.plan.CreatedAt,
				TreatmentPlanID: c.plan.ID, PatientID: c.patient.row.ID, Position: len(c.visits) + 1, Notes: new(describe(p.items)), Bookable: true,
			})
		}
	}
}

// treat carries out the procedures, visit by visit, until one is in the future or the
// patient does not attend.
func (c *course) treat(list []procedure) {
	day := c.dayOf(c.last)
	c.planVisits(list)
	booked := 0
	for _, p := range list {
		for remaining := max(1, p.visits) - 1; remaining >= 0; remaining-- {
			if c.chance(6) {
				return
			}
			v := c.visit(c.patient, visitRequest{by: p.by, day: day + c.between(5, 21), minutes: p.minutes(), reason: p.reason, description: describe(p.items), since: c.notAfterNow(c.last)})
			if v != nil {
				planned := &c.visits[booked]
				planned.AppointmentID, planned.Bookable, planned.UpdatedAt = &v.id, false, c.notAfterNow(c.last)
				booked++
			}
			if v == nil || v.state != schema.Completed {
				return
			}
			day = v.day
			if remaining == 0 {
				c.perform(v, p.items...)
			}
		}
		if p.review {
			c.visit(c.patient, visitRequest{by: c.by, day: day + c.between(7, 14), minutes: 10, reason: reasonReview, description: "Healing well", since: c.notAfterNow(c.last)})
		}
	}
}
