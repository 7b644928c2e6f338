package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
	"github.com/google/uuid"

	"chairside/internal/apispec"
	"chairside/internal/scope"
)

// Application is a program of somebody's that users may let act for them: a
// client in the words of RFC 6749. Its id is the client id. It belongs to the
// practice that registered it; users of every practice may authorise it.
//
// A deleted application keeps its row, so that its tokens still say what they
// were for.
type Application struct{ ent.Schema }

// Mixin of Application.
func (Application) Mixin() []ent.Mixin { return []ent.Mixin{timestamps{unlisted: true}} }

// Annotations of Application.
func (Application) Annotations() []schema.Annotation {
	return []schema.Annotation{apispec.Unconfined{Reason: "its practice is owner_id"}}
}

// Interceptors confine queries to what the caller's practice registered.
func (Application) Interceptors() []ent.Interceptor {
	return []ent.Interceptor{confine("owner_id", bookkeeping)}
}

// Hooks confine mutations to what the caller's practice registered.
func (Application) Hooks() []ent.Hook { return []ent.Hook{confineSave("owner_id", bookkeeping)} }

// Fields of Application. The practice is called owner_id, not practice_id: a
// token of one practice's user may be for the application of another.
func (Application) Fields() []ent.Field {
	return []ent.Field{
		uuidID(),
		field.UUID("owner_id", uuid.UUID{}).Immutable().Comment("The practice that registered it."),
		field.Int64("user_id").Immutable().Comment("The user who registered it."),
		text("name", "What users know it by."),
		field.JSON("redirect_uris", []string{}).Comment("Where users may be sent back to, compared exactly."),
		text("scopes", "Space-separated scopes it may ask for.", apispec.Field{Words: scope.All()}),
		field.Bool("public").Immutable().Comment("Whether it can keep no secret (RFC 6749, section 2.1), and so has none."),
		field.Bytes("secret_hash").MaxLen(32).Optional().Nillable().Sensitive().Comment("SHA-256 of the client secret; null for a public one."),
		optionalTimestamp("deleted_at", "When it was deleted."),
	}
}

// Edges of Application.
func (Application) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("owner", Practice.Type).Unique().Required().Immutable().Field("owner_id").Annotations(keep),
		edge.To("user", User.Type).Unique().Required().Immutable().Field("user_id").Annotations(keep),
	}
}

// Indexes of Application.
func (Application) Indexes() []ent.Index {
	return []ent.Index{index.Fields("owner_id", "id")} // a practice's applications
}

// AuthorizationCode is what an application exchanges for a token (RFC 6749,
// section 4.1.2). Only the SHA-256 of its value is stored. It stays for a
// while after it was used, to notice a second use.
type AuthorizationCode struct{ ent.Schema }

// Mixin of AuthorizationCode.
func (AuthorizationCode) Mixin() []ent.Mixin { return []ent.Mixin{tenant{site: bookkeeping}} }

// Fields of AuthorizationCode.
func (AuthorizationCode) Fields() []ent.Field {
	return []ent.Field{
		uuidID(),
		field.Bytes("hash").MaxLen(32).Unique().Immutable().Sensitive().Comment("SHA-256 of the code.").Annotations(apispec.Hidden()),
		field.UUID("application_id", uuid.UUID{}).Immutable().Comment("The application it was given to."),
		field.Int64("user_id").Immutable().Comment("The user who allowed it."),
		field.String("redirect_uri").Immutable().Comment("Where it was sent; the exchange must name the same."),
		field.String("scopes").Immutable().Comment("Space-separated scopes the user allowed.").Annotations(apispec.Field{Words: scope.All()}),
		field.String("challenge").Default("").Immutable().Comment("code_challenge of RFC 7636 by method S256; empty without PKCE."),
		field.Time("expires_at").Immutable().Comment("End of its life."),
		optionalTimestamp("used_at", "When it was exchanged."),
		field.UUID("token_id", uuid.UUID{}).Optional().Nillable().Comment("The token it gave."),
	}
}

// Edges of AuthorizationCode.
func (AuthorizationCode) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("application", Application.Type).Unique().Required().Immutable().Field("application_id").Annotations(keep),
		edge.To("user", User.Type).Unique().Required().Immutable().Field("user_id").Annotations(keep),
		edge.To("token", AccessToken.Type).Unique().Field("token_id").Annotations(keep),
	}
}

// Indexes of AuthorizationCode.
func (AuthorizationCode) Indexes() []ent.Index {
	return []ent.Index{index.Fields("expires_at")} // those that nobody will ask for again
}
