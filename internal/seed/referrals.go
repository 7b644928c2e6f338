package seed

import (
	"fmt"

	"chairside/ent"
	entreferral "chairside/ent/patientreferral"
	"chairside/schema"
)

// referrals chooses the referrals.
type referrals struct {
	random  random
	written rarity
}

// referralParties are the other parties of referrals.
var referralParties = []referralParty{
	{"Hospital", map[string]string{"name": "Northfield Dental Hospital", "department": "Oral surgery", "phone": "01632 960200"}, from(16)},
	{"Hospital", map[string]string{"name": "Northfield Dental Hospital", "department": "Paediatric dentistry", "phone": "01632 960202"}, upTo(15)},
	{"Hospital", map[string]string{"name": "Saint Oswald's Hospital", "department": "Orthodontics"}, ages(10, 17)},
	{"Practice", map[string]string{"name": "Élan Endodontics", "email": "referrals@elan.example.com"}, from(16)},
	{"Practitioner", map[string]string{"name": "Dr Frobisher", "specialism": "Periodontics", "phone": "01632 960201"}, from(25)},
}

// referralParty is a hospital, practice or person to whom patients are referred.
type referralParty struct {
	kind       string
	attributes map[string]string
	of         audience
}

// writeReferrals creates referrals on the day of some of a patient's visits.
func (g *generator) writeReferrals(p *person) {
	r := g.referrals.random
	for _, v := range p.visits {
		if v.state != schema.Completed || !g.referrals.written.next(4, 25) {
			continue
		}
		party, ok := pickSuitable(r, referralParties, func(p referralParty) audience { return p.of }, p.on(g.date(v.day)))
		if !ok {
			continue
		}
		at := g.notAfterNow(r.minutesAfter(v.finish, 2, 30))
		row := ent.PatientReferral{
			ID: g.number(entreferral.Table), PracticeID: g.practice, CreatedAt: at, UpdatedAt: at, PatientID: p.row.ID,
			ReferrableType: party.kind, ReferrableAttributes: party.attributes,
			Status: schema.ReferralStatus(pick(r, schema.ReferralStatus("").Values())), DatedOn: g.date(v.day),
		}
		if row.Status != schema.ReferralDraft {
			row.Reference = new(fmt.Sprintf("REF-%d", 1000+row.ID))
			row.UpdatedAt = g.notAfterNow(r.minutesAfter(at, 60, 20*24*60))
		}
		g.out.referrals = append(g.out.referrals, row)
	}
}
