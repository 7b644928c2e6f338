package schema

import (
	"time"

	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"chairside/internal/apispec"
	"chairside/internal/codec"
)

// WaitingList is an entry of the waiting list: a patient who would take an earlier appointment.
type WaitingList struct{ ent.Schema }

// Mixin of WaitingList.
func (WaitingList) Mixin() []ent.Mixin {
	return []ent.Mixin{tenant{site: throughPatient}, timestamps{}}
}

// weekdays are the names of the days, as in opening_hours.
func weekdays() (names []string) {
	for i := range 7 {
		names = append(names, time.Weekday((i+1)%7).String())
	}
	return names
}

// Fields of WaitingList.
func (WaitingList) Fields() []ent.Field {
	minutes, urgency := between(1, 1440), between(0, 9)
	minutes.Write, minutes.Example = true, "30"
	urgency.Write = true
	return []ent.Field{
		intID(),
		intRef("patient_id", "The patient. Cannot be changed.", required(apispec.Field{Write: true, CreateOnly: true})),
		optionalIntRef("practitioner_id", "The practitioner, who must be active; null for any.", apispec.Field{Write: true, Active: true}),
		optionalText("appointment_reason", reasonDoc, apispec.Field{Write: true, MaxRunes: shortText, Example: "Exam"}),
		optionalCount("duration", "Length of the appointment in minutes, 1 to 1440.", minutes),
		optionalDate("from_date", "First day that suits the patient; null for any.", written()),
		optionalDate("to_date", "Last day that suits the patient, not before from_date; null for any.", written()),
		field.JSON("days", []string{}).Default([]string{}).Comment("Weekdays that suit the patient, in their order; empty for any.").
			Annotations(apispec.Field{Write: true, Kind: codec.Strings, Values: weekdays(), Example: `["Monday", "Thursday"]`}),
		boolTrue("mornings", "Whether mornings suit the patient.", createDefault(written())),
		boolTrue("afternoons", "Whether afternoons suit the patient.", createDefault(written())),
		optionalText("notes", "Notes.", written(longText)),
		field.Int("priority").Default(0).Comment("Urgency from 0 to 9; 9 is the most urgent.").Annotations(createDefault(urgency)),
		optionalIntRef("appointment_id", "The patient's appointment that the entry led to; null after it is deleted.", apispec.Field{Write: true, Same: "patient_id"}),
		optionalTimestamp("removed_at", "When the entry was removed; null puts it back.", written()),
	}
}

// Edges of WaitingList.
func (WaitingList) Edges() []ent.Edge {
	return []ent.Edge{
		link("patient", Patient.Type, "patient_id"),
		optionalLink("practitioner", Practitioner.Type, "practitioner_id"),
		optionalLink("appointment", Appointment.Type, "appointment_id"),
	}
}

// isWaiting selects the entries that still wait for an appointment.
const isWaiting = "removed_at IS NULL AND appointment_id IS NULL"

// Indexes of WaitingList.
func (WaitingList) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("practice_id", "patient_id", "id"),                                             // patient_id
		index.Fields("practice_id", "practitioner_id", "id"),                                        // practitioner_id
		index.Fields("practice_id", "priority", "id"),                                               // sort_by=priority
		index.Fields("appointment_id").Annotations(entsql.IndexWhere("appointment_id IS NOT NULL")), // deletion of the appointment
	}
}

// Annotations of WaitingList.
func (WaitingList) Annotations() []schema.Annotation {
	return []schema.Annotation{
		apispec.Checks{{Name: "ends_after_start", SQL: "to_date IS NULL OR from_date IS NULL OR to_date >= from_date"}},
		apispec.Resource{
			Key: "waiting_list", Plural: "waiting_lists", Scope: "appointment", Doc: "Entries of the waiting list: patients who would take an earlier appointment.",
			Verbs:         []apispec.Verb{apispec.Get, apispec.List, apispec.Create, apispec.Update, apispec.Delete},
			ExampleCreate: []string{"practitioner_id", "appointment_reason", "duration", "days"},
			ExampleUpdate: []string{"days", "mornings", "notes"},
			Archive:       "removed_at",
			Descriptions: map[apispec.Verb]string{
				apispec.Delete: "Removes the entry from the waiting list: sets removed_at. It can still be read, and put back with removed_at null.",
			},
			Counters: everyRow,
			Filters: []apispec.Filter{
				{Param: "practitioner_id", Doc: "For this practitioner."},
				{Param: "active", Kind: codec.Boolean, Where: isWaiting, Doc: "true for entries without an appointment that have not been removed, false for the others."},
			},
			Sorts: []apispec.Sort{{Key: "priority"}},
		},
	}
}
