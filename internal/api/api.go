package api

import (
	"chairside/internal/cache"
	"chairside/internal/events/feed"
	"chairside/internal/store"
	"chairside/ogent"
)

// Handler implements the operations. Those without a method here are generated (ogent.Writes).
type Handler struct {
	ogent.Writes
	work *cache.Cache[int64, work] // by practitioner id
	feed *feed.Feed
}

// New returns the handler for an open database. baseURL is this server's public address,
// without a final slash.
func New(db *store.DB, baseURL string) *Handler {
	h := &Handler{work: newWorkCache(db.Ent), feed: feed.New(db), Writes: ogent.Writes{
		DB: db,
		Reads: ogent.Reads{Client: db.Ent, Keys: db.Keys, BaseURL: baseURL, Members: ogent.Members{
			PatientCustomFields:           patientCustomFields,
			TreatmentPlanTotalGross:       treatmentPlanTotals,
			TreatmentPlanItemCustomFields: treatmentPlanItemCustomFields,
		}},
	}}
	h.Rules = ogent.Rules{
		Appointment:     h.appointmentRule,
		AppointmentHold: h.holdRule,
		Note:            noteRule,
		Patient:         patientRule,
		Recall:          recallRule,
		WaitingList:     waitingListRule,
		Webhook:         webhookRule,
	}
	return h
}
