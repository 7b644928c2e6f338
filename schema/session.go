package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Session is one browser in which a user has signed in. Only the SHA-256 of
// its cookie is stored.
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
		field.Bytes("data").Sensitive().Comment("What the session manager keeps between requests."),
		field.Int64("user_id").Immutable().Comment("The user who signed in."),
		field.String("user_agent").Default("").Immutable().Comment("The browser, as it names itself."),
		field.String("address").Default("").Immutable().Comment("The network address at sign-in."),
		field.Time("last_seen_at").Comment("When a page was last asked for."),
		field.Time("expires_at").Comment("End of its life, unless a page is asked for earlier."),
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
		index.Fields("expires_at"),             // those that have ended
	}
}

// SignInAttempt is one try at a password or a second factor, kept for a while
// to slow guessing down. It belongs to no practice: the account may not exist.
type SignInAttempt struct{ ent.Schema }

// Mixin of SignInAttempt.
func (SignInAttempt) Mixin() []ent.Mixin { return []ent.Mixin{installation{}} }

// Fields of SignInAttempt.
func (SignInAttempt) Fields() []ent.Field {
	return []ent.Field{
		intID(),
		field.Bytes("account").MaxLen(32).Immutable().Comment("SHA-256 of what was signed in to: the e-mail address, or the second factor of a user."),
		field.String("address").Immutable().Comment("The network address it came from; of IPv6 the network of 64 bits."),
		field.Time("at").Immutable().Comment("When."),
		field.Bool("succeeded").Default(false).Comment("Whether it was right."),
	}
}

// Indexes of SignInAttempt.
func (SignInAttempt) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account", "at"), // failures of an account
		index.Fields("address", "at"), // failures from an address
		index.Fields("at"),            // those that no longer count
	}
}
