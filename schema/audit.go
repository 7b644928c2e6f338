package schema

import (
	"encoding/json"
	"slices"

	"entgo.io/ent"
	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
	"github.com/google/uuid"

	"chairside/internal/apispec"
	"chairside/internal/codec"
)

// AuditActions are the actions of the audit log.
var AuditActions = []string{
	"create", "update", "delete", "read", "refuse", "sign_in", "sign_in_failed", "sign_out",
	"report", "export", "import", "erase", "prune", "rotate",
}

// AuditDetails are the details of an entry of the audit log: a JSON object, or nothing for an empty
// one.
type AuditDetails struct{ Text json.RawMessage }

// MarshalJSON returns the object.
func (d AuditDetails) MarshalJSON() ([]byte, error) {
	if len(d.Text) == 0 {
		return []byte("{}"), nil
	}
	return d.Text, nil
}

// UnmarshalJSON keeps the object.
func (d *AuditDetails) UnmarshalJSON(text []byte) error {
	d.Text = slices.Clone(text)
	return nil
}

// AuditEvent is an entry of the audit log. Entries are append-only. That of a write is written in
// the transaction of the write; the others follow within a second (package audit/trail).
type AuditEvent struct{ ent.Schema }

// Mixin of AuditEvent.
func (AuditEvent) Mixin() []ent.Mixin {
	return []ent.Mixin{tenant{site: bookkeeping, keyless: true}}
}

// Fields of AuditEvent.
func (AuditEvent) Fields() []ent.Field {
	return []ent.Field{
		intID(),
		field.Time("at").Immutable().Comment("Time of the event. Reads are collected for at most a second: the time of the first one."),
		field.String("action").Immutable().Comment("What happened.").Annotations(apispec.Field{Values: AuditActions}),
		field.String("resource").Optional().Nillable().Immutable().Comment("Kind of the record that was written, such as Patient or SealingKey; null for events that are no writes.").Annotations(apispec.Field{Example: "Appointment"}),
		field.String("record_id").Optional().Nillable().Immutable().Comment("Id of the record that was written, name of the report that was shown, id of the user who signed in or, of an Invitation, was invited; of records that were sent, the webhook.").Annotations(apispec.Field{Example: "7"}),
		field.Int64("patient_id").Optional().Nillable().Immutable().Comment("The patient of the record that was written."),
		field.Int64("user_id").Optional().Nillable().Immutable().Comment("The user; null for the command line and where no user is known."),
		field.UUID("token_id", uuid.UUID{}).Optional().Nillable().Immutable().Comment("The token of the request; null in a browser and on the command line."),
		field.UUID("session_id", uuid.UUID{}).Optional().Nillable().Immutable().Comment("The session of the browser."),
		field.UUID("application_id", uuid.UUID{}).Optional().Nillable().Immutable().Comment("The application of the token; null for a personal token."),
		field.String("request_id").Optional().Nillable().Immutable().Comment("Id of the request, as in the log. Of several reads: the first one's."),
		field.String("operation").Optional().Nillable().Immutable().Comment("Operation or page.").Annotations(apispec.Field{Example: "updateAppointment"}),
		field.Int("status").Optional().Nillable().Immutable().Comment("Status of the response, of a refusal."),
		field.JSON("fields", []string{}).Default([]string{}).Immutable().Comment("Names of the changed columns, sorted.").Annotations(apispec.Field{Kind: codec.Strings}),
		field.JSON("details", AuditDetails{}).Default(AuditDetails{}).Immutable().
			Comment("Of a write: old and new are the values of columns that are not sensitive, old_hash and new_hash the keyed hashes of the others. Of a read: records are the ids by resource, patients the patients that they belong to, requests the ids of the requests. Of a sign-in: browser is its family and system, network the address without its last part. Of an erasure: removed and blanked are numbers of rows by table. site_limit_lifted marks entries of a token whose limit to a site was lifted.").
			Annotations(apispec.Field{Kind: codec.Object, Example: `{"old": {"state": "Pending"}, "new": {"state": "Confirmed"}}`}),
		field.Int64("xid").Optional().Nillable().Immutable().Comment("Id of the transaction that wrote the entry, on PostgreSQL.").
			Annotations(apispec.Field{Hidden: true, Derived: true}, entsql.DefaultExprs(map[string]string{dialect.Postgres: "txid_current()", dialect.SQLite: "NULL"})),
	}
}

// Indexes of AuditEvent.
func (AuditEvent) Indexes() []ent.Index {
	return []ent.Index{
		// The history of a row. Without the entity the index is smaller and cheaper to
		// write; few rows of other entities have the same id.
		index.Fields("practice_id", "record_id", "id"),
		index.Fields("practice_id", "patient_id", "id").Annotations(entsql.IndexWhere("patient_id IS NOT NULL")), // patient_id
		index.Fields("practice_id", "at", "id"),                                                                  // on, after, before
		index.Fields("xid").Annotations(entsql.IndexWhere("xid IS NOT NULL")),                                    // entries to seal
	}
}

// Annotations of AuditEvent.
func (AuditEvent) Annotations() []schema.Annotation {
	return []schema.Annotation{apispec.Subject{}, apispec.Resource{
		Key: "audit_event", Plural: "audit_events", Scope: "audit", Doc: "The audit log: writes, reads of patients' data, sign-ins, refusals, reports and exports.",
		Verbs:       readable,
		Handwritten: []apispec.Verb{apispec.Get, apispec.List},
		Descriptions: map[apispec.Verb]string{
			apispec.List: "Events are in the order in which they were written. patient_id finds the writes of a patient's records and every read of them, so with action=read it lists who has seen the patient.",
		},
		Filters: []apispec.Filter{
			{Param: "patient_id", Kind: codec.ID, Handwritten: true, Search: true, Doc: "Writes and reads of this patient's records."},
			{Param: "user_id", Doc: "By this user."},
			{Param: "application_id", Doc: "Through this application."},
			{Param: "token_id", Doc: "With this token."},
			{Param: "resource", Doc: "Writes of records of this kind: Patient, Appointment."},
			{Param: "record_id", Doc: "Writes of the record with this id."},
			{Param: "action", Kind: codec.Enum, Values: AuditActions, Doc: "With this action."},
			{Param: "on", Column: "at", Kind: codec.Day, Handwritten: true, Doc: "On this local day."},
			{Param: "after", Column: "at", Op: "GTE", Doc: "At or after this time."},
			{Param: "before", Column: "at", Op: "LT", Doc: "Before this time."},
		},
		Sorts:     []apispec.Sort{{Key: "at"}},
		NotInFeed: "it is the record of changes itself",
		Unchecked: "the program makes all values, and six checks are two thirds of the cost of an event: 47 of 72 µs",
	}}
}

// AuditRead finds the reads of a patient's records: one row for each patient of an AuditEvent with
// the action read.
type AuditRead struct{ ent.Schema }

// Mixin of AuditRead.
func (AuditRead) Mixin() []ent.Mixin {
	return []ent.Mixin{tenant{site: bookkeeping, keyless: true}}
}

// Fields of AuditRead.
func (AuditRead) Fields() []ent.Field {
	return []ent.Field{
		intID(),
		field.Int64("patient_id").Immutable().Comment("The patient."),
		field.Int64("event_id").Immutable().Comment("The entry of the audit log."),
		field.Time("at").Immutable().Comment("Time of the entry: on PostgreSQL both tables are partitioned by month."),
	}
}

// Indexes of AuditRead.
func (AuditRead) Indexes() []ent.Index {
	return []ent.Index{index.Fields("practice_id", "patient_id", "event_id")} // who has read a patient's records
}

// Annotations of AuditRead.
func (AuditRead) Annotations() []schema.Annotation {
	return []schema.Annotation{apispec.AuditedByOwner{Reason: "it is part of the audit log"}}
}

// AuditBlock seals entries of the audit log: a practice's blocks are a chain of hashes
// (package audit/chain). Blocks are append-only.
type AuditBlock struct{ ent.Schema }

// Mixin of AuditBlock.
func (AuditBlock) Mixin() []ent.Mixin {
	return []ent.Mixin{tenant{site: bookkeeping, keyless: true}}
}

// Fields of AuditBlock.
func (AuditBlock) Fields() []ent.Field {
	return []ent.Field{
		intID(),
		field.Int64("number").Immutable().Comment("Position in the practice's chain, from 1."),
		field.Time("at").Immutable().Comment("When the block was sealed."),
		field.Int64("through").Immutable().Comment("All entries before it are sealed: the id of a transaction on PostgreSQL, of an entry on SQLite."),
		field.Int64("floor").Default(0).Immutable().Comment("Entries up to this id are sealed, whatever their transaction: they come from a restored database."),
		field.Bytes("entries").Immutable().Comment("Of each entry its id, 8 bytes, and the SHA-256 of its content."),
		field.Bytes("previous").MaxLen(32).Immutable().Comment("Hash of the block before; zeros for the first one."),
		field.Bytes("hash").MaxLen(32).Immutable().Comment("SHA-256 of the block's content and of previous."),
	}
}

// Indexes of AuditBlock.
func (AuditBlock) Indexes() []ent.Index {
	return []ent.Index{index.Fields("practice_id", "number").Unique()}
}

// AuditCut records that the oldest blocks of a practice were deleted with their entries. Its
// signature shows that the holder of the audit key did so.
type AuditCut struct{ ent.Schema }

// Mixin of AuditCut.
func (AuditCut) Mixin() []ent.Mixin {
	return []ent.Mixin{tenant{site: bookkeeping, keyless: true}}
}

// Fields of AuditCut.
func (AuditCut) Fields() []ent.Field {
	return []ent.Field{
		intID(),
		field.Time("at").Immutable().Comment("When the blocks were deleted."),
		field.Int64("number").Immutable().Comment("The last deleted block."),
		field.Bytes("hash").MaxLen(32).Immutable().Comment("Its hash."),
		field.Bytes("signature").MaxLen(64).Immutable().Comment("Ed25519 signature of practice, number, hash and time."),
	}
}

// Indexes of AuditCut.
func (AuditCut) Indexes() []ent.Index {
	return []ent.Index{index.Fields("practice_id", "number").Unique()}
}
