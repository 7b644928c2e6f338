package seed

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"chairside/ent"
	entvisit "chairside/ent/treatmentappointment"
	"chairside/schema"
)

// Persona is a patient of the demo who can be looked up by name, with a story to follow.
type Persona struct{ Name, Story string }

// Personas are the first patients of the main practice, unless it has too few patients for its
// staff.
var Personas = []Persona{
	{"Norman Ashworth", "missed three appointments and has booked a fourth"},
	{"Derek Fairclough", "owes for a crown, in spite of two reminders"},
	{"Priya Solanki", "is halfway through a root canal treatment, with a crown to come"},
	{"Eleanor Whitworth", "is nervous: see the medical alert and the pinned note"},
	{"Helen Marsden", "pays for her family of four, who come together"},
}

// persona is a patient with a story.
type persona struct {
	first, last string
	title       schema.Title
	female      bool
	age         int // years
	kind        planKind
	dentist     int // in the order of employment
	live        func(g *generator, p *person)
}

// personas returns the patients of Personas, and Helen Marsden's family after her.
func personas() []persona {
	return []persona{
		{"Norman", "Ashworth", "Mr", false, 34, planNHS, 0, (*generator).missesAppointments},
		{"Derek", "Fairclough", "Mr", false, 58, planPrivate, 1, (*generator).owes},
		{"Priya", "Solanki", "Ms", true, 45, planNHS, 0, (*generator).isHalfwayThrough},
		{"Eleanor", "Whitworth", "Mrs", true, 63, planNHS, 0, (*generator).isNervous},
		{"Helen", "Marsden", "Mrs", true, 41, planNHS, 0, (*generator).comesWithFamily},
		{"Paul", "Marsden", "Mr", false, 43, planNHS, 0, (*generator).comesWithFamily},
		{"Grace", "Marsden", "Miss", true, 11, planExempt, 0, (*generator).comesWithFamily},
		{"Alfie", "Marsden", "Master", false, 8, planExempt, 0, (*generator).comesWithFamily},
	}
}

// populatePersonas generates the patients with a story. It comes before all others, so that their
// times are free.
func (g *generator) populatePersonas() {
	if g.slug != DemoSlug || g.size() < 0.5 {
		return
	}
	var family member // the last one's household
	for _, who := range personas() {
		if family.last.text != who.last {
			family = g.home(who.last)
		}
		m := family
		m.female, m.first = who.female, name{who.first, plain(who.first)}
		m.born = g.date(g.today - who.age*365 - 100 - len(who.first))
		p := g.register(m)
		p.kind, p.dentist, p.leaves = who.kind, g.staff.dentists[who.dentist], g.end
		p.hygienist = nil
		row := &p.row
		row.Title, row.Active = who.title, true
		row.PaymentPlanID, row.DentistID, row.SiteID = g.catalogue.plans[who.kind], &p.dentist.id, p.dentist.site.id
		row.HygienistID, row.HygienistRecallInterval = nil, nil
		p.pregnant, row.MedicalAlert, row.MedicalAlertText = false, false, sealed(nil)
		row.DentistRecallInterval = new(6)
		g.openAccount(p)
		p.ledger.opening = 0
		who.live(g, p)
		g.write(p)
		g.remaining--
	}
}

// home returns a member of a new household, who has been a patient for years.
func (g *generator) home(last string) member {
	home := g.address()
	return member{culture: &cultures()[0], last: name{last, plain(last)}, home: home, phone: g.landline(home.town), family: new(g.familyID(last)), joined: -3 * 365}
}

// familyID returns the id of a household.
func (g *generator) familyID(last string) uuid.UUID {
	return uuid.NewSHA1(g.practice, []byte(last))
}

// attend books an appointment on a day or soon after. It does not fail, unlike visit.
func (g *generator) attend(p *person, w visitRequest) *visit {
	w.since = p.row.CreatedAt
	v := g.find(p, w)
	if v == nil {
		return nil
	}
	g.reserve(v)
	v.state = g.stateOf(v)
	g.writeAppointment(p, w, v)
	return v
}

// examine is a check-up on a day or soon after, with its course of treatment if it took place.
func (g *generator) examine(p *person, day, preferred int) (*visit, *course) {
	v := g.attend(p, visitRequest{by: p.dentist, day: day, preferred: preferred, minutes: g.catalogue.minutes(p.kind, examination), reason: reasonExam, description: examination})
	p.row.DentistRecallDate = new(g.date(day + 6*month))
	if v == nil || v.state != schema.Completed {
		return v, nil
	}
	c := g.beginCourse(p, v, p.kind, "Check-up")
	c.perform(v, c.add(examination, v.by, nil, nil))
	return v, c
}

func (g *generator) missesAppointments(p *person) {
	if _, c := g.examine(p, g.today-200, 9*hour+30); c != nil {
		c.finish()
	}
	for _, ago := range []int{75, 40, 9} {
		w := visitRequest{by: p.dentist, day: g.today - ago, minutes: 20, reason: reasonExam, since: p.row.CreatedAt}
		if v := g.find(p, w); v != nil {
			v.state = schema.DidNotAttend
			g.reserveUnused(v)
			g.writeAppointment(p, w, v)
		}
	}
	g.attend(p, visitRequest{by: p.dentist, day: g.today + 6, preferred: 16 * hour, minutes: 20, reason: reasonExam})
	g.noteToStaff(p, 8, "Missed three appointments in a row. Ring the evening before; no more bookings after another miss.")
}

func (g *generator) owes(p *person) {
	p.owes = true
	v, c := g.examine(p, g.today-110, 10*hour)
	if c == nil {
		return
	}
	crown := c.add(crownZirconia, v.by, teethOf(26), nil)
	c.stage(crown, v.day+12, v.day+26)
	c.finish()
	g.noteToStaff(p, 14, "Second reminder sent for the crown. Asked to pay in instalments; call back at the end of the month.")
}

func (g *generator) isHalfwayThrough(p *person) {
	v, c := g.examine(p, g.today-21, 11*hour)
	if c == nil {
		return
	}
	root := c.add(rootCanalMolar, v.by, teethOf(46), nil)
	c.add(crownCeramic, v.by, teethOf(46), nil)
	c.stage(root, g.today-5, g.today+7)
	c.finish()
	g.noteToStaff(p, 4, "Root canal treatment of 46 begun. Wants the crown before her holiday.")
}

func (g *generator) isNervous(p *person) {
	p.row.MedicalAlert, p.row.MedicalAlertText = true, sealed(new("Very nervous of injections. Takes propranolol: check blood pressure before treatment"))
	if v, c := g.examine(p, g.today-60, 9*hour); c != nil {
		filling := c.add(compositeFront, v.by, teethOf(12), []string{"M"})
		c.stage(filling, v.day+18)
		c.finish()
	}
	g.attend(p, visitRequest{by: p.dentist, day: g.today + 4, preferred: 9 * hour, minutes: 30, reason: reasonReview})
	g.noteToStaff(p, 60, "First appointment of the day, so that she does not wait. Her sister may come in with her.")
}

func (g *generator) comesWithFamily(p *person) {
	if _, c := g.examine(p, g.today-150, 15*hour+30); c != nil {
		c.finish()
	}
	g.attend(p, visitRequest{by: p.dentist, day: g.today + 11, preferred: 15*hour + 30, minutes: 10, reason: pickIf(p.age < adultCare, childCheckUp, reasonExam)})
	if p.row.FirstName == "Helen" {
		g.noteToStaff(p, 150, "Pays for Paul, Grace and Alfie too. Book all four one after another.")
	}
}

// stage carries a treatment out in visits from the given days on, as far as they are past.
func (c *course) stage(item *ent.TreatmentPlanItem, on ...int) {
	for i, day := range on {
		v := c.attend(c.patient, visitRequest{by: c.by, day: day, minutes: 40, reason: reasonContinuing, description: describe([]*ent.TreatmentPlanItem{item})})
		if v == nil {
			return
		}
		c.visits = append(c.visits, ent.TreatmentAppointment{
			ID: c.number(entvisit.Table), PracticeID: c.practice, CreatedAt: c.plan.CreatedAt, UpdatedAt: c.plan.CreatedAt,
			TreatmentPlanID: c.plan.ID, PatientID: c.patient.row.ID, Position: len(c.visits) + 1,
			Notes: new(fmt.Sprintf("%s, visit %d", item.Nomenclature, i+1)), AppointmentID: &v.id,
		})
		if v.state == schema.Completed && i == len(on)-1 {
			c.perform(v, item)
		}
	}
}

// noteToStaff pins a note of reception's, written some days ago.
func (g *generator) noteToStaff(p *person, ago int, body string) {
	at := g.at(g.today-ago, 17*hour).Add(20 * time.Minute)
	g.writeNote(p, ent.Note{CreatedAt: at, UpdatedAt: at, UserID: g.staff.reception[0], Pinned: true, Kind: schema.NoteAdministrative}, body)
}
