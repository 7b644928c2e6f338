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

// Application is an OAuth client (RFC 6749) that users can authorise to act for them.
// Its id is the client ID. It belongs to the practice that registered it; users of every
// practice can authorise it.
//
// A deleted application keeps its row, because its tokens refer to it.
type Application struct{ ent.Schema }

// Mixin of Application.
func (Application) Mixin() []ent.Mixin { return []ent.Mixin{timestamps{unlisted: true}} }

// Annotations of Application.
func (Application) Annotations() []schema.Annotation {
	return []schema.Annotation{apispec.Unconfined{Reason: "its practice is owner_id"}}
}

// Interceptors confine queries to the caller's practice's applications.
func (Application) Interceptors() []ent.Interceptor {
	return []ent.Interceptor{confine("owner_id", bookkeeping)}
}

// Hooks confine mutations to the caller's practice's applications.
func (Application) Hooks() []ent.Hook { return []ent.Hook{confineSave("owner_id", bookkeeping)} }

// Fields of Application. The practice is owner_id, not practice_id, because a user's
// token may belong to another practice's application.
func (Application) Fields() []ent.Field {
	return []ent.Field{
		uuidID(),
		field.UUID("owner_id", uuid.UUID{}).Immutable().Comment("The practice that registered it."),
		field.Int64("user_id").Immutable().Comment("The user who registered it."),
		text("name", "Name that users see."),
		field.JSON("redirect_uris", []string{}).Comment("Redirect URIs, matched exactly."),
		text("scopes", "Space-separated scopes that it may request.", apispec.Field{Words: scope.All()}),
		field.Bool("public").Immutable().Comment("Whether it is a public client (RFC 6749, section 2.1), without a secret."),
		field.Bytes("secret_hash").MaxLen(32).Optional().Nillable().Sensitive().Comment("SHA-256 of the client secret; null for a public client."),
		boolFalse("refresh_tokens", "Whether it gets refresh tokens, and access tokens that expire after an hour."),
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

// AuthorizationCode is a code that an application exchanges for a token (RFC 6749,
// section 4.1.2). Only its SHA-256 is stored. A used code is kept for a while, to detect
// a second use.
type AuthorizationCode struct{ ent.Schema }

// Mixin of AuthorizationCode.
func (AuthorizationCode) Mixin() []ent.Mixin { return []ent.Mixin{tenant{site: bookkeeping}} }

// Fields of AuthorizationCode.
func (AuthorizationCode) Fields() []ent.Field {
	return []ent.Field{
		uuidID(),
		field.Bytes("hash").MaxLen(32).Unique().Immutable().Sensitive().Comment("SHA-256 of the code.").Annotations(apispec.Hidden()),
		field.UUID("application_id", uuid.UUID{}).Immutable().Comment("The application."),
		field.Int64("user_id").Immutable().Comment("The user who authorised it."),
		field.String("redirect_uri").Immutable().Comment("The redirect URI, which the exchange must repeat."),
		field.String("scopes").Immutable().Comment("Space-separated scopes that the user granted.").Annotations(apispec.Field{Words: scope.All()}),
		field.String("challenge").Default("").Immutable().Comment("code_challenge of RFC 7636 by method S256; empty without PKCE."),
		field.Time("expires_at").Immutable().Comment("Expiry."),
		optionalTimestamp("used_at", "When it was exchanged."),
		field.UUID("token_id", uuid.UUID{}).Optional().Nillable().Comment("The token that it was exchanged for."),
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
	return []ent.Index{index.Fields("expires_at")} // old codes
}

// RefreshToken is a single-use token that an application exchanges for a new access token
// (RFC 6749, section 6). Only its SHA-256 is stored. All refresh tokens that descend from
// one authorization share its access token, whose value each exchange replaces: revoking
// that row ends them all. A used one is kept for a while, to detect a second use.
type RefreshToken struct{ ent.Schema }

// Mixin of RefreshToken.
func (RefreshToken) Mixin() []ent.Mixin { return []ent.Mixin{tenant{site: bookkeeping}} }

// Fields of RefreshToken.
func (RefreshToken) Fields() []ent.Field {
	return []ent.Field{
		uuidID(),
		field.Bytes("hash").MaxLen(32).Unique().Immutable().Sensitive().Comment("SHA-256 of the refresh token.").Annotations(apispec.Hidden()),
		field.UUID("token_id", uuid.UUID{}).Immutable().Comment("The access token that it renews."),
		field.String("scopes").Immutable().Comment("Space-separated scopes that the user granted.").Annotations(apispec.Field{Words: scope.All()}),
		field.Time("created_at").Immutable().Comment("When it was issued."),
		field.Time("expires_at").Immutable().Comment("Expiry."),
		optionalTimestamp("used_at", "When it was exchanged."),
	}
}

// Edges of RefreshToken.
func (RefreshToken) Edges() []ent.Edge {
	return []ent.Edge{edge.To("token", AccessToken.Type).Unique().Required().Immutable().Field("token_id").Annotations(keep)}
}

// Indexes of RefreshToken.
func (RefreshToken) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("token_id"),   // of one authorization
		index.Fields("expires_at"), // old ones
	}
}
