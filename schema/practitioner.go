package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"chairside/internal/apispec"
	"chairside/internal/apispec/limit"
)

// Practitioner is a user who treats patients.
type Practitioner struct{ ent.Schema }

// Mixin of Practitioner.
func (Practitioner) Mixin() []ent.Mixin { return []ent.Mixin{tenant{site: ownSite}, timestamps{}} }

// Fields of Practitioner.
func (Practitioner) Fields() []ent.Field {
	return []ent.Field{
		intID(),
		field.Int64("user_id").Immutable().Comment("The user.").Annotations(apispec.Hidden()),
		uuidRef("site_id", "The site."),
		boolTrue("active", "Whether the practitioner can be booked."),
		optionalText("gdc_number", "General Dental Council registration number."),
		optionalText("nhs_number", "NHS performer number."),
		optionalText("colour", "Colour in the diary.", apispec.Field{Format: limit.Colour, Example: "#3b82f6"}),
		optionalAmount("uda_target", "Contract-year target in units of dental activity."),
		optionalAmount("uoa_target", "Contract-year target in units of orthodontic activity."),
	}
}

// Edges of Practitioner.
func (Practitioner) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("user", User.Type).Ref("practitioner").Unique().Required().Immutable().Field("user_id"),
		link("site", Site.Type, "site_id"),
		many("working_sessions", WorkingSession.Type),
		many("appointments", Appointment.Type),
	}
}

// Indexes of Practitioner.
func (Practitioner) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("practice_id", "site_id", "id"), // site_id, here and through appointments and claims
	}
}

// viewPractitioner is what analysts see.
var viewPractitioner = apispec.View{
	Shown:    []string{"id", "user_id", "site_id", "active", "uda_target", "uoa_target", "created_at", "updated_at"},
	Withheld: []string{"gdc_number", "nhs_number", "colour"},
}

// Annotations of Practitioner.
func (Practitioner) Annotations() []schema.Annotation {
	return []schema.Annotation{viewPractitioner, apispec.Resource{
		Key: "practitioner", Plural: "practitioners", Scope: "practice", Doc: "Dentists, hygienists and therapists.", Verbs: readable,
		Sorts:  []apispec.Sort{{Key: "last_name", Column: "last_name_folded", Edge: "user"}},
		Embeds: []apispec.Embed{{Edge: "user", Columns: []string{"id", "title", "first_name", "last_name", "email", "role"}, Doc: "The practitioner's user."}},
	}}
}

// WorkingSession is a weekly period in which a practitioner works at a site.
type WorkingSession struct{ ent.Schema }

// Mixin of WorkingSession.
func (WorkingSession) Mixin() []ent.Mixin {
	return []ent.Mixin{tenant{site: throughDentist}, timestamps{unlisted: true}}
}

// Fields of WorkingSession.
func (WorkingSession) Fields() []ent.Field {
	return []ent.Field{
		uuidID(),
		intRef("practitioner_id", "The practitioner."),
		uuidRef("site_id", "The site."),
		count("weekday", "Day of the week; 0 is Sunday.", between(0, 6)),
		count("start_minute", "Start in minutes of the local day: 540 is 09:00.", between(0, 1440)),
		count("finish_minute", "End in minutes of the local day.", between(0, 1440)),
	}
}

// Edges of WorkingSession.
func (WorkingSession) Edges() []ent.Edge {
	return []ent.Edge{
		back("practitioner", Practitioner.Type, "working_sessions", "practitioner_id"),
		link("site", Site.Type, "site_id"),
	}
}

// viewWorkingSession is what analysts see.
var viewWorkingSession = apispec.View{
	Doc:   "Weekly working hours of practitioners.",
	Shown: []string{"id", "practitioner_id", "site_id", "weekday", "start_minute", "finish_minute", "created_at", "updated_at"},
}

// Annotations of WorkingSession.
func (WorkingSession) Annotations() []schema.Annotation {
	return []schema.Annotation{viewWorkingSession, apispec.Checks{{Name: "finishes_after_start", SQL: "finish_minute > start_minute"}}}
}

// Indexes of WorkingSession.
func (WorkingSession) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("practice_id", "practitioner_id", "weekday", "start_minute"), // availability
	}
}
