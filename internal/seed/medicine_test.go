package seed

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/internal/civil"
	"chairside/internal/seal"
	"chairside/schema"
)

// TestEverythingHasAnAudience checks that every treatment and every question names its audience, and
// that there are notes for every treatment and patient.
func TestEverythingHasAnAudience(t *testing.T) {
	valid := func(what string, a audience) {
		if a.from < 0 || a.to < a.from || a.to > oldest || a.to == 0 {
			t.Errorf("%s is for %+v", what, a)
		}
	}
	var names []string
	for _, x := range treatmentList {
		names = append(names, x.name)
		valid(x.name, treatmentAges[x.name])
		texts := clinicalNotes[x.name]
		if texts == nil {
			texts = clinicalNotes[""]
		}
		for age := treatmentAges[x.name].from; age <= treatmentAges[x.name].to; age++ {
			if !slices.ContainsFunc(texts, func(p phrase) bool { return p.of.suits(who{age: age}) }) {
				t.Errorf("%s has no note for a man of %d", x.name, age)
				break
			}
		}
	}
	if known := slices.Sorted(maps.Keys(treatmentAges)); !slices.Equal(known, slices.Sorted(slices.Values(names))) {
		t.Errorf("the treatments %v have ages", known)
	}
	for _, q := range questionList {
		if q.kind.Asks() {
			valid(q.name, q.who)
			if (q.of == schema.CustomizesTreatment) != (len(q.categories) > 0) {
				t.Errorf("%s is about treatments of %v", q.name, q.categories)
			}
		}
	}
	for text, p := range phrases() {
		valid(text, p)
	}
	for _, p := range productList {
		valid(p.name, p.of)
	}
	for _, p := range referralParties {
		valid(p.attributes["name"], p.of)
	}
}

// phrases returns the audience of each text about patients.
func phrases() map[string]audience {
	all := map[string]audience{}
	for _, list := range slices.Concat([][]phrase{medicalAlerts, occupations, visitNotes, administrativeNotes, unfinishedNotes, reviewNotes}, slices.Collect(maps.Values(clinicalNotes))) {
		for _, p := range list {
			all[p.text] = p.of
		}
	}
	return all
}

// TestEverythingSuitsThePatient walks through the demo, of one year and of many, and checks for each
// alert, treatment, tooth, note, answer, product and referral that it suits the patient's age at the
// time, and their sex.
func TestEverythingSuitsThePatient(t *testing.T) {
	long := demo
	long.Patients, long.Years = 500, 9
	for name, o := range map[string]Options{"demo": demo, "nine years": long} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := walk{T: t, b: generated(t, o), today: o.AsOf, texts: phrases(), patients: map[int64]*ent.Patient{}}
			for i := range w.b.patients {
				w.patients[w.b.patients[i].ID] = &w.b.patients[i]
			}
			for i := range w.b.patients {
				w.checkPatient(&w.b.patients[i])
			}
			w.checkTreatments()
			w.checkTexts()
			w.checkOther()
		})
	}
}

// walk is a walk through the demo.
type walk struct {
	*testing.T
	b        *batch
	today    civil.Date
	texts    map[string]audience
	patients map[int64]*ent.Patient
}

// suits fails the test unless something suits a patient on a date.
func (w *walk) suits(what string, a audience, patient int64, date civil.Date) {
	w.Helper()
	p := w.patients[patient]
	if at := (who{schema.Age(p.DateOfBirth, date), !p.Gender}); !a.suits(at) {
		w.Errorf("%q is for %+v, patient %d is %+v on %s", what, a, patient, at, date)
	}
}

// text is suits for one of the texts.
func (w *walk) text(text string, patient int64, date civil.Date) {
	w.Helper()
	a, ok := w.texts[text]
	if !ok {
		w.Errorf("%q has no audience", text)
		return
	}
	w.suits(text, a, patient, date)
}

func (w *walk) checkPatient(p *ent.Patient) {
	if alert, _ := p.MedicalAlertText.Plain(); alert != "" && !isPersona(p) {
		w.text(alert, p.ID, w.today)
	}
	if p.Occupation != nil {
		w.text(*p.Occupation, p.ID, w.today)
	}
	child := schema.Age(p.DateOfBirth, w.today) < 18
	if child && *p.DentistRecallInterval > 12 {
		w.Errorf("child %d comes every %d months", p.ID, *p.DentistRecallInterval)
	}
	if r := p.EmergencyContactRelationship; r != nil && child != (*r == "Mother" || *r == "Father") {
		w.Errorf("patient %d, a child: %t, has a contact who is their %s", p.ID, child, *r)
	}
}

// isPersona reports whether a patient is one of the personas, whose texts are their own.
func isPersona(p *ent.Patient) bool {
	return slices.ContainsFunc(personas(), func(x persona) bool { return x.first == p.FirstName && x.last == p.LastName })
}

func (w *walk) checkTreatments() {
	start := map[int64]civil.Date{}
	for _, p := range w.b.treatmentPlans {
		start[p.ID] = *p.StartDate
	}
	for _, i := range w.b.treatmentItems {
		date := start[i.TreatmentPlanID]
		w.suits(i.Nomenclature, treatmentAges[i.Nomenclature], i.PatientID, date)
		p := w.patients[i.PatientID]
		if alert, _ := p.MedicalAlertText.Plain(); alert == pregnant && (i.Nomenclature == amalgam || i.Nomenclature == whitening) {
			w.Errorf("patient %d is pregnant: %s", p.ID, i.Nomenclature)
		}
		age := schema.Age(p.DateOfBirth, date)
		for _, tooth := range i.Teeth {
			n, err := strconv.Atoi(tooth)
			if quadrant, position := n/10, n%10; err != nil || quadrant > 4 && (age > 11 || position > 5) || quadrant <= 4 && age < eruptsAt[position] {
				w.Errorf("patient %d has %s of tooth %s at the age of %d", p.ID, i.Nomenclature, tooth, age)
			}
		}
	}
}

func (w *walk) checkTexts() {
	note := func(patient int64, v seal.Value, date civil.Date) {
		body, _ := v.Plain()
		body = strings.TrimSuffix(body, "\nSee the letter of the last visit.")
		for body != "" && w.texts[body] == (audience{}) { // which follows the treatment
			_, rest, _ := strings.Cut(body, ". ")
			if rest == "" {
				break
			}
			body = rest
		}
		w.text(body, patient, date)
	}
	for _, n := range w.b.notes {
		if n.Pinned && isPersona(w.patients[n.PatientID]) {
			continue
		}
		note(n.PatientID, n.Body, civil.Of(n.CreatedAt))
	}
	created := map[int64]civil.Date{}
	for _, n := range w.b.notes {
		created[n.ID] = civil.Of(n.CreatedAt)
	}
	for _, v := range w.b.noteVersions {
		note(v.PatientID, v.Body, created[v.NoteID])
	}
	zone := london(w.T)
	for _, a := range w.b.appointments {
		if a.PatientID == nil {
			continue
		}
		date := civil.Of(a.StartTime.In(zone))
		if a.Notes != nil {
			w.text(*a.Notes, *a.PatientID, date)
		}
		if of, ok := reasonAges[a.Reason]; ok {
			w.suits(a.Reason, of, *a.PatientID, date)
		}
	}
}

func (w *walk) checkOther() {
	questions, about := map[uuid.UUID]int{}, map[int64]string{}
	for i, q := range w.b.questions {
		questions[q.ID] = i
	}
	categories := map[string]string{}
	for _, x := range treatmentList {
		categories[x.name] = x.category
	}
	for _, i := range w.b.treatmentItems {
		about[i.ID] = categories[i.Nomenclature]
	}
	for _, a := range w.b.answers {
		q := questionList[questions[a.CustomFieldID]]
		w.suits(q.name, q.who, a.PatientID, w.today)
		if a.TreatmentPlanItemID != nil && !slices.Contains(q.categories, about[*a.TreatmentPlanItemID]) {
			w.Errorf("%s is answered about a treatment of %s", q.name, about[*a.TreatmentPlanItemID])
		}
	}
	buyer := map[int64]int64{}
	for _, i := range w.b.invoices {
		buyer[i.ID] = i.PatientID
	}
	for _, i := range w.b.invoiceItems {
		if i.SundryID != nil {
			product := productList[slices.IndexFunc(w.b.sundries, func(s ent.Sundry) bool { return s.ID == *i.SundryID })]
			w.suits(product.name, product.of, buyer[i.InvoiceID], civil.Of(i.CreatedAt))
		}
	}
	for _, r := range w.b.referrals {
		party := referralParties[slices.IndexFunc(referralParties, func(p referralParty) bool { return maps.Equal(p.attributes, r.ReferrableAttributes) })]
		w.suits(party.attributes["name"], party.of, r.PatientID, r.DatedOn)
	}
}
