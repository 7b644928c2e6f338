package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"github.com/google/uuid"
)

// PracticeDeletion says that a practice is to be deleted, or was (package closure). The row
// outlives the practice. On PostgreSQL only the owner of the tables writes it, so no role of the
// server can delete a practice that nobody scheduled.
type PracticeDeletion struct{ ent.Schema }

// Mixin of PracticeDeletion.
func (PracticeDeletion) Mixin() []ent.Mixin { return []ent.Mixin{installation{}} }

// Fields of PracticeDeletion.
func (PracticeDeletion) Fields() []ent.Field {
	return []ent.Field{
		field.UUID("id", uuid.UUID{}).Immutable().Comment("The practice's id."),
		field.Time("requested_at").Immutable().Comment("When the deletion was scheduled."),
		field.Time("due_at").Immutable().Comment("From when the practice is closed and its rows are deleted."),
		field.String("kept_elsewhere").Default("").Immutable().Comment("Where the records are that the law still requires; empty if it requires none."),
		optionalTimestamp("began_at", "From when rows are deleted; null as long as the deletion can be cancelled."),
		optionalTimestamp("deleted_at", "When the last row was deleted; null before."),
	}
}
