package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"

	"chairside/internal/apispec"
)

// CancellationParty is who cancels appointments for a reason.
type CancellationParty string

// The parties.
const (
	CancelledByPatient  CancellationParty = "patient"
	CancelledByPractice CancellationParty = "practice"
	CancelledByOther    CancellationParty = "other"
)

// Values lists the parties for ent.
func (CancellationParty) Values() []string { return []string{"patient", "practice", "other"} }

// CancellationReason is a reason of a new practice.
type CancellationReason struct {
	Name string
	Type CancellationParty
}

// CancellationReasons are the cancellation reasons of a new practice.
var CancellationReasons = []CancellationReason{
	{"Patient unwell", CancelledByPatient},
	{"Patient cannot attend", CancelledByPatient},
	{"Cancelled at short notice", CancelledByPatient},
	{"Patient has left the practice", CancelledByPatient},
	{"Practitioner unavailable", CancelledByPractice},
	{"Equipment failure", CancelledByPractice},
	{"Practice closed", CancelledByPractice},
	{"Booked in error", CancelledByOther},
	{"Other", CancelledByOther},
}

// AppointmentCancellationReason is one of the practice's reasons for cancelling an appointment.
type AppointmentCancellationReason struct{ ent.Schema }

// Mixin of AppointmentCancellationReason.
func (AppointmentCancellationReason) Mixin() []ent.Mixin {
	return []ent.Mixin{tenant{}, timestamps{}}
}

// Fields of AppointmentCancellationReason.
func (AppointmentCancellationReason) Fields() []ent.Field {
	return []ent.Field{
		uuidID(),
		text("reason", "Name of the reason.", apispec.Field{Example: "Patient unwell"}),
		field.Enum("reason_type").GoType(CancellationParty("")).Comment("Who cancels for this reason: patient, practice or other."),
		boolFalse("archived", "Whether the reason can no longer be given."),
	}
}

// viewAppointmentCancellationReason is what analysts see.
var viewAppointmentCancellationReason = apispec.View{
	Shown: []string{"id", "reason", "reason_type", "archived", "created_at", "updated_at"},
}

// Annotations of AppointmentCancellationReason.
func (AppointmentCancellationReason) Annotations() []schema.Annotation {
	return []schema.Annotation{viewAppointmentCancellationReason, apispec.Resource{
		Key: "appointment_cancellation_reason", Plural: "appointment_cancellation_reasons", Scope: "appointment", Doc: "Reasons for cancelling appointments.", Verbs: readable,
		Filters: []apispec.Filter{
			{Param: "archived", Doc: "true for archived reasons only, false for others only."},
			{Param: "reason_type", Doc: "Of this type."},
		},
	}}
}
