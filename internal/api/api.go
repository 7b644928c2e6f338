package api

import (
	"chairside/internal/cache"
	"chairside/internal/store"
	"chairside/ogent"
)

// Handler implements the operations. Those it has no method for are plain reads and
// writes, and come from ogent.Writes.
type Handler struct {
	ogent.Writes
	work *cache.Cache[int64, work] // by practitioner
}

// New gives the handler over an open database. baseURL is this server's public
// address without a final slash.
func New(db *store.DB, baseURL string) *Handler {
	return &Handler{work: rememberWork(db.Ent), Writes: ogent.Writes{
		DB: db,
		Reads: ogent.Reads{Client: db.Ent, BaseURL: baseURL, Members: ogent.Members{
			PatientCustomFields:           patientAnswers,
			TreatmentPlanItemCustomFields: itemAnswers,
		}},
		Rules: ogent.Rules{
			Appointment: ruleOfAppointment,
			Patient:     ruleOfPatient,
		},
	}}
}
