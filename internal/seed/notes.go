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
	clinicalNotes = []string{
		"Sensitive to cold at upper left. Monitor.", "Brushing has improved.\nShow interdental brushes again at the next visit.",
		"Grinds at night. Discussed a night guard; patient will think about it.", "Nervous of injections: topical gel first, and time to settle.",
		"Advised to stop smoking; leaflet given.", "Gums bleed at lower right. Hygienist to check.",
	}
	administrativeNotes = []string{
		"Prefers mornings.", "Comes by bus: not before 9:30.", "Daughter makes the appointments.", "Asked for a receipt by e-mail – sent.",
		"Wants a ground floor surgery.", "Speaks Polski and some English.",
	}
)

// writeNotes creates notes at the end of some of a patient's visits: clinical ones by the
// practitioner, others by reception. Some were edited, and have an earlier text.
func (g *generator) writeNotes(p *person) {
	r := g.notes.random
	for _, v := range p.visits {
		if v.state != schema.Completed || !g.notes.written.next(3, 6) {
			continue
		}
		at := g.notAfterNow(r.minutesAfter(v.finish, 1, 10))
		body := pick(r, clinicalNotes)
		row := ent.Note{
			ID: g.number(entnote.Table), PracticeID: g.practice, CreatedAt: at, UpdatedAt: at, PatientID: p.row.ID,
			UserID: v.by.user, Pinned: r.chance(10), Kind: schema.NoteClinical,
		}
		if r.chance(35) {
			row.UserID, body, row.Kind = pick(r, g.staff.reception), pick(r, administrativeNotes), schema.NoteAdministrative
		}
		if g.notes.edited.next(3, 10) {
			before := body
			body += "\nSee the letter of the last visit."
			row.UpdatedAt = g.notAfterNow(r.minutesAfter(at, 5, 600))
			g.out.noteVersions = append(g.out.noteVersions, ent.NoteVersion{
				ID: g.number(noteversion.Table), PracticeID: g.practice, NoteID: row.ID, PatientID: row.PatientID,
				Body: seal.Plain(before), At: row.UpdatedAt, UserID: &row.UserID,
			})
		}
		row.Body = seal.Plain(body)
		g.out.notes = append(g.out.notes, row)
	}
}
