package schema

import (
	"fmt"

	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"chairside/internal/apispec"
	"chairside/internal/apispec/limit"
	"chairside/internal/codec"
)

// Appointment is an entry in the diary: a patient's visit, or a break.
type Appointment struct{ ent.Schema }

// Mixin of Appointment.
func (Appointment) Mixin() []ent.Mixin {
	return []ent.Mixin{tenant{site: throughDentist}, timestamps{}}
}

// Fields of Appointment.
func (Appointment) Fields() []ent.Field {
	fields := []ent.Field{
		intID(),
		timestamp("start_time", "Start.", required(written())),
		timestamp("finish_time", "End: after the start, at most 24 hours later.", required(apispec.Field{Write: true, Example: apispec.ExampleAt("10:00")})),
		field.Int("duration").Comment("Length in minutes.").Annotations(apispec.Field{Min: bound(0), Max: bound(1440), Example: "30"}),
		intRef("practitioner_id", "The practitioner; must be active.", required(apispec.Field{Write: true, Active: true})),
		optionalIntRef("patient_id", "The patient; null for a break or another entry without one.", written()),
		text("reason", reasonDoc, required(apispec.Field{Write: true, MaxRunes: shortText, Example: "Exam"})),
		field.Enum("state").GoType(AppointmentState("")).Default(string(Pending)).Comment("State of the visit.").Annotations(createDefault(written())),
		optionalText("notes", "Notes.", written(longText)),
		optionalText("treatment_description", "Short summary of the treatment performed."),
		optionalUUIDRef("room_id", "The room."),
		optionalIntRef("user_id", "The user who created it."),
		boolFalse("booked_via_api", "Whether it was booked through an API client."),
		optionalUUIDRef("appointment_cancellation_reason_id", "Why it was cancelled: one of the practice's cancellation reasons that is not archived. Only for cancelled appointments; leaving Cancelled clears it.", apispec.Field{Write: true, Active: true, Example: "null"}),
		metadata(),
	}
	for _, s := range stamps {
		fields = append(fields, optionalTimestamp(s.Column, s.Doc))
	}
	return fields
}

// Edges of Appointment.
func (Appointment) Edges() []ent.Edge {
	return []ent.Edge{
		back("practitioner", Practitioner.Type, "appointments", "practitioner_id"),
		optionalBack("patient", Patient.Type, "appointments", "patient_id"),
		optionalLink("room", Room.Type, "room_id"),
		optionalLink("user", User.Type, "user_id"),
		optionalLink("cancellation_reason", AppointmentCancellationReason.Type, "appointment_cancellation_reason_id"),
	}
}

// listed selects the appointments that lists show unless cancelled=true.
const listed = "cancelled_at IS NULL AND did_not_attend_at IS NULL"

// Indexes of Appointment.
func (Appointment) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("practice_id", "start_time", "id").Annotations(entsql.IndexWhere(listed)), // default list; on, before, after
		// practitioner_id; overlap check, availability and diary report, without reading the table
		index.Fields("practice_id", "practitioner_id", "start_time", "id").StorageKey("appointment_diary").Annotations(entsql.IncludeColumns("finish_time", "state", "patient_id", "cancelled_at")),
		index.Fields("practice_id", "patient_id", "start_time", "id"),                                                                          // patient_id
		index.Fields("practice_id", "room_id", "start_time", "id"),                                                                             // room_id
		index.Fields("practice_id", "state", "start_time", "id"),                                                                               // state with cancelled=true
		index.Fields("practice_id", "state", "start_time", "id").StorageKey("appointment_listed_state").Annotations(entsql.IndexWhere(listed)), // state
		index.Fields("practice_id", "state", "id").Annotations(entsql.IndexWhere(listed)),                                                      // sort_by=state
		// cancelled=true; reports of a period, without reading the table
		index.Fields("practice_id", "start_time", "id").StorageKey("appointment_started").Annotations(entsql.IncludeColumns("state", "patient_id", "practitioner_id", "duration")),
		index.Fields("practice_id", "finish_time", "id"), // sort_by=finish_time
	}
}

// Hooks of Appointment.
func (Appointment) Hooks() []ent.Hook {
	return []ent.Hook{onChange(deriveDuration(), deriveStateStamp(), checkMetadata())}
}

// viewAppointment is what analysts see.
var viewAppointment = apispec.View{
	Shown: []string{
		"id", "start_time", "finish_time", "duration", "practitioner_id", "patient_id", "reason", "state", "room_id",
		"user_id", "booked_via_api", "appointment_cancellation_reason_id", "pending_at", "confirmed_at", "arrived_at",
		"in_surgery_at", "completed_at", "cancelled_at", "did_not_attend_at", "created_at", "updated_at",
	},
	Withheld: []string{"notes", "treatment_description", "metadata"},
}

// Annotations of Appointment.
func (Appointment) Annotations() []schema.Annotation {
	return []schema.Annotation{
		viewAppointment,
		apispec.Checks{
			{Name: "finishes_after_start", SQL: "finish_time > start_time"},
			{Name: "lasts_a_day_at_most", SQL: fmt.Sprintf("milliseconds(start_time, finish_time) <= %d", LongestAppointment.Milliseconds())},
			{Name: "duration", SQL: "duration = minutes(start_time, finish_time)"},
			{Name: "state_is_stamped", SQL: stampCheck()},
			// There is no such rule for did_not_attend_at: in records from other systems it may
			// be set in any state.
			{Name: "cancelled", SQL: "(state = 'Cancelled') = (cancelled_at IS NOT NULL)"},
			{Name: "only_cancelled_has_a_reason", SQL: "appointment_cancellation_reason_id IS NULL OR state = 'Cancelled'"},
		},
		apispec.Resource{
			Key: "appointment", Plural: "appointments", Scope: "appointment", Doc: "The diary.",
			Verbs:         []apispec.Verb{apispec.Get, apispec.List, apispec.Create, apispec.Update, apispec.Delete},
			Handwritten:   []apispec.Verb{apispec.List},
			ExampleCreate: []string{"patient_id", "notes"},
			ExampleUpdate: []string{"notes", "metadata"},
			Conflict: &apispec.Conflict{Doc: "The practitioner is booked at that time.", Code: "double_booking", Members: []apispec.Computed{
				{Name: "id", Kind: codec.ID, Doc: "The overlapping appointment."},
				{Name: "start_time", Kind: codec.Time, Doc: "Its start."},
				{Name: "finish_time", Kind: codec.Time, Doc: "Its end."},
			}, Lists: []apispec.Computed{
				{Name: "holds", Doc: "Overlapping slots that other clients hold, if any.", Objects: &apispec.Objects{Item: "HeldSlot", Members: []apispec.Computed{
					{Name: "start_time", Kind: codec.Time, Doc: "Start of the held slot."},
					{Name: "finish_time", Kind: codec.Time, Doc: "Its end.", Example: apispec.ExampleAt("10:00")},
					{Name: "expires_at", Kind: codec.Time, Doc: "When it is free again unless it is booked."},
				}}},
				{Name: "alternatives", Doc: "The practitioner's next free slots of the same length, at most 3 within 14 days.", Objects: &apispec.Objects{Item: "Alternative", Members: []apispec.Computed{
					{Name: "start_time", Kind: codec.Time, Doc: "Start of the slot."},
					{Name: "finish_time", Kind: codec.Time, Doc: "Its end."},
					{Name: "practitioner_id", Kind: codec.ID, Doc: "The practitioner."},
				}}},
			}},
			Descriptions: map[apispec.Verb]string{
				apispec.List:   "Omits cancelled appointments and those that the patient did not attend, unless cancelled is true.",
				apispec.Create: "Availability lists the free slots of practitioners. Returns 409 with the conflicts if the practitioner is booked at that time, unless force_changes is true.",
				apispec.Update: "Changes only the fields sent. A new state sets its timestamp. To cancel, set the state to Cancelled, and appointment_cancellation_reason_id to say why. New times, another practitioner, or a return from Cancelled or Did not attend are checked for double booking.",
				apispec.Delete: "Removes the appointment. To cancel it, set the state to Cancelled.",
			},
			Filters: []apispec.Filter{
				{Param: "on", Column: "start_time", Kind: codec.Day, Handwritten: true, Doc: "On this local day."},
				{Param: "before", Column: "start_time", Op: "LT", Doc: "Starting before this time."},
				{Param: "after", Column: "start_time", Op: "GTE", Doc: "Starting at or after this time."},
				{Param: "practitioner_id", Doc: "With this practitioner."},
				{Param: "room_id", Doc: "In this room."},
				{Param: "site_id", Edge: "practitioner", Doc: "With practitioners of this site."},
				{Param: "state", Doc: "In this state. Cancelled appointments also need cancelled=true."},
				{Param: "cancelled", Kind: codec.Boolean, Handwritten: true, Doc: "true includes cancelled appointments and those that the patient did not attend."},
			},
			Sorts: []apispec.Sort{{Key: "start_time"}, {Key: "finish_time"}, {Key: "state"}},
			Order: "start_time",
			Counters: []apispec.Counter{
				{Name: "listed", Where: listed, Unless: "cancelled"},
				{Name: "practitioner", By: "practitioner_id", Where: listed, Unless: "cancelled"},
				{Name: "day", Day: "start_time", Where: listed, Unless: "cancelled"},
				{Name: "all"},
			},
			Computed: []apispec.Computed{
				{Name: "patient_name", Kind: codec.Text, Nullable: true, Edge: "patient", Columns: []string{"first_name", "last_name"}, Func: "FullName", Doc: "First and last name of the patient."},
				{Name: "patient_image_url", Kind: codec.Avatar, Nullable: true, Edge: "patient", Doc: "URL of the patient's picture."},
				{Name: "payment_plan_id", Kind: codec.ID, Nullable: true, Edge: "patient", Columns: []string{"payment_plan_id"}, Doc: "The patient's payment plan."},
			},
			BodyFields: []apispec.BodyField{
				{Name: "force_changes", Kind: codec.Boolean, Null: "false", Doc: "true books even if the practitioner is booked at that time."},
				{Name: "hold_id", Kind: codec.UUID, Null: `"00000000-0000-0000-0000-000000000000"`, Doc: "The hold of this token that the booking takes: of the same practitioner, covering the times, not expired."},
			},
			Operations: []apispec.Operation{{
				ID: "listAvailability", Path: "/appointments/availability", Key: "availability", Item: "AvailabilitySlot", MaxPage: 20,
				Doc:         "List the available slots of practitioners.",
				Description: "Slots are working sessions minus appointments and held slots. A slot is all of the free time between two of them: book any part of it. For practitioners without working sessions, the practice's opening hours apply. Ordered by start, then practitioner.",
				Params: []apispec.Filter{
					{Param: "start_time", Kind: codec.Time, Handwritten: true, Required: true, Example: apispec.ExampleAt("09:00"), Doc: "Start of the window; required, must be in the future."},
					{Param: "finish_time", Kind: codec.Time, Handwritten: true, Required: true, Example: apispec.ExampleAt("17:00"), Doc: "End of the window; required, after start_time and at most 366 days later."},
					{Param: "practitioner_ids", Kind: codec.ID, Op: "IN", Handwritten: true, Required: true, Doc: "The practitioners; required. Send as practitioner_ids[]."},
					{Param: "duration", Kind: codec.Integer, Handwritten: true, Example: "30", Doc: "Shortest slot in minutes. Default: the practice's minimum appointment duration."},
				},
				Members: []apispec.Computed{
					{Name: "start_time", Kind: codec.Time, Doc: "Start of the slot."},
					{Name: "finish_time", Kind: codec.Time, Doc: "End of the slot."},
					{Name: "available_duration", Kind: codec.Integer, Doc: "Length in minutes."},
					{Name: "practitioner_id", Kind: codec.ID, Doc: "The practitioner."},
				},
			}, rota},
		},
	}
}

// rota is the operation that lists the working days of practitioners.
var rota = apispec.Operation{
	ID: "listRotaPractitionerDiaries", Path: "/rota_practitioner_diaries", Key: "rota_practitioner_diaries", Item: "RotaPractitionerDiary", Counted: true,
	Doc:         "List the working days of practitioners.",
	Description: "One record for each practitioner and day, ordered by day, then practitioner. For practitioners without working sessions, the practice's opening hours apply. Appointments do not count: see availability.",
	Params: []apispec.Filter{
		{Param: "after", Kind: codec.Time, Handwritten: true, Required: true, Example: apispec.ExampleAt("09:00"), Doc: "Start of the window; required."},
		{Param: "before", Kind: codec.Time, Handwritten: true, Required: true, Example: apispec.ExampleAt("17:00"), Doc: "End of the window; required, after the start and at most 366 days later. A day that overlaps the window is listed."},
		{Param: "practitioner_id", Kind: codec.ID, Handwritten: true, Doc: "Of this practitioner."},
		{Param: "site_id", Kind: codec.UUID, Handwritten: true, Doc: "Of practitioners of this site."},
		{Param: "include_inactive_practitioners", Kind: codec.Boolean, Handwritten: true, Doc: "true includes inactive practitioners, who are unavailable every day."},
	},
	Members: []apispec.Computed{
		{Name: "practitioner_id", Kind: codec.ID, Doc: "The practitioner."},
		{Name: "day", Kind: codec.Date, Doc: "The local day."},
		{Name: "start_time", Kind: codec.Time, Nullable: true, Doc: "Start of work; null if the practitioner is unavailable."},
		{Name: "end_time", Kind: codec.Time, Nullable: true, Doc: "End of work; null if the practitioner is unavailable."},
		{Name: "unavailable", Kind: codec.Boolean, Doc: "Whether the practitioner does not work on this day."},
		{Name: "breaks", Kind: codec.Object, Doc: "Times between working sessions.", Objects: &apispec.Objects{Item: "RotaBreak", Members: []apispec.Computed{
			{Name: "id", Kind: codec.UUID, Doc: "The working session after the break."},
			{Name: "name", Kind: codec.Text, Doc: "Name of the break.", Example: `"Break"`},
			{Name: "start_time", Kind: codec.Time, Doc: "Start of the break."},
			{Name: "end_time", Kind: codec.Time, Doc: "End of the break."},
		}}},
	},
}

// AppointmentReason is one of the practice's own appointment reasons.
type AppointmentReason struct{ ent.Schema }

// Mixin of AppointmentReason.
func (AppointmentReason) Mixin() []ent.Mixin { return []ent.Mixin{tenant{}, timestamps{}} }

// Fields of AppointmentReason.
func (AppointmentReason) Fields() []ent.Field {
	return []ent.Field{
		uuidID(),
		text("reason", "Name of the reason.", apispec.Field{Example: "Exam"}),
		optionalText("colour", "Colour of the diary entry.", apispec.Field{Format: limit.Colour, Example: "#3b82f6"}),
		boolFalse("deleted", "Whether the reason is hidden."),
		boolFalse("exam", "Whether it is a dental appointment."),
		boolFalse("hygiene", "Whether it is a hygienist's appointment."),
		count("position", "Position in the list of reasons."),
	}
}

// Indexes of AppointmentReason.
func (AppointmentReason) Indexes() []ent.Index {
	return []ent.Index{index.Fields("practice_id", "position", "id")} // default order
}

// Annotations of AppointmentReason.
func (AppointmentReason) Annotations() []schema.Annotation {
	return []schema.Annotation{apispec.Resource{
		Key: "appointment_reason", Plural: "appointment_reasons", Scope: "appointment", Doc: "Reasons for appointments.", Verbs: readable,
		Filters: []apispec.Filter{{Param: "deleted", Doc: "true for deleted reasons only, false for others only."}},
		Sorts:   []apispec.Sort{{Key: "position"}}, Order: "position",
	}}
}
