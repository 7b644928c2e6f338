package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
	"github.com/google/uuid"
)

// LoggedRequest is an entry of the request log, which developers read on the pages: an API request
// that had a valid token. It has no body, no query and no id from the path. Entries are written
// within a second and deleted after a week (package audit/trail).
type LoggedRequest struct{ ent.Schema }

// Mixin of LoggedRequest.
func (LoggedRequest) Mixin() []ent.Mixin {
	return []ent.Mixin{tenant{site: bookkeeping, keyless: true}}
}

// Fields of LoggedRequest.
func (LoggedRequest) Fields() []ent.Field {
	return []ent.Field{
		intID(),
		field.Time("at").Immutable().Comment("When the request arrived."),
		field.UUID("token_id", uuid.UUID{}).Immutable().Comment("The token of the request."),
		field.UUID("application_id", uuid.UUID{}).Optional().Nillable().Immutable().Comment("The application of the token; null for a personal token."),
		field.Int64("user_id").Immutable().Comment("The user of the token."),
		field.String("request_id").Immutable().Comment("Id of the request, as in its response and in the server's log."),
		field.String("method").Immutable().Comment("Method of the request."),
		field.String("route").Immutable().Comment("Pattern of the path, with {id} in place of an id."),
		field.Int("status").Immutable().Comment("Status of the response."),
		field.String("error_code").Optional().Nillable().Immutable().Comment("Code of the error; null without one."),
		field.Int64("duration_us").Immutable().Comment("Time from receiving the request to completing its response, in microseconds."),
		field.Int("further").Default(0).Immutable().Comment("Number of like requests in the same second without an entry of their own."),
	}
}

// Indexes of LoggedRequest. A practice has so few entries that filters look through all of them: an
// index for each filter would cost more than it saves.
func (LoggedRequest) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("practice_id", "id"),
		index.Fields("at"), // entries to delete
	}
}
