package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
	"github.com/google/uuid"
)

// RateBucket is the rate limit that all server processes share of one token or one
// practice (package ratelimit). On PostgreSQL the table is unlogged: a crash only refills
// the buckets.
type RateBucket struct{ ent.Schema }

// Mixin of RateBucket.
func (RateBucket) Mixin() []ent.Mixin { return []ent.Mixin{installation{}} }

// Fields of RateBucket.
func (RateBucket) Fields() []ent.Field {
	return []ent.Field{
		field.UUID("id", uuid.UUID{}).Immutable().Comment("The token's or the practice's id."),
		field.Int64("full_at").Comment("When the whole limit is available again, in Unix microseconds."),
		field.Int64("cost").Comment("What the last process added to full_at, in microseconds."),
	}
}

// Indexes of RateBucket.
func (RateBucket) Indexes() []ent.Index {
	return []ent.Index{index.Fields("full_at")} // full buckets
}
