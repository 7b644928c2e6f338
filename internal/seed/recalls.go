package seed

import (
	"slices"
	"time"

	"chairside/ent"
	entrecall "chairside/ent/recall"
	"chairside/internal/civil"
	"chairside/schema"
)

// recalls chooses the details of recalls.
type recalls struct{ random random }

// writeRecalls creates a patient's recalls to exams and hygiene visits. The open ones have the
// dates of the patient's row.
func (g *generator) writeRecalls(p *person) {
	g.recall(p, schema.RecallExam, p.dentist.id, *p.row.DentistRecallDate, reasonExam, reasonExamAndScale, childCheckUp)
	if p.row.HygienistRecallDate != nil {
		g.recall(p, schema.RecallHygiene, *p.row.HygienistID, *p.row.HygienistRecallDate, reasonScale)
	}
}

// recall creates the completed recall of the last visit and the next one, which is booked, due
// or, if the patient is archived, cancelled. Visits have one of the reasons.
func (g *generator) recall(p *person, kind schema.RecallType, by int64, due civil.Date, reasons ...string) {
	var last, next *attendance
	for i := range p.visits {
		v := &p.visits[i]
		switch {
		case !slices.Contains(reasons, v.reason) || !v.state.Blocks():
		case v.state == schema.Completed:
			last = v
		default:
			next = v
		}
	}
	r, since := g.recalls.random, p.row.CreatedAt
	if last != nil {
		g.writeRecall(p, ent.Recall{
			RecallType: kind, PractitionerID: &last.by.id, DueOn: g.date(last.day + r.around(8)),
			Status: schema.RecallCompleted, AppointmentID: &last.id, CreatedAt: since, UpdatedAt: last.finish,
		}, last.begin)
		since = last.finish
	}
	row := ent.Recall{RecallType: kind, PractitionerID: &by, DueOn: due, Status: schema.RecallDue, CreatedAt: since, UpdatedAt: since}
	switch {
	case next != nil:
		row.Status, row.AppointmentID, row.PractitionerID = schema.RecallBooked, &next.id, &next.by.id
	case !p.row.Active:
		row.Status = schema.RecallCancelled
	case g.day(due) < g.today+month && r.chance(40):
		row.Status = schema.RecallContacted
	}
	g.writeRecall(p, row, g.at(g.day(due), 18*hour))
}

// writeRecall completes and writes a recall. Unless it is due or cancelled, the patient was
// contacted in the three weeks before the given time, or else recently.
func (g *generator) writeRecall(p *person, row ent.Recall, before time.Time) {
	row.ID, row.PracticeID, row.PatientID = g.number(entrecall.Table), g.practice, p.row.ID
	if row.Status != schema.RecallDue && row.Status != schema.RecallCancelled {
		const notice = 21 * 24 * time.Hour
		before = g.notAfterNow(before)
		at := later(g.recalls.random.timeBetween(before.Add(-notice), before), row.CreatedAt)
		row.ContactedAt, row.Method = &at, new(p.row.RecallMethod)
		row.UpdatedAt = later(row.UpdatedAt, at)
	}
	g.out.recalls = append(g.out.recalls, row)
}
