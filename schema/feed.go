package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"chairside/internal/apispec"
)

// FeedChange is an entry of the change feed: one record was created, updated or deleted.
// Triggers write it (package store/feedlog), whatever writes the record.
type FeedChange struct{ ent.Schema }

// Mixin of FeedChange.
func (FeedChange) Mixin() []ent.Mixin {
	return []ent.Mixin{tenant{site: bookkeeping, keyless: true}}
}

// Fields of FeedChange.
func (FeedChange) Fields() []ent.Field {
	return []ent.Field{
		intID(),
		field.Int64("seq").Optional().Nillable().Comment("Position in the feed, given after the commit; null until then. Readers follow it."),
		field.Time("at").Immutable().Comment("Time of the write."),
		field.String("resource").Immutable().Comment("The resource: patients."),
		field.String("record_id").Immutable().Comment("Id of the record."),
		field.String("event").Immutable().Comment("created, updated or deleted.").Annotations(apispec.Field{Values: []string{"created", "updated", "deleted"}}),
		field.String("site_key").Optional().Nillable().Immutable().Comment("What led a record to its site before it was deleted or moved: the site, or the row that has it."),
		field.Int64("origin").Immutable().Comment("Finds the entry of the audit log: on PostgreSQL the id of the transaction, on SQLite the last entry before the write."),
	}
}

// Indexes of FeedChange.
func (FeedChange) Indexes() []ent.Index {
	return []ent.Index{
		// Pages of the feed. Without entries that have no seq, an insert does not touch it.
		index.Fields("practice_id", "seq").Annotations(entsql.IndexWhere("seq IS NOT NULL")),
		// Entries without a seq.
		index.Fields("id").StorageKey("feedchange_unnumbered").Annotations(entsql.IndexWhere("seq IS NULL")),
	}
}

// FeedState is the state of the change feed, in one row.
type FeedState struct{ ent.Schema }

// Mixin of FeedState.
func (FeedState) Mixin() []ent.Mixin { return []ent.Mixin{installation{}} }

// Fields of FeedState.
func (FeedState) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id").Immutable().Comment("Always 1."),
		field.Int64("last_seq").Comment("The last seq that was given."),
		field.Int64("swept_seq").Comment("The highest seq that was deleted."),
		field.String("epoch").Comment("Random; renewed by a restore, after which older cursors are worthless."),
	}
}

// Annotations of FeedState.
func (FeedState) Annotations() []schema.Annotation {
	return []schema.Annotation{entsql.Annotation{Table: "feed_state"}}
}
