package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"chairside/internal/apispec"
)

// Recall is an invitation of a patient to an exam or a hygiene visit.
type Recall struct{ ent.Schema }

// Mixin of Recall.
func (Recall) Mixin() []ent.Mixin { return []ent.Mixin{tenant{site: throughPatient}, timestamps{}} }

// Fields of Recall.
func (Recall) Fields() []ent.Field {
	return []ent.Field{
		intID(),
		intRef("patient_id", "The patient. Cannot be changed.", required(apispec.Field{Write: true, CreateOnly: true})),
		optionalIntRef("practitioner_id", "The practitioner to see; null for the patient's dentist or hygienist.", written()),
		field.Enum("recall_type").GoType(RecallType("")).Comment("exam or hygiene.").Annotations(required(written())),
		date("due_on", "Day from which the patient should be seen.", required(written())),
		field.Enum("method").GoType(RecallMethod("")).Optional().Nillable().Comment("How to contact the patient; null for the patient's preferred method.").Annotations(written()),
		field.Enum("status").GoType(RecallStatus("")).Default(string(RecallDue)).Comment("due, contacted, booked, completed or cancelled. The recalls report lists a recall until it is completed or cancelled.").Annotations(createDefault(written())),
		optionalTimestamp("contacted_at", "When the patient was last contacted. Default: when the status became contacted.", written()),
		optionalIntRef("appointment_id", "The patient's appointment that the recall led to; null after it is deleted.", apispec.Field{Write: true, Same: "patient_id"}),
	}
}

// Edges of Recall.
func (Recall) Edges() []ent.Edge {
	return []ent.Edge{
		link("patient", Patient.Type, "patient_id"),
		optionalLink("practitioner", Practitioner.Type, "practitioner_id"),
		optionalLink("appointment", Appointment.Type, "appointment_id"),
	}
}

// Indexes of Recall.
func (Recall) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("practice_id", "due_on", "id"),                                                 // due_after, due_before; sort_by=due_on
		index.Fields("practice_id", "patient_id", "id"),                                             // patient_id; the recalls report
		index.Fields("practice_id", "practitioner_id", "id"),                                        // practitioner_id
		index.Fields("practice_id", "status", "id"),                                                 // status
		index.Fields("practice_id", "recall_type", "id"),                                            // recall_type
		index.Fields("appointment_id").Annotations(entsql.IndexWhere("appointment_id IS NOT NULL")), // deletion of the appointment
	}
}

// viewRecall is what analysts see.
var viewRecall = apispec.View{
	Shown: []string{
		"id", "patient_id", "practitioner_id", "recall_type", "due_on", "method", "status", "contacted_at",
		"appointment_id", "created_at", "updated_at",
	},
}

// Annotations of Recall.
func (Recall) Annotations() []schema.Annotation {
	return []schema.Annotation{viewRecall, apispec.Checks{{Name: "contacted_has_time", SQL: "status <> 'contacted' OR contacted_at IS NOT NULL"}}, apispec.Resource{
		Key: "recall", Plural: "recalls", Scope: "patient", Doc: "Recalls of patients for exams and hygiene visits.",
		Counters:      everyRow,
		Verbs:         []apispec.Verb{apispec.Get, apispec.List, apispec.Create, apispec.Update, apispec.Delete},
		ExampleCreate: []string{"method"},
		ExampleUpdate: []string{"due_on", "method"},
		Descriptions: map[apispec.Verb]string{
			apispec.Create: "The recalls report uses the due dates of recalls that are neither completed nor cancelled.",
			apispec.Update: "Changes only the fields sent; null clears an optional field. The status contacted sets contacted_at unless it is sent.",
		},
		Filters: []apispec.Filter{
			{Param: "status", Doc: "In this status."},
			{Param: "recall_type", Doc: "Of this type."},
			{Param: "due_after", Column: "due_on", Op: "GTE", Doc: "Due on or after this day."},
			{Param: "due_before", Column: "due_on", Op: "LTE", Doc: "Due on or before this day."},
		},
		Sorts: []apispec.Sort{{Key: "due_on"}},
	}}
}

// RecallType is the visit that a patient is recalled for.
type RecallType string

// The types.
const (
	RecallExam    RecallType = "exam"
	RecallHygiene RecallType = "hygiene"
)

// Values lists the types for ent.
func (RecallType) Values() []string { return []string{"exam", "hygiene"} }

// RecallStatus is the progress of a recall.
type RecallStatus string

// The statuses.
const (
	RecallDue       RecallStatus = "due"
	RecallContacted RecallStatus = "contacted"
	RecallBooked    RecallStatus = "booked"
	RecallCompleted RecallStatus = "completed"
	RecallCancelled RecallStatus = "cancelled"
)

// Values lists the statuses for ent.
func (RecallStatus) Values() []string {
	return []string{"due", "contacted", "booked", "completed", "cancelled"}
}

// Open reports whether the patient is still to be seen. The recalls report lists open recalls
// only (decision 15).
func (s RecallStatus) Open() bool { return s != RecallCompleted && s != RecallCancelled }
