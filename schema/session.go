package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Session is a user's session in one browser. Only the SHA-256 of its cookie is stored.
type Session struct{ ent.Schema }

// Mixin of Session.
func (Session) Mixin() []ent.Mixin {
	return []ent.Mixin{tenant{site: bookkeeping}, timestamps{unlisted: true}}
}

// Fields of Session.
func (Session) Fields() []ent.Field {
	return []ent.Field{
		uuidID(),
		field.String("token_hash").Unique().Sensitive().Comment("SHA-256 of the cookie, base64."),
		field.Bytes("data").Sensitive().Comment("The session manager's data."),
		field.Int64("user_id").Immutable().Comment("The user who signed in."),
		field.String("browser").Default("").Immutable().Comment("Name of the browser: a few known words, because a User-Agent may hold any text."),
		field.String("address").Default("").Immutable().Comment("The network address at sign-in."),
		field.Time("last_seen_at").Comment("Last request."),
		field.Time("expires_at").Comment("Expiry, extended by requests."),
	}
}

// Edges of Session.
func (Session) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("user", User.Type).Unique().Required().Immutable().Field("user_id").Annotations(keep),
	}
}

// Indexes of Session.
func (Session) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("practice_id", "user_id"), // sessions of a user
		index.Fields("expires_at"),             // expired sessions
	}
}

// SignInAttempt is one attempt at a password or a code, kept to throttle guessing. It
// belongs to no practice, because the account may not exist.
type SignInAttempt struct{ ent.Schema }

// Mixin of SignInAttempt.
func (SignInAttempt) Mixin() []ent.Mixin { return []ent.Mixin{installation{}} }

// Fields of SignInAttempt.
func (SignInAttempt) Fields() []ent.Field {
	return []ent.Field{
		intID(),
		field.Bytes("account").MaxLen(32).Immutable().Comment("SHA-256 of the account: an e-mail address, or a user's authenticator."),
		field.String("address").Immutable().Comment("The network address; for IPv6 the /64 network."),
		field.Time("at").Immutable().Comment("Time of the attempt."),
		field.Bool("succeeded").Default(false).Comment("Whether it succeeded."),
	}
}

// Indexes of SignInAttempt.
func (SignInAttempt) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account", "at"), // failures of an account
		index.Fields("address", "at"), // failures from an address
		index.Fields("at"),            // old attempts
	}
}
