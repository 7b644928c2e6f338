package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
	"github.com/google/uuid"

	"chairside/internal/apispec"
)

// Passkey is a user's WebAuthn credential, which signs the user in without a password. Only its
// public half is stored.
type Passkey struct{ ent.Schema }

// Mixin of Passkey.
func (Passkey) Mixin() []ent.Mixin {
	return []ent.Mixin{tenant{site: bookkeeping}, timestamps{unlisted: true}}
}

// Fields of Passkey.
func (Passkey) Fields() []ent.Field {
	return []ent.Field{
		uuidID(),
		field.Int64("user_id").Immutable().Comment("The user whom it signs in."),
		text("name", "The name that the user chose.", apispec.Field{MaxRunes: shortText}),
		field.String("host").Immutable().Comment("Host name of the server that it was made for (the relying party). Browsers offer it nowhere else."),
		field.Bytes("credential_id").MaxLen(1023).Unique().Immutable().Sensitive().Comment("The credential's id, chosen by the authenticator."),
		field.Bytes("public_key").Immutable().Sensitive().Comment("The public key, in COSE form."),
		field.Int64("sign_count").Comment("The authenticator's signature counter at the last use; 0 if it has none."),
		field.JSON("transports", []string{}).Optional().Immutable().Comment("How browsers reach the authenticator: internal, hybrid, usb, …"),
		field.Bool("backup_eligible").Immutable().Comment("Whether it may be copied between devices."),
		field.Bool("backed_up").Comment("Whether it was copied, at the last use."),
		field.UUID("aaguid", uuid.UUID{}).Immutable().Comment("Model of the authenticator, as it says."),
		field.Time("last_used_at").Optional().Nillable().Comment("Last sign-in or confirmation."),
	}
}

// Edges of Passkey.
func (Passkey) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("user", User.Type).Unique().Required().Immutable().Field("user_id").Annotations(keep),
	}
}

// Indexes of Passkey.
func (Passkey) Indexes() []ent.Index {
	return []ent.Index{index.Fields("practice_id", "user_id")} // passkeys of a user
}

// PasskeyChallenge is a challenge that a browser's authenticator has yet to sign. It belongs to no
// practice, because the browser may be signed out. It is deleted when the response arrives, so it
// counts once.
type PasskeyChallenge struct{ ent.Schema }

// Mixin of PasskeyChallenge.
func (PasskeyChallenge) Mixin() []ent.Mixin { return []ent.Mixin{installation{}} }

// Fields of PasskeyChallenge.
func (PasskeyChallenge) Fields() []ent.Field {
	return []ent.Field{
		uuidID(),
		field.String("token_hash").Unique().Immutable().Sensitive().Comment("SHA-256 of the cookie of the browser that asked for it, base64."),
		field.String("purpose").Immutable().Comment("What the response may be used for, and by which session."),
		field.Bytes("data").Immutable().Sensitive().Comment("The challenge and what the response must have, as JSON."),
		field.String("address").Immutable().Comment("The network address; for IPv6 the /64 network."),
		field.Time("expires_at").Immutable().Comment("Expiry."),
	}
}

// Indexes of PasskeyChallenge.
func (PasskeyChallenge) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("address", "expires_at"), // challenges of an address
		index.Fields("expires_at"),            // expired challenges
	}
}
