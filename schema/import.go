package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"chairside/internal/apispec"
	"chairside/internal/apispec/limit"
)

// ImportedRecord maps a record of another system to its row, so that a later import
// updates the row.
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
		field.String("resource").Immutable().Comment("The row's table."),
		field.String("legacy_id").Immutable().Comment("The record's id in the other system."),
		field.String("record_id").Comment("The row's id."),
	}
}

// Indexes of ImportedRecord.
func (ImportedRecord) Indexes() []ent.Index {
	return []ent.Index{
		// Finds the row of a record. Source comes last, because nearly all rows of a
		// practice have the same one: an insert compares it once, not at each step.
		index.Fields("practice_id", "resource", "legacy_id", "source").Unique(),
	}
}

// ImportRun is an import's progress. It is written in the transaction of the rows that
// it counts, so that an interrupted import can resume.
type ImportRun struct{ ent.Schema }

// Mixin of ImportRun.
func (ImportRun) Mixin() []ent.Mixin { return []ent.Mixin{installation{}, timestamps{unlisted: true}} }

// Fields of ImportRun.
func (ImportRun) Fields() []ent.Field {
	return []ent.Field{
		intID(),
		field.String("digest").Unique().Immutable().Comment("SHA-256 of the imported files, hexadecimal.").Annotations(apispec.Field{Format: limit.SHA256}),
		field.Bytes("progress").Comment("Position and counts, as JSON."),
		optionalTimestamp("finished_at", "When the import was complete."),
	}
}
