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
	clinicalNotes = map[string][]string{
		examination:    {"No complaints. Soft tissues normal. BPE 1 2 1 / 2 1 2. Brushing has improved.", "Sensitive to cold at upper left. Monitor.", "Gums bleed at lower right. Hygienist to check.", "Grinds at night. Discussed a night guard; patient will think about it."},
		newPatientExam: {"First visit. Medical history taken and signed. BPE 2 2 2 / 2 3 2.", "First visit after some years. Nervous; took time to explain the plan."},
		emergencyExam:  {"Pain for two days, worse at night. Tender to percussion. Options discussed.", "Lost filling, no pain. Tooth restorable; review at the next visit."},
		hygieneVisit:   {"Supra- and subgingival scaling. Plaque 28 %. Interdental brushes shown.", "Bleeding on probing reduced since the last visit. Keep the interval."},
		rootPlaning:    {"Lower quadrants under local anaesthetic. Pockets of 5 mm; review in three months.", "Advised to stop smoking; leaflet given."},
		extraction:     {"Lidocaine 2 %. Uneventful, haemostasis achieved. Advice after extraction given in writing."},
		rootCanal:      {"Working length confirmed by radiograph. Obturated; crown advised."},
		rootCanalMolar: {"Four canals found. Obturated; crown advised."},
		partialDenture: {"Fitted, occlusion adjusted. Review in two weeks."},
		fullDenture:    {"Fitted, eased lower left. Review in two weeks."},
		fluoride:       {"Varnish applied. Diet discussed with the parent."},
		fissureSealant: {"Sealed under cotton wool isolation. Cooperative."},
		"":             {"As planned, local anaesthetic given. Occlusion checked. Patient comfortable."},
	}
	unfinishedNotes     = []string{"First stage done, temporary dressing placed. Second visit is booked.", "Healing well. No further treatment needed here."}
	administrativeNotes = []string{
		"Prefers mornings.", "Comes by bus: not before 9:30.", "Daughter makes the appointments.", "Asked for a receipt by e-mail – sent.",
		"Wants a ground floor surgery.", "Speaks Polski and some English.",
	}
)

// clinicalNote returns a note about a visit's main treatment.
func clinicalNote(r random, v *visit) string {
	if len(v.done) == 0 {
		return pick(r, unfinishedNotes)
	}
	main := v.done[0]
	texts := clinicalNotes[main.Nomenclature]
	if texts == nil {
		texts = clinicalNotes[""]
	}
	return describe([]*ent.TreatmentPlanItem{main}) + ". " + pick(r, texts)
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
		body := clinicalNote(r, v.visit)
		row := ent.Note{
			CreatedAt: at, UpdatedAt: at, UserID: v.by.user, Pinned: r.chance(10), Kind: schema.NoteClinical,
		}
		if r.chance(35) {
			row.UserID, body, row.Kind = pick(r, g.staff.reception), pick(r, administrativeNotes), schema.NoteAdministrative
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
