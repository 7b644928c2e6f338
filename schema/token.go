package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
	"github.com/google/uuid"

	"chairside/internal/apispec"
	"chairside/internal/scope"
)

// AccessToken lets a program act for a user (behaviour.md section 7). Only its SHA-256
// is stored.
type AccessToken struct{ ent.Schema }

// Mixin of AccessToken.
func (AccessToken) Mixin() []ent.Mixin { return []ent.Mixin{tenant{site: bookkeeping}, timestamps{}} }

// Fields of AccessToken.
func (AccessToken) Fields() []ent.Field {
	return []ent.Field{
		uuidID(),
		field.Bytes("hash").MaxLen(32).Unique().Sensitive().Comment("SHA-256 of the token; a refresh replaces it.").Annotations(apispec.Hidden()),
		text("name", "Name of the token."),
		field.Int64("user_id").Immutable().Comment("The user that it acts for."),
		field.String("scopes").GoType(scope.Granted("")).Comment("Space-separated granted scopes; the user's role and the application may allow fewer.").Annotations(apispec.Field{Words: scope.All()}),
		field.UUID("application_id", uuid.UUID{}).Optional().Nillable().Immutable().Comment("The application; null for a personal token."),
		field.UUID("site_id", uuid.UUID{}).Optional().Nillable().Immutable().Comment("The site that it is limited to."),
		optionalTimestamp("site_lifted_until", "Until when the limit to the site is lifted."),
		optionalText("site_lift_reason", "Why the limit was last lifted."),
		optionalTimestamp("expires_at", "Expiry, regardless of use."),
		optionalTimestamp("last_used_at", "Last use, to the hour."),
		optionalTimestamp("refreshable_until", "Expiry of its refresh token; null without one."),
		optionalTimestamp("revoked_at", "When it was revoked."),
	}
}

// Edges of AccessToken.
func (AccessToken) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("user", User.Type).Unique().Required().Immutable().Field("user_id").Annotations(keep),
		edge.To("site", Site.Type).Unique().Immutable().Field("site_id").Annotations(keep),
		edge.To("application", Application.Type).Unique().Immutable().Field("application_id").Annotations(keep),
	}
}

// Indexes of AccessToken.
func (AccessToken) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("practice_id", "user_id"), // tokens of a user
		index.Fields("application_id"),         // tokens of an application
	}
}
