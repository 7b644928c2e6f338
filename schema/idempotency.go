package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
	"github.com/google/uuid"
)

// IdempotencyKey is the response to a write that had an Idempotency-Key, stored in the write's
// transaction so that the request can be sent again (package idempotency). The key itself is
// not stored, and the response is sealed.
type IdempotencyKey struct{ ent.Schema }

// Mixin of IdempotencyKey.
func (IdempotencyKey) Mixin() []ent.Mixin {
	return []ent.Mixin{tenant{site: bookkeeping, keyless: true}}
}

// Fields of IdempotencyKey.
func (IdempotencyKey) Fields() []ent.Field {
	return []ent.Field{
		intID(),
		field.UUID("token_id", uuid.UUID{}).Immutable().Comment("The token of the request."),
		field.Bytes("key_hash").MaxLen(32).Immutable().Sensitive().Comment("Hash of the key."),
		field.Bytes("request_hash").MaxLen(32).Immutable().Sensitive().Comment("Hash of the method, path, query and body."),
		field.Int("status").Immutable().Comment("Status of the response."),
		field.Bytes("response").Immutable().Sensitive().Comment("Body of the response and the records read for it, sealed."),
		field.Time("created_at").Immutable().Comment("Time of the write."),
	}
}

// Indexes of IdempotencyKey.
func (IdempotencyKey) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("token_id", "key_hash").Unique(),
		index.Fields("created_at"), // expired keys
	}
}
