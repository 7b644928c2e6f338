package seed

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"chairside/ent"
	entaccount "chairside/ent/account"
	"chairside/ent/customfieldanswer"
	entpatient "chairside/ent/patient"
	"chairside/internal/seal"
	"chairside/schema"
)

// person is a patient while the history is generated.
type person struct {
	row       ent.Patient
	age       int // today
	pregnant  bool
	kind      planKind
	dentist   *practitioner
	hygienist *practitioner
	joined    int
	leaves    int // day from which the patient no longer comes
	ledger    ledger
	touched   time.Time // the last event
	visits    []attendance
	owes      bool // pays no invoices
}

// touch notes an event: the patient's row was last updated at the latest of them.
func (p *person) touch(t time.Time) {
	if t.After(p.touched) {
		p.touched = t
	}
}

// populate generates at most n more patients with all their rows.
func (g *generator) populate(n int) {
	if g.remaining == g.patients {
		before := g.remaining
		g.populatePersonas()
		n -= before - g.remaining
	}
	for ; n > 0 && g.remaining > 0; n-- {
		g.remaining--
		p := g.register(g.nextMember())
		g.openAccount(p)
		g.generateHistory(p)
		g.write(p)
	}
}

// write writes a patient after the history. A patient with a visit ahead is not archived yet.
func (g *generator) write(p *person) {
	if slices.ContainsFunc(p.visits, func(v attendance) bool { return v.finish.After(g.now) && v.state.Blocks() }) {
		p.row.Active = true
	}
	g.writeRecalls(p)
	g.writeWaiting(p)
	g.writeNotes(p)
	g.writeReferrals(p)
	g.writePatient(p)
}

// staffName returns a name for a member of staff.
func (g *generator) staffName(female bool) (first, last name) {
	c := &cultures()[g.weighted(cultureShares()...)]
	s := pick(g.random, c.surnames)
	if female {
		return pick(g.random, c.female), s.female
	}
	return pick(g.random, c.male), s.male
}

// title returns an adult's title.
func title(r random, female, doctor bool, age int) schema.Title {
	const graduated, honoured = 25, 45 // years, at least
	switch {
	case doctor || r.chance(2) && age >= graduated:
		return "Dr"
	case r.chance(3) && age >= honoured:
		return pick(r, []schema.Title{"Prof", "Hon", "Rev", "Judge", pickIf(female, schema.Title("Lady"), "Sir"), pickIf(female, schema.Title("Dame"), "Lord"), pickIf(female, schema.Title("Dame"), "Earl")})
	case !female:
		return "Mr"
	}
	return pick(r, []schema.Title{"Mrs", "Ms", "Miss", "Mrs"})
}

// pickIf returns yes if the condition is true, and otherwise no.
func pickIf[T any](condition bool, yes, no T) T {
	if condition {
		return yes
	}
	return no
}

var (
	occupations = []phrase{
		{"Student", ages(18, 24)}, {"Retired", from(66)}, {"Teacher", ages(23, 66)}, {"Electrician", ages(20, 66)}, {"Nurse", ages(21, 66)}, {"Accountant", ages(22, 68)},
		{"Chef", ages(18, 65)}, {"Lorry driver", ages(21, 66)}, {"Software developer", ages(21, 66)}, {"Carer", ages(18, 70)}, {"Gardener", ages(18, 72)},
		{"Musician", from(18)}, {"Shop assistant", ages(18, 67)}, {"Solicitor", ages(24, 70)}, {"Plumber", ages(19, 66)}, {"Artist", from(18)},
	}
	mailHosts = []string{"example.com", "example.org", "example.net", "mail.example.com"}
)

// register creates a patient's row, except for what the history adds.
func (g *generator) register(m member) *person {
	now := who{schema.Age(m.born, g.date(g.today)), m.female}
	p := &person{age: now.age, joined: m.joined, leaves: g.end}
	g.assign(p)
	since := g.at(m.joined, g.between(8*hour, 18*hour)).Add(time.Duration(g.IntN(60_000)) * time.Millisecond)
	p.touch(since)
	id := g.number(entpatient.Table)
	p.row = ent.Patient{
		ID: id, PracticeID: g.practice, CreatedAt: since,
		Title: title(g.random, m.female, false, now.age), FirstName: m.first.text, LastName: m.last.text,
		FirstNameFolded: schema.Fold(m.first.text), LastNameFolded: schema.Fold(m.last.text),
		DateOfBirth: m.born, Gender: !m.female, Ethnicity: string(m.culture.ethnicities[g.IntN(len(m.culture.ethnicities))]), Active: true,
		AddressLine1: m.home.line1, AddressLine2: m.home.line2, Town: optional(g.random, 97, m.home.town.name), County: m.home.town.countyOrNil(), Postcode: m.home.postcode,
		PaymentPlanID: g.catalogue.plans[p.kind], SiteID: p.dentist.site.id, DentistID: &p.dentist.id, FamilyID: m.family,
		DentistRecallInterval: new([]int{3, 6, 9, 12, 24}[g.weighted(8, 52, 14, 22, pickIf(now.age < 18, 0, 4))]), // NICE CG19: children at most 12 months
		AcquisitionSourceID:   optional(g.random, 85, pick(g.random, g.sources)),
		RecallMethod:          []schema.RecallMethod{schema.RecallSMS, schema.RecallEmail, schema.RecallLetter, schema.RecallPhone}[g.weighted(50, 25, 20, 5)],
		Marketing:             g.weighted(60, 40), UseEmail: g.chance(88), UseSms: g.chance(92),
		Occupation: optional(g.random, 40, pickFor(g.random, occupations, now)),
		NhsNumber:  sealed(optional(g.random, pickIf(p.kind.nhs(), 85.0, 25), nhsNumber(int(id)))),
		NiNumber:   sealed(optional(g.random, 20, fmt.Sprintf("QQ%06d%c", (id*7919)%1_000_000, "ABCD"[id%4]))),
		LegacyID:   optional(g.random, pickIf(m.joined < 0, 60.0, 0), fmt.Sprintf("OLD-%05d", id)),
		DoctorID:   optional(g.random, 30, int64(g.between(1, 40))),
	}
	row := &p.row
	if p.age < 18 {
		row.Title, row.Occupation, row.NiNumber = pickIf(m.female, schema.Title("Miss"), "Master"), nil, seal.Value{}
	}
	if row.Ethnicity == "Z" && g.chance(30) {
		row.Ethnicity = "99"
	}
	if middle := pick(g.random, pickIf(m.female, m.culture.female, m.culture.male)); middle != m.first {
		row.MiddleName = optional(g.random, float64(m.culture.middleNames), middle.text)
	}
	row.PreferredName = g.preferredName(m.first)
	if p.hygienist != nil && p.age >= 18 && g.chance(65) {
		row.HygienistID, row.HygienistRecallInterval = &p.hygienist.id, new([]int{3, 4, 6, 12}[g.weighted(15, 10, 50, 25)])
	}
	if g.chance(pickIf(p.age > 60, 22.0, 7)) {
		alert := pickFor(g.random, medicalAlerts, now)
		p.pregnant = alert == pregnant
		row.MedicalAlert, row.MedicalAlertText = true, sealed(optional(g.random, 92, alert))
	}
	if g.chance(5) {
		row.Metadata = map[string]string{"crm_id": fmt.Sprintf("C-%d", 10_000+id)}
		if g.chance(30) {
			row.Metadata["segment"] = pick(g.random, []string{"families", "implants", "élite"})
		}
	}
	row.CustomField1 = optional(g.random, 10, pick(g.random, []string{"Dr Frobisher", "Bright & Sons", "None for years"}))
	row.CustomField2 = optional(g.random, 4, fmt.Sprintf("Bay %d", g.between(1, 12)))
	g.addContacts(row, m)
	g.answer(g.questions.patient, since, id, now, nil)
	g.decideLeaving(p)
	return p
}

// assign chooses a plan, dentist and hygienist.
func (g *generator) assign(p *person) {
	p.dentist = g.staff.dentists[g.weighted(g.staff.shares...)]
	switch nhs := g.chance(float64(p.dentist.nhs)); {
	case nhs && (p.age < 18 || g.chance(20)):
		p.kind = planExempt
	case nhs:
		p.kind = planNHS
	case p.age < 18:
		p.kind = planPrivate
	default:
		p.kind = []planKind{planPrivate, planCare, planClosed}[g.weighted(62, 30, 8)]
	}
	p.hygienist = p.dentist.site.hygienist
}

// addContacts fills in contact details and the columns derived from them.
func (g *generator) addContacts(row *ent.Patient, m member) {
	if g.chance(62) {
		row.HomePhone, row.HomePhoneCountry = m.phone.number, m.phone.country
	}
	if g.chance(86) {
		mobile := g.mobile()
		row.MobilePhone, row.MobilePhoneCountry = mobile.number, mobile.country
		row.PreferredPhoneNumber = optional(g.random, 60, 3)
	}
	if g.chance(18) {
		work := g.landline(&towns[g.IntN(len(towns))])
		row.WorkPhone, row.WorkPhoneCountry = work.number, work.country
	}
	if row.PreferredPhoneNumber == nil && row.HomePhone != nil {
		row.PreferredPhoneNumber = new(1)
	}
	if m.partner != "" && g.chance(55) {
		contact := g.mobile()
		row.EmergencyContactName, row.EmergencyContactRelationship = &m.partner, new(g.relationship(row, m))
		row.EmergencyContactPhone, row.EmergencyContactPhoneCountry = contact.number, contact.country
	}
	if g.chance(82) {
		row.EmailAddress = new(fmt.Sprintf("%s.%s%d@%s", m.first.latin, m.last.latin, row.ID%997, pick(g.random, mailHosts)))
	}
	g.derive(row)
}

// relationship is what the other adult of the household is to the patient.
func (g *generator) relationship(row *ent.Patient, m member) string {
	switch isChild := schema.Age(row.DateOfBirth, g.date(g.today)) < 18; {
	case isChild:
		return pickIf(m.partnerFemale, "Mother", "Father")
	case g.chance(50):
		return pickIf(m.partnerFemale, "Wife", "Husband")
	}
	return "Partner"
}

// derive fills the derived columns, as the hooks would.
func (g *generator) derive(row *ent.Patient) {
	for _, p := range []struct{ number, country, normalized **string }{
		{&row.HomePhone, &row.HomePhoneCountry, &row.HomePhoneNormalized},
		{&row.MobilePhone, &row.MobilePhoneCountry, &row.MobilePhoneNormalized},
		{&row.WorkPhone, &row.WorkPhoneCountry, &row.WorkPhoneNormalized},
		{&row.EmergencyContactPhone, &row.EmergencyContactPhoneCountry, &row.EmergencyContactPhoneNormalized},
	} {
		if *p.number == nil {
			continue
		}
		if e164 := schema.NormalizePhone(**p.number, text(*p.country), "GB"); e164 != "" {
			*p.normalized = &e164
		}
	}
	if number, _ := row.NhsNumber.Plain(); number != "" {
		row.NhsNumberHash = new(seal.Hash(g.searchKey(), schema.Digits(number)))
	}
	row.SearchText = schema.SearchText(
		[]string{row.FirstName, text(row.MiddleName), row.LastName, text(row.PreferredName)},
		row.Postcode, text(row.EmailAddress), text(row.NhsNumberHash), text(row.LegacyID),
		[]string{text(row.HomePhone), text(row.MobilePhone), text(row.WorkPhone), text(row.HomePhoneNormalized), text(row.MobilePhoneNormalized), text(row.WorkPhoneNormalized)})
}

// sealed returns a text for a sealed column; nil is null.
func sealed(s *string) seal.Value {
	if s == nil {
		return seal.Value{}
	}
	return seal.Plain(*s)
}

// text returns the string, or "" for nil.
func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// decideLeaving decides whether and when a patient stops coming.
func (g *generator) decideLeaving(p *person) {
	switch g.weighted(82, 11, 7) {
	case 1: // stopped coming
		p.leaves = g.between(max(p.joined, 0), max(g.today-60, 1))
	case 2: // archived
		p.leaves = g.between(max(p.joined, 0), max(g.today-20, 1))
		p.row.Active = false
		p.touch(g.notAfterNow(g.at(p.leaves+g.between(1, 15), g.between(9*hour, 17*hour))))
	}
}

// writePatient writes the patient and the account at the end of the history.
func (g *generator) writePatient(p *person) {
	p.row.UpdatedAt = p.touched
	g.out.patients = append(g.out.patients, p.row)
	l := &p.ledger
	g.out.accounts = append(g.out.accounts, ent.Account{
		ID: l.account, PracticeID: g.practice, CreatedAt: p.row.CreatedAt, UpdatedAt: p.touched, PatientID: p.row.ID,
		OpeningBalance: l.opening, CurrentBalance: l.opening + l.paid - l.invoiced,
		PlannedNhsTreatmentValue: l.plannedNHS, PlannedPrivateTreatmentValue: l.plannedPrivate,
	})
}

// openAccount opens the patient's account.
func (g *generator) openAccount(p *person) {
	p.ledger.account = g.number(entaccount.Table)
	if p.joined < 0 && g.chance(6) {
		p.ledger.opening = pickIf(g.chance(50), money(g.random, 5, 80), -money(g.random, 5, 120))
	}
}

// preferredName returns a preferred name: the Latin form of a name in another script, or
// the beginning of a long name.
func (g *generator) preferredName(n name) *string {
	switch runes := []rune(n.text); {
	case plain(n.text) == "" && g.chance(60):
		return new(strings.ToUpper(n.latin[:1]) + n.latin[1:])
	case len(runes) >= 6 && g.chance(7):
		return new(string(runes[:3]))
	}
	return nil
}

// nhsNumber returns the n-th number of the test range with a valid check digit.
func nhsNumber(n int) string {
	for n *= 2; ; n++ { // one of two consecutive numbers has a check digit
		digits := fmt.Sprintf("999%06d", n%1_000_000)
		sum := 0
		for i, d := range digits {
			sum += int(d-'0') * (10 - i)
		}
		if check := (11 - sum%11) % 11; check < 10 {
			return fmt.Sprintf("%s %s %s%d", digits[:3], digits[3:6], digits[6:], check)
		}
	}
}

// answer answers custom fields of a patient or a treatment.
func (g *generator) answer(asked []question, at time.Time, patient int64, of who, item *ent.TreatmentPlanItem) {
	for _, q := range asked {
		if !q.of.suits(of) || item != nil && !slices.Contains(q.categories, g.catalogue.treatments[item.Nomenclature].category) || !g.chance(q.share) {
			continue
		}
		row := ent.CustomFieldAnswer{
			ID: g.uuid(customfieldanswer.Table), PracticeID: g.practice, CreatedAt: at, UpdatedAt: at,
			CustomFieldID: q.id, PatientID: patient, Value: strings.TrimSpace(pick(g.random, q.answers)),
		}
		if item != nil {
			row.TreatmentPlanItemID = &item.ID
		}
		g.out.answers = append(g.out.answers, row)
	}
}
