// Package apispec has the annotations with which the Ent schema declares the API.
//
// A Resource on a schema declares an entity's REST API: wrapper keys, operations, scope,
// filters, orders and members that are not columns. A Field on a column declares whether
// clients may write it, its limits, and its format if the type does not imply it. Only the
// generator (internal/codegen) reads them.
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

// Resource is the REST API of an entity.
type Resource struct {
	Key    string // wrapper of one record: "patient"
	Plural string // wrapper of a list: "patients"
	Path   string // without a leading slash; if empty, Plural
	Scope  string // scope family
	// DeleteScope is the verb of the scope that a delete needs; if empty, delete.
	DeleteScope string
	Doc         string // one sentence for the reference

	Verbs []Verb
	// Descriptions are paragraphs for the reference, by verb.
	Descriptions map[Verb]string
	// Handwritten are the verbs whose method is in internal/api; the others are generated.
	Handwritten []Verb
	// Archive is the column that delete sets: a boolean to false, a time to the request's time.
	// If it is empty, delete removes the row.
	Archive string
	// LockFirst is a column whose row an update or delete keeps from being erased before it locks its
	// own row. It is for a resource whose writes also insert rows with the same reference: taken
	// later, that lock deadlocks with an erasure, which locks the patient before the patient's rows.
	// Clients cannot change the column.
	LockFirst string
	// Conflict describes the 409 that a create or update may return. The rule in
	// internal/api finds it.
	Conflict *Conflict
	// ConflictOf is the plural of the resource whose Conflict a create or update may return: a slot is
	// held as it is booked.
	ConflictOf string

	// Filters beyond those of Tenant.
	Filters []Filter
	// Sorts beyond id, created_at and updated_at.
	Sorts []Sort
	Order string // default order; "id" if empty
	// Counters are counts of rows that the database maintains.
	Counters []Counter

	Computed   []Computed  // members that are not columns
	Embeds     []Embed     // members that are other entities
	Totals     []string    // decimal members of a list's meta, set in internal/api
	BodyFields []BodyField // members of a request body that are not columns
	// ExampleCreate and ExampleUpdate are the columns in the example bodies of the document; that of
	// a create has the required ones as well.
	ExampleCreate, ExampleUpdate []string
	Operations                   []Operation // operations beyond the standard ones

	// Unchecked is why the columns have no CHECK constraints. PostgreSQL parses each one again for
	// every statement that writes a row.
	Unchecked string
	// NotInFeed is why the change feed leaves the resource out. Without it, the resource is in
	// the feed, which needs get and list.
	NotInFeed string
}

// Name implements ent's schema.Annotation.
func (Resource) Name() string { return "Resource" }

// Conflict describes a 409 response.
type Conflict struct {
	Doc     string
	Code    string     // of the error
	Members []Computed // of each element of conflicts
	Lists   []Computed // further members of the error, each a list of objects
}

// Tenant is the annotation of the tenant mixin.
type Tenant struct {
	SiteColumn string   // the column that names a row's site; empty if rows belong to no site
	SiteTable  string   // the table that SiteColumn references, whose rows have the site_id; empty if SiteColumn is the site
	AnySite    bool     // rows without a site can be read from any site
	Filters    []Filter // for each list whose entity has their column
}

// PracticeWide reports whether the rows belong to no site. Callers limited to a site can read
// such rows but not change them.
func (t Tenant) PracticeWide() bool { return t.SiteColumn == "" }

// Name implements ent's schema.Annotation.
func (Tenant) Name() string { return "Tenant" }

// Filter is a query parameter of a list and its predicate.
type Filter struct {
	Param       string
	Kind        codec.Kind // if empty, that of the column
	Column      string     // if empty, Param
	Edge        string     // the column is in this edge's table
	Op          string     // EQ if empty; GT, GTE, LT, LTE; IN for arrays: of ids, or with Handwritten
	Values      []string   // values of an enum; of a boolean column the false value, then the true one
	Where       string     // SQL condition on the entity's columns, never null: true for its rows, false for the others
	Handwritten bool       // the predicate is in internal/api
	Search      bool       // matches few rows, so rows are found by it before they are sorted; with Handwritten
	Required    bool       // required in the OpenAPI document; the hand-written method checks it
	MaxItems    int        // most values of an array, which may then not be empty
	Shown       bool       // the example request of the document has it, as it has the required ones
	Example     string     // JSON: its value there; if empty, the example of the kind
	Doc         string
}

// Sort is a value of sort_by.
type Sort struct {
	Key    string
	Column string // if empty, Key
	Edge   string // the column is in this edge's table
}

// Counter counts a practice's rows. The database maintains it, so that a list need not count
// its rows.
//
//	{Name: "all"}                                    all rows
//	{Name: "by_patient", By: "patient_id"}           rows of each patient, for patient_id=
//	{Name: "open", Where: "closed_at IS NULL", Unless: "closed"}
//	                                                 rows listed without closed=true
//
// Each counter adds about 10 µs to every insert and delete.
type Counter struct {
	Name string // letters and _, unique in the resource
	By   string // integer column: counts the rows of each value
	// Day is the time column of the default order: the counter counts the rows of each UTC
	// day, which finds deep pages. It needs another counter of the same rows without Day.
	Day string
	// Where is the SQL condition of the counted rows; if empty, all rows are counted. The
	// list shows only these rows, unless the boolean filter named by Unless is true.
	Where, Unless string
}

// Computed is a member of the response that is not a column of the entity.
type Computed struct {
	Name        string
	Kind        codec.Kind
	Nullable    bool
	Edge        string   // the columns are in this edge's table
	Columns     []string // arguments of Func; without Func, the one column to show
	Func        string   // pure function of package schema
	Handwritten bool     // set in internal/api
	CreateOnly  bool     // with Handwritten and Nullable: the rule of a create sets it; null in other responses
	// DependsOn are the resources that a Handwritten member reads besides the record and its parts. They
	// must be small and change rarely: after a change, an extract writes all records again. Without
	// it, an extract leaves a Handwritten member out.
	DependsOn []string
	Objects   *Objects // if it is a list of objects
	Doc       string
	Example   string // JSON; if empty, the example of the kind
}

// Objects describes a member that is a list of objects.
type Objects struct {
	Item    string // name of the element type
	Members []Computed
}

// Embed is a member that holds a linked entity, or a list of them.
type Embed struct {
	Edge       string
	Columns    []string // the columns to show; if empty, the whole resource
	SingleOnly bool     // left out of list responses
	Doc        string
}

// BodyField is a member of a request body that is not a column.
type BodyField struct {
	Name    string
	Kind    codec.Kind
	Null    string   // JSON that null stands for
	Objects *Objects // if it is a list of objects
	Doc     string
}

// Operation is an operation beyond the standard ones; its method is hand-written.
type Operation struct {
	ID          string // operation id and method name
	Path        string // with {id} for an operation on one record of the resource
	Doc         string // a short sentence
	Description string // paragraph for the reference
	Params      []Filter
	Members     []Computed // members of each element; if empty, the response is the resource
	Item        string     // with Members: name of the element type
	Key         string     // with Members: wrapper of the elements
	MaxPage     int        // maximum and default per_page of a list whose rows are not counted
	Counted     bool       // a list with the paging and meta of a resource's list; without MaxPage and Counted, one record
	Filtered    bool       // with Counted: takes the orders and filters of the resource's list, beside Params
	PatientData bool       // Members are patient data, so reads are audited
}

// Field declares how a column appears in the API.
type Field struct {
	Kind          codec.Kind // if empty, derived from the column's type
	Write         bool       // clients may write it
	CreateOnly    bool       // with Write: only on create
	Required      bool       // required on create, never null
	CreateDefault bool       // null means the default on create and is refused on update
	Hidden        bool       // never leaves the server
	Derived       bool       // set only by hooks and the program
	// Limits, which the databases check too (package limit).
	MaxRunes int      // if 0, limit.LongText for visible text
	Min, Max *int64   // of decimals in hundredths
	Values   []string // the allowed values of a column that is not an enum; of a list, of its elements
	Words    []string // the allowed words of a space-separated list
	Format   string   // name in limit.Forms

	// Bookkeeping marks a column of use, not of content: an update of nothing else is not in
	// the change feed.
	Bookkeeping bool

	Active bool // a reference must point at a record that is not archived
	// Same is a create-only column: a reference must point at a row with the same value in its
	// column of that name.
	Same    string
	Example string
}

// Name implements ent's schema.Annotation.
func (Field) Name() string { return "Field" }

// ExampleDay is the day of the examples in requests: a Wednesday. It is far ahead because a client
// may send the examples to a demo of any age, in which the slots must be free. A test fails when
// it comes near.
const ExampleDay = "2030-01-09"

// ExampleAt returns a time of ExampleDay, as JSON.
func ExampleAt(clock string) string { return `"` + ExampleDay + "T" + clock + `:00.000+00:00"` }

// Hidden is the annotation of a column that never leaves the server.
func Hidden() Field { return Field{Hidden: true} }

// Subject marks an entity whose data are protected. Reads of its rows, and of rows that
// point at one over any number of edges, are audited.
type Subject struct{}

// Name implements ent's schema.Annotation.
func (Subject) Name() string { return "Subject" }

// AuditedByOwner marks rows about a subject that are audited under the row they belong to.
type AuditedByOwner struct{ Reason string }

// Name implements ent's schema.Annotation.
func (AuditedByOwner) Name() string { return "AuditedByOwner" }

// FeedPart marks an entity whose rows are part of the records that its edges lead to: a write
// of such a row changes those records in the change feed. Rows that a list embeds (Embed) are
// parts without it.
type FeedPart struct{ Edges []string }

// Name implements ent's schema.Annotation.
func (FeedPart) Name() string { return "FeedPart" }

// Checks are rules between the columns of a row, enforced by CHECK constraints. Limits of a
// single column belong in its Field.
type Checks []Check

// Name implements ent's schema.Annotation.
func (Checks) Name() string { return "Checks" }

// Check is one rule between columns.
type Check struct {
	Name string // "finishes_after_start"; the constraint's name adds the table's
	SQL  string // condition (limit.Row)
}

// Unconfined is the annotation of an entity without the tenant mixin. Reason says how its
// rows are protected instead.
type Unconfined struct{ Reason string }

// Name implements ent's schema.Annotation.
func (Unconfined) Name() string { return "Unconfined" }
