package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"chairside/internal/apispec"
)

// ReportSchedule runs a report once a week, and stores its file in a directory or mails it (package
// schedule). What it does never changes; the rest is the state of its runs.
type ReportSchedule struct{ ent.Schema }

// Mixin of ReportSchedule.
func (ReportSchedule) Mixin() []ent.Mixin { return []ent.Mixin{tenant{site: bookkeeping}} }

// Fields of ReportSchedule.
func (ReportSchedule) Fields() []ent.Field {
	return []ent.Field{
		intID(),
		field.Int64("user_id").Immutable().Comment("The user whose rights it has."),
		field.String("report").Immutable().Comment("Name of the report."),
		field.Int("weekday").Immutable().Comment("Day of the week; 0 is Sunday.").Annotations(between(0, 6)),
		field.Int("minute").Immutable().Comment("Minutes after midnight, in the practice's time zone.").Annotations(between(0, 1439)),
		field.String("period").Immutable().Comment("Days that the report covers.").Annotations(apispec.Field{Values: []string{"default", "last-week", "last-month"}}),
		field.String("format").Immutable().Comment("Format of the file.").Annotations(apispec.Field{Values: []string{"xlsx", "csv", "html"}}),
		field.String("folder").Default("").Immutable().Comment("Directory that gets the files; empty if they are mailed."),
		field.String("address").Default("").Immutable().Comment("E-mail address that gets the files; empty if they are stored."),
		field.Time("created_at").Immutable().Comment("When it was created."),
		field.Time("due_at").Comment("When it is due next, or since when if attempts failed; the last due time if the mail was refused."),
		field.Time("attempt_at").Comment("Time of the next attempt."),
		field.Int64("lease").Default(0).Comment("Number of its leases: each attempt has one of its own."),
		field.Time("leased_until").Comment("Until when a server process holds it."),
		field.Int("failures").Default(0).Comment("Attempts that failed since the last success."),
		field.Int("refusals").Default(0).Comment("Due times for which the mail server refused the mail for good, since the last success."),
		optionalTimestamp("last_run_at", "When the report was last delivered; null before."),
		optionalTimestamp("failing_since", "Since when every attempt has failed; null otherwise."),
		field.String("failure").Default("").Comment("Why the last attempt failed; empty if it did not."),
		optionalTimestamp("stopped_at", "When it was stopped; null while it runs."),
		field.String("stopped_reason").Default("").Comment("Why it was stopped."),
	}
}

// Edges of ReportSchedule.
func (ReportSchedule) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("user", User.Type).Unique().Required().Immutable().Field("user_id").Annotations(keep),
	}
}

// Indexes of ReportSchedule.
func (ReportSchedule) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("practice_id", "user_id"),                                          // schedules of a practice, and of a user
		index.Fields("attempt_at").Annotations(entsql.IndexWhere("stopped_at IS NULL")), // due ones
	}
}

// Annotations of ReportSchedule.
func (ReportSchedule) Annotations() []schema.Annotation {
	return []schema.Annotation{apispec.Checks{{Name: "one_destination", SQL: "(folder = '') <> (address = '')"}}}
}
