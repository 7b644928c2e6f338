package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"chairside/internal/apispec"
	"chairside/internal/apispec/limit"
)

// ImportedRecord remembers which row a record of another system became, so
// that a later import changes it instead of adding it again.
type ImportedRecord struct{ ent.Schema }

// Mixin of ImportedRecord.
func (ImportedRecord) Mixin() []ent.Mixin {
	return []ent.Mixin{tenant{site: bookkeeping, keyless: true}}
}

// Fields of ImportedRecord.
func (ImportedRecord) Fields() []ent.Field {
	return []ent.Field{
		intID(),
		field.String("source").Immutable().Comment("The other system, as the mapping file names it."),
		field.String("resource").Immutable().Comment("The table of the row."),
		field.String("legacy_id").Immutable().Comment("The record's id in the other system."),
		field.String("record_id").Comment("The id of the row."),
	}
}

// Indexes of ImportedRecord.
func (ImportedRecord) Indexes() []ent.Index {
	return []ent.Index{
		// The row of a record. Nearly all rows of a practice have the same
		// source, so it comes last: an insert compares it once, not at each step.
		index.Fields("practice_id", "resource", "legacy_id", "source").Unique(),
	}
}

// ImportRun is how far an import has come. It is written in the transaction of
// the rows it counts, so that one that was killed goes on where it stopped.
type ImportRun struct{ ent.Schema }

// Mixin of ImportRun.
func (ImportRun) Mixin() []ent.Mixin { return []ent.Mixin{installation{}, timestamps{unlisted: true}} }

// Fields of ImportRun.
func (ImportRun) Fields() []ent.Field {
	return []ent.Field{
		intID(),
		field.String("digest").Unique().Immutable().Comment("SHA-256 of what is imported, in hexadecimal digits.").Annotations(apispec.Field{Format: limit.SHA256}),
		field.Bytes("progress").Comment("Where to go on and what was counted, as JSON."),
		optionalTimestamp("finished_at", "When all of it was in."),
	}
}
