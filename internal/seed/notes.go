package seed

import (
	"chairside/ent"
	entnote "chairside/ent/note"
	"chairside/ent/noteversion"
	"chairside/internal/seal"
	"chairside/schema"
)

// notes chooses the notes.
type notes struct {
	random          random
	written, edited rarity
}

var (
	// clinicalNotes are what may be noted about a treatment.
	clinicalNotes = map[string][]phrase{
		examination: {
			{"Mouth healthy for the age. Brushing and diet discussed with the parent.", upTo(9)},
			{"Teeth counted, no caries. Fluoride toothpaste of 1,450 ppm advised.", ages(3, 16)},
			{"Sensitive to cold at upper left. Monitor.", from(8)},
			{"Gums bleed at lower right. Brushing shown.", from(10)},
			{"No complaints. Soft tissues normal. BPE 1 2 1 / 2 1 2. Brushing has improved.", from(18)},
			{"Grinds at night. Discussed a night guard; patient will think about it.", from(18)},
		},
		newPatientExam: {
			{"First visit, on the parent's lap. Medical history taken and signed by the parent.", upTo(5)},
			{"First visit. Medical history taken and signed by the parent. Cooperative.", ages(4, 15)},
			{"First visit. Medical history taken and signed. BPE 2 2 2 / 2 3 2.", from(16)},
			{"First visit after some years. Nervous; took time to explain the plan.", from(20)},
		},
		emergencyExam: {
			{"Fell on the front teeth. Not loose, no fracture; soft diet for a week, advice given to the parent.", upTo(9)},
			{"Pain for two days, worse at night. Tender to percussion. Options discussed.", from(6)},
			{"Lost filling, no pain. Tooth restorable; review at the next visit.", from(16)},
		},
		hygieneVisit: {
			{"Supra- and subgingival scaling. Plaque 28 %. Interdental brushes shown.", from(16)},
			{"Bleeding on probing reduced since the last visit. Keep the interval.", from(16)},
		},
		rootPlaning: {
			{"Lower quadrants under local anaesthetic. Pockets of 5 mm; review in three months.", from(18)},
			{"Advised to stop smoking; leaflet given.", from(18)},
		},
		extraction:      {{"Lidocaine 2 %. Uneventful, haemostasis achieved. Advice after extraction given in writing.", from(16)}},
		rootCanal:       {{"Working length confirmed by radiograph. Obturated; crown advised.", from(14)}},
		rootCanalMolar:  {{"Four canals found. Obturated; crown advised.", from(14)}},
		partialDenture:  {{"Fitted, occlusion adjusted. Review in two weeks.", from(40)}},
		fullDenture:     {{"Fitted, eased lower left. Review in two weeks.", from(55)}},
		whitening:       {{"Trays fitted. Gel and written instructions given; shade before A3.", from(18)}},
		nightGuard:      {{"Fitted, occlusion adjusted. To be worn at night.", from(18)}},
		orthoAssessment: {{"Crowding of the upper arch. Options discussed with the parent.", ages(9, 17)}},
		fluoride:        {{"Varnish applied. Diet discussed with the parent.", upTo(17)}},
		fissureSealant:  {{"Sealed under cotton wool isolation. Cooperative.", ages(7, 15)}},
		glassIonomer:    {{"Filled without local anaesthetic. Cooperative.", from(3)}},
		"":              {{"As planned. Cooperative.", upTo(15)}, {"As planned, local anaesthetic given. Occlusion checked. Patient comfortable.", from(12)}},
	}
	reviewNotes         = []phrase{{"Healing well. No further treatment needed here.", everyone}}
	unfinishedNotes     = []phrase{{"First stage done as planned. To be completed at the next visit.", from(12)}}
	administrativeNotes = []phrase{
		{"Prefers mornings.", everyone},
		{"A parent comes along; not during school hours, please.", ages(5, 15)},
		{"Comes with a buggy: ground floor surgery, please.", upTo(3)},
		{"Asked for a receipt by e-mail – sent.", from(18)},
		{"Wants a ground floor surgery.", from(60)},
		{"Daughter makes the appointments.", from(66)},
		{"Comes by bus: not before 9:30.", from(66)}, // when the pass for older people is valid
	}
)

// clinicalNote returns a note about a visit's main treatment.
func clinicalNote(r random, v attendance, w who) string {
	switch {
	case len(v.done) > 0:
	case v.reason == reasonReview:
		return pickFor(r, reviewNotes, w)
	default:
		return pickFor(r, unfinishedNotes, w)
	}
	main := v.done[0]
	texts := clinicalNotes[main.Nomenclature]
	if texts == nil {
		texts = clinicalNotes[""]
	}
	return describe([]*ent.TreatmentPlanItem{main}) + ". " + pickFor(r, texts, w)
}

// writeNotes creates notes at the end of some of a patient's visits: clinical ones by the
// practitioner, others by reception. Some were edited, and have an earlier text.
func (g *generator) writeNotes(p *person) {
	r := g.notes.random
	for _, v := range p.visits {
		if v.state != schema.Completed || !g.notes.written.next(3, 6) {
			continue
		}
		at := g.notAfterNow(r.minutesAfter(v.finish, 1, 10))
		w := p.on(g.date(v.day))
		body := clinicalNote(r, v, w)
		row := ent.Note{
			CreatedAt: at, UpdatedAt: at, UserID: v.by.user, Pinned: r.chance(10), Kind: schema.NoteClinical,
		}
		if r.chance(35) {
			row.UserID, body, row.Kind = pick(r, g.staff.reception), pickFor(r, administrativeNotes, w), schema.NoteAdministrative
		}
		if !g.notes.edited.next(3, 10) {
			g.writeNote(p, row, body)
			continue
		}
		row.UpdatedAt = g.notAfterNow(r.minutesAfter(at, 5, 600))
		row.ID = g.writeNote(p, row, body+"\nSee the letter of the last visit.")
		g.out.noteVersions = append(g.out.noteVersions, ent.NoteVersion{
			ID: g.number(noteversion.Table), PracticeID: g.practice, NoteID: row.ID, PatientID: p.row.ID,
			Body: seal.Plain(body), At: row.UpdatedAt, UserID: &row.UserID,
		})
	}
}

// writeNote adds a note about a patient.
func (g *generator) writeNote(p *person, row ent.Note, body string) (id int64) {
	row.ID, row.PracticeID, row.PatientID, row.Body = g.number(entnote.Table), g.practice, p.row.ID, seal.Plain(body)
	p.touch(row.UpdatedAt)
	g.out.notes = append(g.out.notes, row)
	return row.ID
}
