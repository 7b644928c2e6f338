package seed

import (
	"chairside/internal/civil"
	"chairside/schema"
)

// audience says for whom something is sensible: the ages in whole years, both included, and the sex.
type audience struct {
	from, to  int
	womenOnly bool
}

const oldest = 120 // years

func ages(from, to int) audience  { return audience{from: from, to: to} }
func from(age int) audience       { return ages(age, oldest) }
func upTo(age int) audience       { return ages(0, age) }
func women(from, to int) audience { return audience{from: from, to: to, womenOnly: true} }

var everyone = ages(0, oldest)

// who is a patient on some day, as far as treatment depends on them.
type who struct {
	age    int // years
	female bool
}

// suits reports whether a patient belongs to the audience.
func (a audience) suits(w who) bool {
	return a.from <= w.age && w.age <= a.to && (w.female || !a.womenOnly)
}

// on returns the patient as of a date.
func (p *person) on(date civil.Date) who {
	return who{schema.Age(p.row.DateOfBirth, date), !p.row.Gender}
}

// phrase is a text about patients. Both fields are required: lists of phrases are written without field
// names, which does not compile if one is missing.
type phrase struct {
	text string
	of   audience
}

// pickFor chooses one of the phrases that suit a patient. It returns "" if none does.
func pickFor(r random, list []phrase, w who) string {
	chosen, _ := pickSuitable(r, list, func(p phrase) audience { return p.of }, w)
	return chosen.text
}

// pickSuitable chooses an element that suits a patient, and reports whether there is one.
func pickSuitable[T any](r random, list []T, of func(T) audience, w who) (chosen T, ok bool) {
	var suitable []T
	for _, x := range list {
		if of(x).suits(w) {
			suitable = append(suitable, x)
		}
	}
	if len(suitable) == 0 {
		return chosen, false
	}
	return pick(r, suitable), true
}

const pregnant = "Pregnant"

var medicalAlerts = []phrase{
	{"Penicillin allergy", everyone},
	{"Latex allergy", everyone},
	{"Asthma, carries an inhaler", from(4)},
	{"Epilepsy", from(4)},
	{"Type 1 diabetes", from(4)},
	{"Heart murmur; cardiologist advises no antibiotic cover", from(1)},
	{pregnant, women(18, 43)},
	{"High blood pressure; check before local anaesthetic", from(40)},
	{"Takes warfarin", from(50)},
	{"Angina, carries a GTN spray", from(50)},
	{"Pacemaker", from(55)},
	{"Heart valve replaced in 2014:\nask about cover", from(55)},
	{"Takes alendronic acid for osteoporosis", women(60, oldest)},
}

// treatmentAges says for whom each treatment of the catalogue is.
var treatmentAges = map[string]audience{
	examination: everyone, newPatientExam: everyone, emergencyExam: everyone,
	bitewings: from(5), "Panoramic radiograph": from(6), "Study models": from(8),
	orthoAssessment: ages(9, 17), "Clear aligner review": ages(13, 60), "Retainer": ages(11, 60),
	scaleAndPolish: from(16), hygieneVisit: from(16), rootPlaning: from(25), "Periodontal review": from(18),
	fluoride:       ages(3, 17),
	fissureSealant: ages(7, 15), // of the first molars, which erupt at six
	compositeFront: from(12), compositeBack: from(12), glassIonomer: from(3), temporaryFill: from(3),
	amalgam: from(15), // Regulation (EU) 2017/852, article 10 (2), which also protects pregnant women
	"Inlay": from(18), "Veneer": from(18), "Composite bonding": from(16),
	extraction: from(16), "Surgical extraction": from(17), implant: from(20), "Implant crown": from(20), "Bone graft": from(20),
	rootCanal: from(14), rootCanalMolar: from(14), "Apicectomy": from(18),
	crownCeramic: from(18), crownZirconia: from(18), recement: from(25), "Bridge unit": from(20),
	partialDenture: from(40), "Chrome denture": from(40), fullDenture: from(55), "Denture repair": from(40),
	whitening:  from(18), // Regulation (EC) 1223/2009, annex III, entry 12
	nightGuard: from(18), "Sports mouthguard": ages(7, 60),
}

// reasonAges says for whom those appointment reasons are that are not for everyone.
var reasonAges = map[string]audience{
	childCheckUp: upTo(16), whiteningReview: from(18), implantConsultation: from(20),
	reasonScale: from(16), reasonExamAndScale: from(16),
}

// eruptsAt are the ages at which permanent teeth have come through, by position in the quadrant.
var eruptsAt = [...]int{1: 7, 2: 8, 3: 11, 4: 11, 5: 11, 6: 6, 7: 12, 8: 18}

// The fillings of children younger than permanentFrom are in milk molars, whose quadrants are 5 to 8.
const (
	permanentFrom  = 11
	milkMolarFirst = 4
	milkMolarLast  = 5
	milkQuadrants  = 4 // added to the permanent tooth's quadrant
)

// suits reports whether the patient of the course is of the age for a treatment.
func (c *course) suits(treatment string) bool { return treatmentAges[treatment].suits(c.who) }

// teeth returns n teeth between two positions of a random quadrant, as far as the patient has them.
func (c *course) teeth(n, first, last int) (all []string) {
	quadrant := c.between(1, 4)
	switch {
	case c.who.age < permanentFrom:
		quadrant, first, last = quadrant+milkQuadrants, milkMolarFirst, milkMolarLast
	default:
		for last > first && eruptsAt[last] > c.who.age {
			last--
		}
	}
	start := c.between(first, last-n+1)
	for i := range n {
		all = append(all, teethOf(10*quadrant+start+i)...)
	}
	return all
}
