package schema

import (
	"fmt"
	"time"

	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
	"github.com/google/uuid"

	"chairside/internal/apispec"
	"chairside/internal/codec"
)

// LongestHold is the longest time for which a slot is held, and the default.
const LongestHold = 10 * time.Minute

// AppointmentHold keeps a slot of a practitioner for one client until it books or the hold
// expires. Expired holds do not count; the practitioner's next hold deletes them.
type AppointmentHold struct{ ent.Schema }

// Mixin of AppointmentHold.
func (AppointmentHold) Mixin() []ent.Mixin { return []ent.Mixin{tenant{site: throughDentist}} }

// Fields of AppointmentHold.
func (AppointmentHold) Fields() []ent.Field {
	return []ent.Field{
		uuidID(),
		intRef("practitioner_id", "The practitioner; must be active.", required(apispec.Field{Write: true, Active: true})),
		timestamp("start_time", "Start of the slot.", required(example(written(), apispec.ExampleAt("11:00")))),
		timestamp("finish_time", "End of the slot: after the start, at most 24 hours later.", required(apispec.Field{Write: true, Example: apispec.ExampleAt("11:30")})),
		timestamp("expires_at", "When the hold ends."),
		field.UUID("token_id", uuid.UUID{}).Immutable().Comment("The token that may book the slot.").Annotations(apispec.Hidden()),
	}
}

// Edges of AppointmentHold.
func (AppointmentHold) Edges() []ent.Edge {
	return []ent.Edge{link("practitioner", Practitioner.Type, "practitioner_id")}
}

// Indexes of AppointmentHold.
func (AppointmentHold) Indexes() []ent.Index {
	return []ent.Index{index.Fields("practice_id", "practitioner_id", "start_time")} // overlap check, availability
}

// Annotations of AppointmentHold.
func (AppointmentHold) Annotations() []schema.Annotation {
	return []schema.Annotation{
		apispec.Checks{
			{Name: "finishes_after_start", SQL: "finish_time > start_time"},
			{Name: "lasts_a_day_at_most", SQL: fmt.Sprintf("milliseconds(start_time, finish_time) <= %d", LongestAppointment.Milliseconds())},
		},
		apispec.Resource{
			Key: "hold", Plural: "appointment_holds", Path: "appointments/holds", Scope: "appointment", DeleteScope: "create", Doc: "Slots kept for a booking.", NotInFeed: "they expire after ten minutes",
			Verbs:      []apispec.Verb{apispec.Get, apispec.Create, apispec.Delete},
			ConflictOf: "appointments",
			Descriptions: map[apispec.Verb]string{
				apispec.Create: "Keeps the slot against bookings, other holds and availability until expires_at. Book it with hold_id and the same token. Returns 409 as a booking does if the slot is taken.",
				apispec.Get:    "An expired hold may still be found.",
				apispec.Delete: "Releases the slot.",
			},
			BodyFields: []apispec.BodyField{{Name: "seconds", Kind: codec.Integer, Null: fmt.Sprint(int(LongestHold.Seconds())), Doc: "How long to keep the slot, at most 600 seconds. Default: 600."}},
		},
	}
}
