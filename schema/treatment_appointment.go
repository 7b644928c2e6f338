package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/index"

	"chairside/internal/apispec"
)

// TreatmentAppointment is one visit that a treatment plan needs. Once the visit is booked, it
// has an appointment.
type TreatmentAppointment struct{ ent.Schema }

// Mixin of TreatmentAppointment.
func (TreatmentAppointment) Mixin() []ent.Mixin {
	return []ent.Mixin{tenant{site: throughPatient}, timestamps{}}
}

// Fields of TreatmentAppointment.
func (TreatmentAppointment) Fields() []ent.Field {
	return []ent.Field{
		intID(),
		intRef("treatment_plan_id", "The treatment plan."),
		intRef("patient_id", "The patient."),
		count("position", "Position among the visits of the plan, from 1.", apispec.Field{Min: bound(1), Example: "1"}),
		optionalIntRef("appointment_id", "The appointment; null until the visit is booked, and after the appointment is deleted."),
		optionalText("notes", "Notes.", apispec.Field{Example: "Crown 16"}),
		boolTrue("bookable", "Whether the visit can be booked."),
	}
}

// Edges of TreatmentAppointment.
func (TreatmentAppointment) Edges() []ent.Edge {
	return []ent.Edge{
		link("treatment_plan", TreatmentPlan.Type, "treatment_plan_id"),
		link("patient", Patient.Type, "patient_id"),
		optionalLink("appointment", Appointment.Type, "appointment_id"),
	}
}

// Indexes of TreatmentAppointment.
func (TreatmentAppointment) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("practice_id", "patient_id", "id"),                                             // patient_id
		index.Fields("practice_id", "treatment_plan_id", "id"),                                      // treatment_plan_id
		index.Fields("appointment_id").Annotations(entsql.IndexWhere("appointment_id IS NOT NULL")), // deletion of the appointment
	}
}

// Annotations of TreatmentAppointment.
func (TreatmentAppointment) Annotations() []schema.Annotation {
	return []schema.Annotation{apispec.Resource{
		Key: "treatment_appointment", Plural: "treatment_appointments", Scope: "appointment", Doc: "Visits that treatment plans need.", Verbs: readable,
		Counters: everyRow,
		Filters:  []apispec.Filter{{Param: "treatment_plan_id", Doc: "Of this treatment plan."}},
		Sorts:    []apispec.Sort{{Key: "position"}},
	}}
}
