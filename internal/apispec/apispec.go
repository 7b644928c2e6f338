// Package apispec declares, as annotations on the Ent schema, how an entity
// appears in the API.
//
// A Resource on a schema is the entity's whole REST surface: wrapper keys,
// operations, scope, filters, orders, members that are not columns. A Field on
// a column says whether clients may write it and how it looks where the column
// type does not tell. The generator (internal/codegen) reads both; nothing at
// run time does.
package apispec

import "chairside/internal/codec"

// Verb is one of the standard operations on a resource.
type Verb string

// The standard operations. Update is both PUT and PATCH.
const (
	Get    Verb = "get"
	List   Verb = "list"
	Create Verb = "create"
	Update Verb = "update"
	Delete Verb = "delete"
)

// Resource is the REST surface of an entity.
type Resource struct {
	Key    string // wrapper of one record: "patient"
	Plural string // wrapper of a list and the path: "patients"
	Scope  string // scope family
	Doc    string // one sentence for the reference

	Verbs []Verb
	// Descriptions say, for the reference, what a verb does beyond its name.
	Descriptions map[Verb]string
	// Handwritten are the verbs whose method is hand-written in internal/api; the others
	// are generated.
	Handwritten []Verb
	// Archive is the boolean column that delete clears; empty where it removes the row.
	Archive string
	// Conflict is what a create or update may run into, for the reference: it answers
	// 409. Its rule finds it.
	Conflict *Conflict

	// Filters beyond those of Tenant.
	Filters []Filter
	// Sorts beyond id, created_at and updated_at.
	Sorts []Sort
	Order string // default order, "id" when empty
	// Counters are the totals of the list that the database maintains.
	Counters []Counter

	Computed   []Computed  // members that are not columns
	Embeds     []Embed     // members that are other entities
	Totals     []string    // decimal members of a list's meta, filled in by hand
	BodyFields []BodyField // members of a request body that are not columns
	Operations []Operation // operations beyond the standard ones
}

// Name implements ent's schema.Annotation.
func (Resource) Name() string { return "Resource" }

// Conflict is an answer 409.
type Conflict struct {
	Code    string // "double_booking"
	Doc     string
	Members []Computed // of each element of conflicts
}

// Tenant is the annotation of the tenant mixin.
type Tenant struct {
	PracticeWide bool     // rows belong to no site: callers limited to one only read them
	Filters      []Filter // of each list that has their column
}

// Name implements ent's schema.Annotation.
func (Tenant) Name() string { return "Tenant" }

// Filter is a query parameter of a list and the predicate behind it.
type Filter struct {
	Param       string
	Kind        codec.Kind // derived from the column when empty
	Column      string     // Param when empty
	Edge        string     // the column is behind this edge
	Op          string     // EQ when empty; GT, GTE, LT, LTE; IN, of an array, if Handwritten
	Values      []string   // words of an enum; with a boolean column the false word, then the true word
	Handwritten bool       // the predicate is hand-written in internal/api
	Search      bool       // the rows are found by it first, and sorted then; Handwritten
	Required    bool       // the document calls it required; the handler says what is missing
	Doc         string
}

// Sort is a value of sort_by.
type Sort struct {
	Key    string
	Column string // Key when empty
	Edge   string // the column is behind this edge
}

// Counter is a total that the database keeps: how many rows a practice has. A list
// whose request is answered by one does not count its rows.
//
//	{Name: "all"}                                    all rows
//	{Name: "by_patient", By: "patient_id"}           of each patient, for patient_id=
//	{Name: "open", Where: "closed_at IS NULL", Unless: "closed"}
//	                                                 those that are listed without closed=true
//
// Each one costs every insert and delete about 10 µs.
type Counter struct {
	Name string // of letters and _, unique among those of the resource
	By   string // an integer column: rows are counted for each of its values
	// Day is the moment of the default order: rows are counted for each of its
	// days in UTC, which finds pages deep in the list. There must be a total
	// of the same rows without Day.
	Day string
	// Where is the condition, in SQL, of the rows that count, all where it is
	// empty; and Unless the boolean filter that lifts it from the list. The
	// list's own condition is generated from it.
	Where, Unless string
}

// Computed is a member of the response that is not a column of the entity.
type Computed struct {
	Name        string
	Kind        codec.Kind
	Nullable    bool
	Edge        string   // the columns are behind this edge
	Columns     []string // arguments of Func; one column is taken as it is when Func is empty
	Func        string   // a pure function of package schema
	Handwritten bool     // filled in by hand in internal/api
	Objects     *Objects // it is a list of objects
	Doc         string
	Example     string // JSON; that of the kind when empty
}

// Objects describe a member that lists objects.
type Objects struct {
	Item    string // name of the element type
	Members []Computed
}

// Embed is a member that holds a linked entity, or a list of them.
type Embed struct {
	Edge       string
	Columns    []string // the columns to show; the whole resource when empty
	SingleOnly bool     // not in list responses
	Doc        string
}

// BodyField is a member of a request body that is not a column.
type BodyField struct {
	Name    string
	Kind    codec.Kind
	Null    string   // JSON that stands for null: what it is when nothing is sent
	Objects *Objects // it is a list of objects
	Doc     string
}

// Operation is an operation beyond the standard ones; its method is hand-written.
type Operation struct {
	ID          string // operation id and method name
	Path        string
	Doc         string // a short sentence
	Description string // what it does beyond that
	Params      []Filter
	Members     []Computed // of each element; the resource itself when empty
	Item        string     // name of the element type when Members are given
	Key         string     // wrapper of the elements when Members are given
	MaxPage     int        // maximum and default per_page of the list; 0 where it is one record
}

// Field is how a column appears.
type Field struct {
	Kind          codec.Kind // derived from the column when empty
	Write         bool       // clients may write it
	Required      bool       // on create; cannot be cleared
	CreateDefault bool       // has a default on create, but an edit cannot put it back with null
	Hidden        bool       // never leaves the server
	Derived       bool       // a hook or the program sets it: nobody else writes it
	// What the column may hold: see internal/apispec/limit. The databases check it, too.
	MaxRunes int      // limit.LongText where it is 0 and the column is shown
	Min, Max *int64   // of decimals in hundredths
	Values   []string // one of these words, where the column is no enum
	Words    []string // any of these words, with spaces between
	Format   string   // a name of limit.Forms

	Active  bool // a reference must point at an active record
	Example string
}

// Name implements ent's schema.Annotation.
func (Field) Name() string { return "Field" }

// Hidden marks a column that never leaves the server.
func Hidden() Field { return Field{Hidden: true} }

// Subject marks the people whose data are protected: who reads rows about one of them,
// those that point at one over any number of edges, is noted.
type Subject struct{}

// Name implements ent's schema.Annotation.
func (Subject) Name() string { return "Subject" }

// AuditedByOwner marks rows about a subject that the record of accesses does not name: it
// names the rows that they belong to.
type AuditedByOwner struct{ Reason string }

// Name implements ent's schema.Annotation.
func (AuditedByOwner) Name() string { return "NotedByOwner" }

// Checks are rules between the columns of an entity's rows, which the databases
// check. Limits of one column belong to its Field.
type Checks []Check

// Name implements ent's schema.Annotation.
func (Checks) Name() string { return "Checks" }

// Check is one such rule.
type Check struct {
	Name string // "finishes_after_start": the constraint has the table's name before it
	SQL  string // see limit.Row
}

// Unconfined is the annotation of an entity without the tenant mixin. Its rows
// are guarded in another way, which Reason names.
type Unconfined struct{ Reason string }

// Name implements ent's schema.Annotation.
func (Unconfined) Name() string { return "Unconfined" }
