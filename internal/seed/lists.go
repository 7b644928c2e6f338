package seed

import (
	"strings"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/acquisitionsource"
	"chairside/ent/appointmentreason"
	"chairside/ent/customfield"
	"chairside/schema"
)

// The standard reasons.
var (
	reasonExam         = schema.Reasons[0]
	reasonScale        = schema.Reasons[1]
	reasonExamAndScale = schema.Reasons[2]
	reasonContinuing   = schema.Reasons[3]
	reasonEmergency    = schema.Reasons[4]
	reasonReview       = schema.Reasons[5]
	reasonOther        = schema.Reasons[6]
)

// The practice's own reasons.
const (
	staffMeeting        = "Staff meeting"
	firstVisit          = "New patient"
	childCheckUp        = "Child check-up"
	whiteningReview     = "Whitening"
	implantConsultation = "Implant consultation"
)

// writeLists creates the acquisition sources and the appointment reasons.
func (g *generator) writeLists() {
	for i, s := range []struct{ name, notes string }{
		{"Recommended by a patient", ""}, {"Walked past", ""}, {"Web search", "Asked for on the registration form"}, {"NHS website", ""},
		{"Social media", ""}, {"Local newspaper", "Advertisement ended"}, {"Élan Vital open day", "Every May"},
	} {
		id := g.uuid(acquisitionsource.Table)
		row := ent.AcquisitionSource{ID: id, PracticeID: g.practice, CreatedAt: g.opened, UpdatedAt: g.opened, Name: s.name, NameFolded: schema.Fold(s.name), Active: i != 5}
		if s.notes != "" {
			row.Notes = new(s.notes)
		}
		g.sources = append(g.sources, id)
		g.out.sources = append(g.out.sources, row)
	}
	type reason struct {
		name                   string
		exam, hygiene, deleted bool
	}
	var all []reason
	for _, name := range schema.Reasons {
		all = append(all, reason{name: name, exam: strings.Contains(name, "Exam") || name == "Review", hygiene: strings.Contains(name, "Scale")})
	}
	all = append(all,
		reason{name: firstVisit, exam: true}, reason{name: childCheckUp, exam: true}, reason{name: whiteningReview}, reason{name: implantConsultation},
		reason{name: staffMeeting}, reason{name: "Telephone call", deleted: true}, reason{name: "Denture clinic", exam: true, deleted: true})
	for i, r := range all {
		g.out.reasons = append(g.out.reasons, ent.AppointmentReason{
			ID: g.uuid(appointmentreason.Table), PracticeID: g.practice, CreatedAt: g.opened, UpdatedAt: g.opened,
			Reason: r.name, Colour: new(diaryColours[i%len(diaryColours)]), Exam: r.exam, Hygiene: r.hygiene, Deleted: r.deleted, Position: i + 1,
		})
	}
}

// questions are the custom fields that have answers.
type questions struct{ patient, treatment []question }

type question struct {
	id         uuid.UUID
	kind       schema.QuestionType
	of         audience
	categories []string // of the treatments that it is about
	share      float64  // percent of these patients or treatments with an answer
	answers    []string
}

// questionList are custom fields of every type.
var questionList = []struct {
	name, description string
	of                schema.Customizable
	kind              schema.QuestionType
	who               audience // required if it asks
	categories        []string // required if it is about treatments
	share             float64
	answers           []string
	inactive          bool
}{
	{name: "Lifestyle", of: schema.CustomizesPatient, kind: schema.QuestionTitle},
	{name: "Interested in whitening", of: schema.CustomizesPatient, kind: schema.QuestionCheckbox, who: from(18), share: 45, answers: []string{"true", "false"}},
	{name: "Preferred time of day", of: schema.CustomizesPatient, kind: schema.QuestionEnum, who: everyone, share: 40, answers: []string{"Morning", "Afternoon", "Evening", "Saturday"}},
	{name: "Alcohol, units per week", of: schema.CustomizesPatient, kind: schema.QuestionNumber, who: from(18), share: 25, answers: []string{"0.00", "2.50", "6.00", "10.00", "14.00"}},
	{name: "School", description: "For children", of: schema.CustomizesPatient, kind: schema.QuestionText, who: ages(5, 15), share: 70, answers: []string{"Hill Top Primary", "Saint Oswald's", "Riverside Academy", "École du Parc"}},
	{name: "Space", of: schema.CustomizesPatient, kind: schema.QuestionSpacer},
	{name: "Access needs", of: schema.CustomizesPatient, kind: schema.QuestionTextarea, who: everyone, share: 8, answers: []string{"Ground floor surgery, please", "Hearing loop\nSpeak clearly", "Needs a translator"}},
	{name: "Fax number", of: schema.CustomizesPatient, kind: schema.QuestionText, who: from(50), share: 2, answers: []string{"none", "01632 960111"}, inactive: true},
	{name: "Consent form signed", of: schema.CustomizesTreatment, kind: schema.QuestionCheckbox, who: everyone, categories: []string{"Surgery", "Endodontics", "Crowns and bridges", "Dentures", "Orthodontics"}, share: 60, answers: []string{"true"}},
	{name: "Anaesthetic", of: schema.CustomizesTreatment, kind: schema.QuestionEnum, who: everyone, categories: []string{"Restoration", "Surgery", "Endodontics", "Periodontics"}, share: 40, answers: []string{"None", "Lidocaine", "Articaine"}},
	{name: "Shade", of: schema.CustomizesTreatment, kind: schema.QuestionText, who: everyone, categories: []string{"Crowns and bridges", "Dentures", "Cosmetic"}, share: 70, answers: []string{"A1", "A2", "A3.5", "B2"}},
}

// writeQuestions creates the custom fields.
func (g *generator) writeQuestions() {
	for i, q := range questionList {
		asked := question{id: g.uuid(customfield.Table), kind: q.kind, of: q.who, categories: q.categories, share: q.share, answers: q.answers}
		row := ent.CustomField{
			ID: asked.id, PracticeID: g.practice, CreatedAt: g.opened, UpdatedAt: g.opened,
			Active: !q.inactive, CustomizableType: q.of, Name: q.name, Position: i + 1, Type: q.kind, Width: new(6 + 6*(i%2)),
		}
		if q.description != "" {
			row.Description = new(q.description)
		}
		if q.kind == schema.QuestionEnum {
			for n, a := range q.answers {
				row.Options = append(row.Options, schema.Option{Name: a, Position: n + 1})
			}
			row.DefaultValue = new(q.answers[0])
		}
		g.out.questions = append(g.out.questions, row)
		switch {
		case !q.kind.Asks():
		case q.of == schema.CustomizesPatient:
			g.questions.patient = append(g.questions.patient, asked)
		default:
			g.questions.treatment = append(g.questions.treatment, asked)
		}
	}
}
