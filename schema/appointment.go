package schema

import (
	"fmt"

	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"chairside/internal/contract"
	"chairside/internal/limit"
	"chairside/internal/wire"
)

// Appointment is an entry of the diary: a patient's visit, or a break.
type Appointment struct{ ent.Schema }

// Mixin of Appointment.
func (Appointment) Mixin() []ent.Mixin {
	return []ent.Mixin{tenant{site: throughDentist}, timestamps{}}
}

// Fields of Appointment.
func (Appointment) Fields() []ent.Field {
	fields := []ent.Field{
		number(),
		moment("start_time", "When it starts.", required(written())),
		moment("finish_time", "When it ends: after the start, at most 24 hours later.", required(contract.Field{Write: true, Example: `"2026-07-01T10:00:00.000+01:00"`})),
		field.Int("duration").Comment("Minutes between start and finish.").Annotations(contract.Field{Min: bound(0), Max: bound(1440), Example: "30"}),
		to("practitioner_id", "Whose diary it is in; an active practitioner.", required(contract.Field{Write: true, Active: true})),
		optionalTo("patient_id", "The patient; null for a break or another entry without one.", written()),
		text("reason", "One of the seven common reasons, or the name of one of the practice's own.", required(contract.Field{Write: true, MaxRunes: shortText, Example: "Exam"})),
		field.Enum("state").GoType(AppointmentState("")).Default(string(Pending)).Comment("Where the visit has got to.").Annotations(stays(written())),
		optionalText("notes", "Notes.", written(longText)),
		optionalText("treatment_description", "Short summary of the treatment performed."),
		optionalToUnique("room_id", "The room."),
		optionalTo("user_id", "The user who created it."),
		no("booked_via_api", "Whether it was booked through an API client."),
		metadata(),
	}
	for _, s := range stamps {
		fields = append(fields, optionalMoment(s.Column, s.Doc))
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
	}
}

// listed are the appointments that lists show unless cancelled=true.
const listed = "cancelled_at IS NULL AND did_not_attend_at IS NULL"

// Indexes of Appointment.
func (Appointment) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("practice_id", "start_time", "id").Annotations(entsql.IndexWhere(listed)), // default list; on, before, after
		// practitioner_id; overlap check, availability and the diary report, which need not look at the table
		index.Fields("practice_id", "practitioner_id", "start_time", "id").StorageKey("appointment_diary").Annotations(entsql.IncludeColumns("finish_time", "state", "patient_id", "cancelled_at")),
		index.Fields("practice_id", "patient_id", "start_time", "id"),                                                                          // patient_id
		index.Fields("practice_id", "room_id", "start_time", "id"),                                                                             // room_id
		index.Fields("practice_id", "state", "start_time", "id"),                                                                               // state with cancelled=true
		index.Fields("practice_id", "state", "start_time", "id").StorageKey("appointment_listed_state").Annotations(entsql.IndexWhere(listed)), // state
		index.Fields("practice_id", "state", "id").Annotations(entsql.IndexWhere(listed)),                                                      // sort_by=state
		index.Fields("practice_id", "start_time", "id").StorageKey("appointment_all_start"),                                                    // cancelled=true
		index.Fields("practice_id", "finish_time", "id"),                                                                                       // sort_by=finish_time
	}
}

// Hooks of Appointment.
func (Appointment) Hooks() []ent.Hook { return []ent.Hook{measure(), stampState(), limitMetadata()} }

// Annotations of Appointment.
func (Appointment) Annotations() []schema.Annotation {
	return []schema.Annotation{
		contract.Checks{
			{Name: "finishes_after_start", SQL: "finish_time > start_time"},
			{Name: "lasts_a_day_at_most", SQL: fmt.Sprintf("milliseconds(start_time, finish_time) <= %d", LongestAppointment.Milliseconds())},
			{Name: "duration", SQL: "duration = minutes(start_time, finish_time)"},
			{Name: "state_is_stamped", SQL: stampOfState()},
			// A did-not-attend date may outlive its state: records of other systems have it so.
			{Name: "cancelled", SQL: "(state = 'Cancelled') = (cancelled_at IS NOT NULL)"},
		},
		contract.Resource{
			Key: "appointment", Plural: "appointments", Scope: "appointment", Doc: "The diary.",
			Verbs:  []contract.Verb{contract.Get, contract.List, contract.Create, contract.Update, contract.Delete},
			Manual: []contract.Verb{contract.List},
			Conflict: &contract.Conflict{Code: "double_booking", Doc: "The practitioner is booked at that time.", Members: []contract.Computed{
				{Name: "id", Kind: wire.ID, Doc: "The appointment in the way."},
				{Name: "start_time", Kind: wire.Time, Doc: "Its start."},
				{Name: "finish_time", Kind: wire.Time, Doc: "Its end."},
			}},
			Rules: map[contract.Verb]string{
				contract.List:   "Cancelled and not attended appointments are left out unless cancelled is true.",
				contract.Create: "Refused with 409 and the conflicts when the practitioner is booked at that time, unless force_changes is true.",
				contract.Update: "Only what is sent changes. A state that is entered sets its timestamp; set the state Cancelled to cancel. New times, another practitioner, or a return from Cancelled or Did not attend are checked for double booking.",
				contract.Delete: "For removal only: to cancel, set the state Cancelled.",
			},
			Filters: []contract.Filter{
				{Param: "on", Column: "start_time", Kind: wire.Day, Manual: true, Doc: "On this local day."},
				{Param: "before", Column: "start_time", Op: "LT", Doc: "Starting before this time."},
				{Param: "after", Column: "start_time", Op: "GTE", Doc: "Starting at or after this time."},
				{Param: "practitioner_id", Doc: "With this practitioner."},
				{Param: "room_id", Doc: "In this room."},
				{Param: "site_id", Edge: "practitioner", Doc: "With practitioners of this site."},
				{Param: "state", Doc: "In this state; does not by itself include cancelled ones."},
				{Param: "cancelled", Kind: wire.Boolean, Manual: true, Doc: "True includes cancelled and not attended appointments."},
			},
			Sorts: []contract.Sort{{Key: "start_time"}, {Key: "finish_time"}, {Key: "state"}},
			Order: "start_time",
			Kept: []contract.Kept{
				{Name: "listed", Where: listed, Unless: "cancelled"},
				{Name: "practitioner", By: "practitioner_id", Where: listed, Unless: "cancelled"},
				{Name: "day", Day: "start_time", Where: listed, Unless: "cancelled"},
				{Name: "all"},
			},
			Computed: []contract.Computed{
				{Name: "patient_name", Kind: wire.Text, Nullable: true, Edge: "patient", Columns: []string{"first_name", "last_name"}, Func: "FullName", Doc: "First and last name of the patient."},
				{Name: "patient_image_url", Kind: wire.Avatar, Nullable: true, Edge: "patient", Doc: "Address of a picture of the patient."},
				{Name: "payment_plan_id", Kind: wire.ID, Nullable: true, Edge: "patient", Columns: []string{"payment_plan_id"}, Doc: "The plan the patient is on."},
			},
			Extra: []contract.Extra{{Name: "force_changes", Kind: wire.Boolean, Null: "false", Doc: "True books although the practitioner is booked already."}},
			Others: []contract.Other{{
				ID: "listAvailability", Path: "/appointments/availability", Key: "availability", Item: "AvailabilitySlot", MaxPage: 20,
				Doc:   "List the free periods of practitioners.",
				Rules: "Free are working sessions, or the practice's opening hours for practitioners without any, less what is booked. Ordered by start, then practitioner.",
				Params: []contract.Filter{
					{Param: "start_time", Kind: wire.Time, Manual: true, Needed: true, Doc: "Start of the window; required, in the future."},
					{Param: "finish_time", Kind: wire.Time, Manual: true, Needed: true, Doc: "End of the window; required, after start_time, at most 366 days later."},
					{Param: "practitioner_ids", Kind: wire.ID, Op: "IN", Manual: true, Needed: true, Doc: "Whose periods; required. Sent as practitioner_ids[]."},
					{Param: "duration", Kind: wire.Integer, Manual: true, Doc: "Shortest period in minutes; the practice's minimum appointment duration when left out."},
				},
				Members: []contract.Computed{
					{Name: "start_time", Kind: wire.Time, Doc: "Start of the free period."},
					{Name: "finish_time", Kind: wire.Time, Doc: "End of the free period."},
					{Name: "available_duration", Kind: wire.Integer, Doc: "Length in minutes."},
					{Name: "practitioner_id", Kind: wire.ID, Doc: "Who is free."},
				},
			}},
		},
	}
}

// AppointmentReason is a reason of the practice's own.
type AppointmentReason struct{ ent.Schema }

// Mixin of AppointmentReason.
func (AppointmentReason) Mixin() []ent.Mixin { return []ent.Mixin{tenant{}, timestamps{}} }

// Fields of AppointmentReason.
func (AppointmentReason) Fields() []ent.Field {
	return []ent.Field{
		unique(),
		text("reason", "Name of the reason.", contract.Field{Example: "Exam"}),
		optionalText("colour", "Colour of the diary entry.", contract.Field{Form: limit.Colour, Example: "#3b82f6"}),
		no("deleted", "Whether the reason is hidden."),
		no("exam", "Whether it is a dental appointment."),
		no("hygiene", "Whether it is a hygienist's appointment."),
		count("position", "Place in the list of reasons."),
	}
}

// Indexes of AppointmentReason.
func (AppointmentReason) Indexes() []ent.Index {
	return []ent.Index{index.Fields("practice_id", "position", "id")} // default order
}

// Annotations of AppointmentReason.
func (AppointmentReason) Annotations() []schema.Annotation {
	return []schema.Annotation{contract.Resource{
		Key: "appointment_reason", Plural: "appointment_reasons", Scope: "appointment", Doc: "Reasons for appointments.", Verbs: readable,
		Filters: []contract.Filter{{Param: "deleted", Doc: "Only deleted reasons, or only others."}},
		Sorts:   []contract.Sort{{Key: "position"}}, Order: "position",
	}}
}
