package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"chairside/internal/apispec"
	"chairside/internal/seal"
)

// longestNote is the longest note, in code points.
const longestNote = 10_000

// Note is a note about a patient. Package store keeps the text before every change as a
// NoteVersion.
type Note struct{ ent.Schema }

// Mixin of Note.
func (Note) Mixin() []ent.Mixin { return []ent.Mixin{tenant{site: throughPatient}, timestamps{}} }

// Fields of Note.
func (Note) Fields() []ent.Field {
	return []ent.Field{
		intID(),
		intRef("patient_id", "The patient. Cannot be changed.", required(apispec.Field{Write: true, CreateOnly: true})),
		intRef("user_id", "The user who created it."),
		sealed("body", "The text: at most 10,000 characters.", required(apispec.Field{Write: true, MaxRunes: longestNote, Example: "Prefers mornings."})),
		boolFalse("pinned", "Whether the note stays at the top.", written()),
		field.Enum("kind").GoType(NoteKind("")).Default(string(NoteClinical)).Comment("Kind of the note.").Annotations(createDefault(written())),
	}
}

// Edges of Note.
func (Note) Edges() []ent.Edge {
	return []ent.Edge{link("patient", Patient.Type, "patient_id"), link("user", User.Type, "user_id")}
}

// Indexes of Note.
func (Note) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("practice_id", "patient_id", "id"), // patient_id
		index.Fields("practice_id", "kind", "id"),       // kind
	}
}

// Annotations of Note.
func (Note) Annotations() []schema.Annotation {
	return []schema.Annotation{apispec.Resource{
		Key: "note", Plural: "notes", Scope: "patient", Doc: "Notes about patients.",
		Counters:      everyRow,
		LockFirst:     "patient_id", // of the NoteVersion
		Verbs:         []apispec.Verb{apispec.Get, apispec.List, apispec.Create, apispec.Update, apispec.Delete},
		ExampleUpdate: []string{"body", "pinned"},
		Descriptions: map[apispec.Verb]string{
			apispec.Update: "Changes only the fields sent. The practice's records keep the earlier text.",
			apispec.Delete: "Deletes the note. The practice's records keep its text.",
		},
		Filters: []apispec.Filter{{Param: "kind", Doc: "Of this kind."}},
	}}
}

// NoteKind is the kind of a note.
type NoteKind string

// The kinds.
const (
	NoteClinical       NoteKind = "clinical"
	NoteAdministrative NoteKind = "administrative"
)

// Values lists the kinds for ent.
func (NoteKind) Values() []string { return []string{"clinical", "administrative"} }

// NoteVersion is the text of a note before a change, written in the transaction of the change.
// Versions are append-only; no operation shows them. They outlive their note, so note_id is no
// foreign key.
type NoteVersion struct{ ent.Schema }

// Mixin of NoteVersion.
func (NoteVersion) Mixin() []ent.Mixin { return []ent.Mixin{tenant{site: throughPatient}} }

// Fields of NoteVersion.
func (NoteVersion) Fields() []ent.Field {
	return []ent.Field{
		intID(),
		field.Int64("note_id").Immutable().Comment("The note."),
		field.Int64("patient_id").Immutable().Comment("The note's patient before the change."),
		field.String("body").GoType(seal.Value{}).Immutable().Sensitive().Comment("The text before the change."),
		field.Time("at").Immutable().Comment("Time of the change."),
		field.Int64("user_id").Optional().Nillable().Immutable().Comment("The user who changed the note; null for the system."),
	}
}

// Edges of NoteVersion.
func (NoteVersion) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("patient", Patient.Type).Unique().Required().Immutable().Field("patient_id").Annotations(keep),
		edge.To("user", User.Type).Unique().Immutable().Field("user_id").Annotations(keep),
	}
}

// Indexes of NoteVersion.
func (NoteVersion) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("practice_id", "note_id", "id"),    // versions of a note
		index.Fields("practice_id", "patient_id", "id"), // versions of a patient's notes
	}
}
