package seed

import (
	"github.com/google/uuid"

	"chairside/internal/civil"
	"chairside/schema"
)

// households are generated one by one; waiting are the current household's members who
// are not patients yet.
type households struct {
	waiting []member
}

// member is a member of a household.
type member struct {
	culture *culture
	female  bool
	first   name
	last    name
	born    civil.Date
	home    address
	phone   phone
	family  *uuid.UUID
	partner string // the other adult's name
	// partnerFemale is the other adult's sex.
	partnerFemale bool
	joined        int // day of becoming a patient
}

// nextMember returns the next member to become a patient.
func (g *generator) nextMember() member {
	if len(g.households.waiting) == 0 {
		g.households.waiting = g.household()
	}
	m := g.households.waiting[0]
	g.households.waiting = g.households.waiting[1:]
	return m
}

// household generates one or two adults with up to three children. Most share a surname,
// all share an address.
func (g *generator) household() []member {
	c := &cultures()[g.weighted(cultureShares()...)]
	family := pick(g.random, c.surnames)
	if g.chance(float64(c.doubleBarrels)) {
		other := pick(g.random, c.surnames)
		family = surname{family.male.join(other.male), family.female.join(other.female)}
	}
	adults, children := g.householdSize()
	home := g.address()
	landline := g.landline(home.town)
	age := g.between(19, 58) + g.weighted(60, 40)*g.between(8, 32)
	if children > 0 {
		age = g.between(26, 52)
	}
	var id *uuid.UUID
	if adults+children > 1 {
		id = new(g.uuid("families"))
	}
	joined := g.between(-8*365, -1)
	if g.chance(34) {
		joined = g.between(0, g.today-1)
	}

	const adult = 18
	var members []member
	female := g.chance(52)
	for i := range adults + children {
		m := member{culture: c, female: female, home: home, phone: landline, family: id, joined: joined}
		years := max(adult, age+g.between(-4, 4))
		if i >= adults {
			m.female, years = g.chance(50), g.between(1, min(17, age-22))
		} else if i == 1 {
			m.female = female == g.chance(8)
		}
		m.born = g.date(g.today - years*365 - g.IntN(365))
		if m.joined < g.day(m.born)+200 { // not before birth
			m.joined = min(g.day(m.born)+g.between(200, 900), g.today-1)
		}
		m.first, m.last = pick(g.random, c.male), family.male
		if m.female {
			m.first, m.last = pick(g.random, c.female), family.female
		}
		if i == 1 && g.chance(25) { // keeps their own name
			own := pick(g.random, c.surnames)
			if m.last = own.male; m.female {
				m.last = own.female
			}
		}
		members = append(members, m)
	}
	for i := range members {
		if other := (i + 1) % adults; other != i {
			members[i].partner, members[i].partnerFemale = schema.FullName(members[other].first.text, members[other].last.text), members[other].female
		}
	}
	return members
}

// householdSize returns the number of adults and of children.
func (g *generator) householdSize() (adults, children int) {
	switch g.weighted(38, 27, 25, 10) {
	case 1:
		return 2, 0
	case 2:
		return 2, g.between(1, 3)
	case 3:
		return 1, g.between(1, 2)
	}
	return 1, 0
}

// join makes a double-barrelled name.
func (n name) join(other name) name { return name{n.text + "-" + other.text, n.latin + other.latin} }
