package codegen

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"text/template"

	"entgo.io/contrib/entoas"
	"entgo.io/ent/entc/gen"
	"github.com/ogen-go/ogen"

	"chairside/internal/apispec"
	"chairside/internal/codec"
	"chairside/internal/entx/table"
)

// model is the Ent schema with its annotations decoded: the input of documents and templates.
type model struct {
	Entities []*entity
	names    goNames // set once ogen has run
}

// entity is one Ent schema; R is the zero Resource if it has no API.
type entity struct {
	*gen.Type
	R       apispec.Resource
	Tenant  apispec.Tenant
	Model   *model
	Columns []*column // the id comes first
}

// column is one Ent field and how it appears in the API.
type column struct {
	*gen.Field
	API    apispec.Field
	Owner  *entity
	Kind   codec.Kind
	schema *ogen.Schema // from entoas
}

func newModel(g *gen.Graph, schemas map[string]*ogen.Schema) (*model, error) {
	m := &model{}
	for _, n := range g.Nodes {
		e := &entity{Type: n, Model: m}
		if err := annotation(n.Annotations, &e.R); err != nil {
			return nil, err
		}
		if err := annotation(n.Annotations, &e.Tenant); err != nil {
			return nil, err
		}
		for _, f := range append([]*gen.Field{n.ID}, n.Fields...) {
			c, err := newColumn(f)
			if err != nil {
				return nil, err
			}
			c.Owner = e
			for _, p := range schemas[n.Name].Properties {
				if p.Name == f.Name {
					c.schema = componentSchema(c, p.Schema)
				}
			}
			if c.schema == nil {
				return nil, fmt.Errorf("%s.%s: entoas derived no schema", n.Name, f.Name)
			}
			e.Columns = append(e.Columns, c)
		}
		m.Entities = append(m.Entities, e)
	}
	for _, e := range m.Entities {
		e.addCommonFilters()
		e.R.Sorts = append(e.R.Sorts, apispec.Sort{Key: "id"})
		for _, c := range []string{"created_at", "updated_at"} {
			if e.Column(c) != nil {
				e.R.Sorts = append(e.R.Sorts, apispec.Sort{Key: c})
			}
		}
		if e.R.Order == "" {
			e.R.Order = "id"
		}
	}
	return m, nil
}

type named interface{ Name() string }

// annotation decodes the annotation that has the name of to, if there is one. Ent passes
// annotations to the generator as JSON.
func annotation(from gen.Annotations, to named) error {
	a, ok := from[to.Name()]
	if !ok {
		return nil
	}
	b, err := json.Marshal(a)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, to)
}

func newColumn(f *gen.Field) (*column, error) {
	c := &column{Field: f}
	if err := annotation(f.Annotations, &c.API); err != nil {
		return nil, err
	}
	c.Kind = c.API.Kind
	if c.Kind == "" {
		c.Kind = kindOf(f)
	}
	if c.Kind == "" {
		c.API.Hidden = true
	}
	return c, nil
}

// kindOf derives the kind from the column's type, or returns "" if it needs an annotation.
func kindOf(f *gen.Field) codec.Kind {
	switch t := f.Type.String(); {
	case f.IsEnum():
		return codec.Enum
	case t == "civil.Date":
		return codec.Date
	case t == "decimal.Decimal":
		return codec.Decimal
	case f.IsTime():
		return codec.Time
	case f.IsBool():
		return codec.Boolean
	case f.IsUUID():
		return codec.UUID
	case t == "int64":
		return codec.ID
	case t == "int":
		return codec.Integer
	case f.IsString():
		return codec.Text
	}
	return ""
}

// addCommonFilters adds the common filters (behaviour.md section 5) whose column the entity
// has, unless the resource declares its own.
func (e *entity) addCommonFilters() {
	if e.Has("list") {
		e.R.Filters = append(e.R.Filters, apispec.Filter{Param: "ids", Column: "id", Op: "IN", MaxItems: maxIDs, Doc: "With these ids, separated by commas: at most 100."})
	}
	for _, f := range e.Tenant.Filters {
		declared := slices.ContainsFunc(e.R.Filters, func(o apispec.Filter) bool { return o.Param == f.Param })
		if c := e.Column(columnOf(f)); c != nil && !declared {
			e.R.Filters = append(e.R.Filters, f)
		}
	}
}

// maxIDs is the most ids of a list request.
const maxIDs = 100

func columnOf(f apispec.Filter) string {
	if f.Column != "" {
		return f.Column
	}
	return f.Param
}

func sortColumn(s apispec.Sort) string {
	if s.Column != "" {
		return s.Column
	}
	return s.Key
}

// Column returns a column by name, or nil.
func (e *entity) Column(name string) *column {
	for _, c := range e.Columns {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// Edge returns an edge by name.
func (e *entity) Edge(name string) (*gen.Edge, error) {
	for _, edge := range e.Edges {
		if edge.Name == name {
			return edge, nil
		}
	}
	return nil, fmt.Errorf("%s has no edge %q", e.Name, name)
}

// Target returns the entity of an edge.
func (e *entity) Target(edge string) (*entity, error) {
	g, err := e.Edge(edge)
	if err != nil {
		return nil, err
	}
	return e.Model.of(g.Type), nil
}

func (m *model) of(t *gen.Type) *entity {
	for _, e := range m.Entities {
		if e.Name == t.Name {
			return e
		}
	}
	return nil
}

// References returns the edge whose foreign key is the column, or nil.
func (c *column) References() *gen.Edge {
	for _, edge := range c.Owner.Edges {
		if f := edge.Field(); f != nil && f.Name == c.Name {
			return edge
		}
	}
	return nil
}

// Shown returns the columns of the response, the timestamps last.
func (e *entity) Shown() (shown []*column) {
	var stamps []*column
	for _, c := range e.Columns {
		switch {
		case c.API.Hidden:
		case c.Name == "created_at" || c.Name == "updated_at":
			stamps = append(stamps, c)
		default:
			shown = append(shown, c)
		}
	}
	return append(shown, stamps...)
}

// Written returns the columns of request bodies.
func (e *entity) Written() (written []*column) {
	for _, c := range e.Columns {
		if c.API.Write {
			written = append(written, c)
		}
	}
	return written
}

// writtenBy returns the columns of the request body of a create or an update.
func (e *entity) writtenBy(create bool) []*column {
	return slices.DeleteFunc(e.Written(), func(c *column) bool { return c.API.CreateOnly && !create })
}

// Writable reports whether the resource has a verb that writes.
func (e *entity) Writable() bool { return e.Input() != "" || e.Has("delete") }

// Input returns the name of ogen's type of the request body, or "" without create and update.
func (e *entity) Input() string {
	if e.Has("create") || e.Has("update") {
		return e.Name + "Input"
	}
	return ""
}

// Has reports whether the resource has a verb.
func (e *entity) Has(v string) bool { return slices.Contains(e.R.Verbs, apispec.Verb(v)) }

// Generated reports whether a verb's method is generated.
func (e *entity) Generated(v string) bool {
	return e.Has(v) && !slices.Contains(e.R.Handwritten, apispec.Verb(v))
}

// HasResponse reports whether the entity has a response of its own.
func (e *entity) HasResponse() bool {
	return e.R.Key != ""
}

// Summary returns the type of a list element. It differs from the type of a single record if
// that embeds lists which are left out of list responses.
func (e *entity) Summary() string {
	if slices.ContainsFunc(e.R.Embeds, func(b apispec.Embed) bool { return b.SingleOnly }) {
		return e.Name + "Summary"
	}
	return e.Name
}

// PatientData reports whether rows belong to a subject, so that reads are audited (isAudited).
func (e *entity) PatientData() bool { return isPatientData(e.Type) }

// isPatientData reports whether a row is a subject (apispec.Subject) or points at one, over
// any number of edges.
func isPatientData(n *gen.Type) bool { return pointsAtSubject(n, map[*gen.Type]bool{}) }

func pointsAtSubject(n *gen.Type, seen map[*gen.Type]bool) bool {
	if _, ok := n.Annotations[apispec.Subject{}.Name()]; ok {
		return true
	}
	seen[n] = true
	return slices.ContainsFunc(n.Edges, func(e *gen.Edge) bool { return e.OwnFK() && !seen[e.Type] && pointsAtSubject(e.Type, seen) })
}

// isAudited reports whether audit lines name the rows themselves, not only their owners.
func isAudited(n *gen.Type) bool {
	_, byOwner := n.Annotations[apispec.AuditedByOwner{}.Name()]
	return !byOwner && isPatientData(n)
}

// Path returns the resource's path without a leading slash.
func (e *entity) Path() string { return cmp.Or(e.R.Path, e.R.Plural) }

// ScopeOf returns the scope that an operation needs.
func (e *entity) ScopeOf(verb string) string {
	if verb == string(apispec.Delete) {
		verb = cmp.Or(e.R.DeleteScope, verb)
	}
	return e.R.Scope + ":" + verb
}

// Many returns the plural in the names of operations: Fees of listFees. Its capitals are those of the
// schema's name, which the operations on one record have: listNHSClaims and getNHSClaim.
func (e *entity) Many() string {
	plural, n := pascal(e.R.Plural), 0
	for n < min(len(plural), len(e.Name)) && strings.EqualFold(plural[n:n+1], e.Name[n:n+1]) {
		n++
	}
	return e.Name[:n] + plural[n:]
}

// pascal returns snake_case as a Go name without initialisms, for operation ids.
func pascal(s string) string {
	var b strings.Builder
	for _, part := range strings.Split(s, "_") {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String()
}

// modelFuncs are the template functions that need only the schema. Those in goNames also need
// ogen's output.
var modelFuncs = template.FuncMap{
	"pascal":       pascal,
	"audited":      isAudited,
	"counters":     countersOf,
	"limits":       limitsOf,
	"tables":       tablesOf,
	"views":        viewsOf,
	"feed_sources": feedSources,
	"rules":        rulesOf,
	"sealed":       sealedOf,
	"joined_list":  joinedList,
	"stored_types": storedTypes,
	"joined":       joined,
	"created":      requested(apispec.Create),
	"changed":      requested(apispec.Update),
	"words":        table.Words,
	"article":      article,
	"literal":      literal,
	"orders":       orders,
}

// annotateOwnTypes tells entoas the OpenAPI schemas of Go types that it does not know: decimals,
// days and JSON. entoas derives all others from the Ent schema.
func annotateOwnTypes(next gen.Generator) gen.Generator {
	return gen.GenerateFunc(func(g *gen.Graph) error {
		for _, n := range g.Nodes {
			for _, f := range append([]*gen.Field{n.ID}, n.Fields...) {
				if _, err := entoas.OgenSchema(f); err == nil {
					continue
				}
				c, err := newColumn(f)
				if err != nil {
					return err
				}
				if f.Annotations == nil {
					f.Annotations = gen.Annotations{}
				}
				f.Annotations["EntOAS"] = entoas.Annotation{Schema: schemaOf(c.Kind)}
			}
		}
		return next.Generate(g)
	})
}

// componentSchema adds nullability and description to the schema that entoas derived for a
// column. It drops the default, which belongs to requests, not to components.
func componentSchema(c *column, derived *ogen.Schema) *ogen.Schema {
	return setNullable(copyOf(derived), c.Nullable()).SetDescription(c.Comment()).SetDefault(nil)
}

// setNullable sets whether a value may be null. An enumeration must then list null as well
// (clarification of nullable in OpenAPI 3.0.3).
func setNullable(s *ogen.Schema, may bool) *ogen.Schema {
	isNull := func(value json.RawMessage) bool { return string(value) == "null" }
	s.Enum = slices.DeleteFunc(slices.Clone(s.Enum), isNull)
	if may && len(s.Enum) > 0 {
		s.Enum = append(s.Enum, json.RawMessage("null"))
	}
	return s.SetNullable(may)
}

// texts returns words as JSON strings.
func texts(words []string) (raw []json.RawMessage) {
	for _, w := range words {
		b, _ := json.Marshal(w) // a string always marshals
		raw = append(raw, b)
	}
	return raw
}
