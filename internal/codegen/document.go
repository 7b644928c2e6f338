package codegen

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/go-faster/yaml"
	"github.com/ogen-go/ogen"

	"chairside/internal/apispec"
	"chairside/internal/codec"
	"chairside/internal/entx/table"
)

// document builds the OpenAPI document in one of its two forms (see the package
// documentation).
type document struct {
	*ogen.Spec
	published bool
	model     *model
	recorded  recorded
	conflicts map[string]*apispec.Conflict // by operation
}

// The forms of the document.
const (
	internalForm  = false
	publishedForm = true
)

func newDocument(m *model, published bool) (*document, error) {
	r, err := readRecording()
	if err != nil {
		return nil, err
	}
	d := &document{Spec: ogen.NewSpec(), published: published, model: m, recorded: r, conflicts: map[string]*apispec.Conflict{}}
	d.SetOpenAPI("3.0.3")
	d.Init()
	d.SetInfo(ogen.NewInfo().SetTitle("Chairside").SetVersion("1"))
	d.SetServers([]ogen.Server{{URL: "/v1"}})
	for name, s := range metaSchemas() {
		d.AddSchema(name, s)
	}
	d.addErrorBody(m)
	if !published {
		d.AddResponse("Error", ogen.NewResponse().SetDescription("Failure.").SetJSONContent(ref("Error")))
	}
	for _, e := range m.Entities {
		d.addEntity(e)
	}
	return d, nil
}

func metaSchemas() map[string]*ogen.Schema {
	number := func(name, doc string) *ogen.Property {
		return property(name, schemaOf(codec.Integer).SetDescription(doc))
	}
	page, current := number("page", "The page shown."), number("current_page", "The page shown.")
	per := number("per_page", "Records to a page.")
	return map[string]*ogen.Schema{
		"Meta": object(number("total", "Records on all pages."), page, current, per, number("total_pages", "Number of pages.")).
			AddOptionalProperties(property("next_cursor", ogen.String().SetNullable(true).SetDescription("With cursor: the cursor of the next page; null on the last one."))),
		"PageMeta": object(page, current, per,
			property("more", schemaOf(codec.Boolean).SetDescription("Whether there is a further page."))),
	}
}

// addEntity adds the schemas and paths of one resource.
func (d *document) addEntity(e *entity) {
	if !e.HasResponse() {
		return
	}
	d.AddSchema(e.Name, d.output(e, true))
	if e.Summary() != e.Name {
		d.AddSchema(e.Summary(), d.output(e, false))
	}
	d.AddSchema(e.Name+"Response", object(property(e.R.Key, ref(e.Name))))
	many, one := ogen.NewPathItem(), ogen.NewPathItem()
	if e.Has("list") {
		many.SetGet(d.list(e))
	}
	if e.Has("create") {
		many.SetPost(d.write(e, "create", "create", "Create"))
	}
	if e.Has("get") {
		one.SetGet(d.operation(e, "get"+e.Name, "read", "Get "+article(e.R.Key)+".", e.R.Descriptions[apispec.Get]).AddParameters(d.idParameter(e)).AddParameters(d.shape(e.shapeParams(e.members(true), true))...).
			AddResponse("200", d.response(e.Name+"Response", "get"+e.Name)))
	}
	if e.Has("update") {
		one.SetPatch(d.write(e, "update", "update", "Update").AddParameters(d.idParameter(e)))
		if d.published { // the server treats PUT as PATCH
			one.SetPut(d.write(e, "put", "update", "Update").AddParameters(d.idParameter(e)))
		}
	}
	if e.Has("delete") {
		one.SetDelete(d.operation(e, "delete"+e.Name, "delete", "Delete "+article(e.R.Key)+".", e.R.Descriptions[apispec.Delete]).AddParameters(d.idParameter(e)).
			AddResponse("204", d.written(ogen.NewResponse().SetDescription("Done; no body."))))
	}
	if many.Get != nil || many.Post != nil {
		d.AddPathItem("/"+e.Path(), many)
	}
	if one.Get != nil || one.Patch != nil || one.Delete != nil {
		d.AddPathItem("/"+e.Path()+"/{id}", one)
	}
	for _, o := range e.R.Operations {
		d.AddPathItem(o.Path, ogen.NewPathItem().SetGet(d.extraOperation(e, o)))
	}
}

// output returns the schema of a record in responses.
func (d *document) output(e *entity, single bool) *ogen.Schema {
	s := object().SetDescription(e.R.Doc)
	add := func(name string, p *ogen.Schema) {
		s.AddRequiredProperties(property(name, p))
	}
	record := d.recordExample(e)
	for _, c := range e.Shown() {
		add(c.Name, d.column(c, record))
	}
	for _, c := range e.R.Computed {
		add(c.Name, d.computed(c, record))
	}
	for _, b := range e.R.Embeds {
		if b.SingleOnly && !single {
			continue
		}
		target, err := e.Target(b.Edge)
		if err != nil {
			panic(err)
		}
		name := target.Name
		if len(b.Columns) > 0 {
			name = e.Name + pascal(b.Edge)
			part := object().SetDescription(b.Doc)
			for _, column := range b.Columns {
				part.AddRequiredProperties(property(column, d.column(target.Column(column), d.recordExample(target))))
			}
			d.AddSchema(name, part)
		}
		if edge, _ := e.Edge(b.Edge); edge.Unique {
			add(b.Edge, ref(name))
		} else {
			add(b.Edge, ref(name).AsArray())
		}
	}
	if d.published {
		for _, edge := range e.expandable() {
			linked := ogen.NewSchema().SetType("object").SetAllOf([]*ogen.Schema{ref(e.Model.of(edge.Type).Summary())}).SetNullable(true).
				SetDescription("With expand=" + edge.Name + ": the record of " + edge.Field().Name + "; null without one, or if the token may not see it.")
			s.AddOptionalProperties(property(edge.Name, linked))
		}
	}
	return s
}

// column returns the property of a column in responses, with its value in a record.
func (d *document) column(c *column, record map[string]json.RawMessage) *ogen.Schema {
	return d.illustrate(d.internal(copyOf(c.schema), c.Kind), record[c.Name], d.columnExample(c))
}

// computed returns the property of a member that is not a column, with its value in a record.
func (d *document) computed(c apispec.Computed, record map[string]json.RawMessage) *ogen.Schema {
	s := schemaOf(c.Kind)
	if c.Objects != nil {
		s = d.objects(c.Objects)
	}
	return d.illustrate(d.internal(s.SetNullable(c.Nullable).SetDescription(c.Doc), c.Kind), record[c.Name], computedExample(c))
}

// objects returns the schema of a list of objects.
func (d *document) objects(l *apispec.Objects) *ogen.Schema {
	d.AddSchema(l.Item, d.item(l.Members))
	return ref(l.Item).AsArray()
}

// item returns the schema of an object in a list.
func (d *document) item(members []apispec.Computed) *ogen.Schema {
	s := object()
	for _, c := range members {
		s.AddRequiredProperties(property(c.Name, d.internal(schemaOf(c.Kind).SetDescription(c.Doc), c.Kind)))
	}
	return s
}

// internal adapts a property to the generated server: times get a layout, and enums are
// plain strings, because package codec has checked them.
func (d *document) internal(s *ogen.Schema, k codec.Kind) *ogen.Schema {
	if d.published {
		return s
	}
	if k == codec.Enum {
		s = ogen.String().SetNullable(s.Nullable).SetDescription(s.Description)
	}
	if k == codec.Metadata { // ogen encodes a map in random order, which would change the entity tag
		s = anything().SetDescription(s.Description)
	}
	if k == codec.Time {
		timeFormat(s, codec.TimeLayout)
	}
	return s
}

// timeFormat makes ogen write times in a layout. Its own has no fractions of a second.
func timeFormat(s *ogen.Schema, layout string) {
	s.Common.Extensions = ogen.Extensions{"x-ogen-time-format": {Kind: yaml.ScalarNode, Tag: "!!str", Value: layout}}
}

// input returns the schema of a record in requests. The internal form is shared by create and
// update and requires no member, because package codec reports missing ones.
func (d *document) input(e *entity, create bool) *ogen.Schema {
	s := object()
	for _, c := range e.writtenBy(create || !d.published) {
		p := d.inputSchema(c)
		if d.published {
			p.Example = ogen.ExampleValue(d.columnExample(c))
		} else if c.Kind == codec.Enum {
			p = ogen.String().SetNullable(p.Nullable)
		} else if c.Kind == codec.Time {
			timeFormat(p, time.RFC3339Nano)
		}
		if d.published && create && c.API.Required {
			s.AddRequiredProperties(property(c.Name, p))
		} else {
			s.AddOptionalProperties(property(c.Name, p))
		}
	}
	for _, x := range e.R.BodyFields {
		p, shown := schemaOf(x.Kind), kindExample(x.Kind, x.Name)
		if x.Objects != nil {
			p, shown = d.objects(x.Objects), listExample(x.Objects)
		}
		if d.published {
			p.Example = ogen.ExampleValue(shown)
		}
		s.AddOptionalProperties(property(x.Name, p.SetDescription(x.Doc)))
	}
	return s
}

// inputSchema returns the schema of a column in requests. The published form carries the limits,
// which clients can check themselves; the server checks them before it decodes.
func (d *document) inputSchema(c *column) *ogen.Schema {
	s := copyOf(c.schema)
	if c.API.Required {
		setNullable(s, false)
	}
	if !d.published {
		return s
	}
	if edge := c.References(); edge != nil && c.Owner.Model.of(edge.Type).Has("list") {
		s.SetDescription(s.Description + " One of `GET /" + c.Owner.Model.of(edge.Type).Path() + "`.")
	}
	if c.Kind == codec.Strings {
		word := ogen.String()
		if len(c.API.Values) > 0 {
			word.SetEnum(texts(c.API.Values))
		}
		return word.AsArray().SetDescription(s.Description)
	}
	if c.API.Min != nil && c.Kind != codec.Decimal {
		s.SetMinimum(c.API.Min)
	}
	if c.API.Max != nil && c.Kind != codec.Decimal {
		s.SetMaximum(c.API.Max)
	}
	if c.API.MaxRunes > 0 && s.Type == "string" && s.Format == "" && c.Kind == codec.Text {
		n := uint64(c.API.MaxRunes)
		s.SetMaxLength(&n)
	}
	return s
}

// write returns a create or update operation.
func (d *document) write(e *entity, id, verb, body string) *ogen.Operation {
	name := e.Name + "Input"
	if d.published {
		name = e.Name + body
	}
	d.AddSchema(name, d.input(e, verb == "create"))
	d.AddSchema(name+"Request", object(property(e.R.Key, ref(name))))
	status, doc := "200", "Change "+article(e.R.Key)+"."
	if verb == "create" {
		status, doc = "201", "Create "+article(e.R.Key)+"."
	}
	if c := e.conflict(); c != nil {
		d.conflicts[id+e.Name] = c
	}
	request := ogen.NewRequestBody().SetRequired(true).SetContent(map[string]ogen.Media{
		"application/json": {Schema: ref(name + "Request"), Example: d.bodyExample(e, verb == "create")},
	})
	return d.operation(e, id+e.Name, verb, doc, e.R.Descriptions[apispec.Verb(verb)]).SetRequestBody(request).
		AddResponse(status, d.written(d.response(e.Name+"Response", id+e.Name)))
}

// list returns the list operation with its filters, orders and meta.
func (d *document) list(e *entity) *ogen.Operation {
	meta := "Meta"
	if len(e.R.Totals) > 0 {
		meta = e.Name + "Meta"
		s := metaSchemas()["Meta"]
		for _, t := range e.R.Totals {
			s.AddRequiredProperties(property(t, schemaOf(codec.Decimal).SetDescription("Sum over all pages.")))
		}
		d.AddSchema(meta, s)
	}
	d.AddSchema(e.Name+"List", object(property(e.R.Plural, ref(e.Summary()).AsArray()), property("meta", ref(meta))))
	o := d.operation(e, "list"+e.Many(), "read", "List "+table.Words(e.R.Plural)+".", e.R.Descriptions[apispec.List])
	for _, p := range e.Params() {
		o.AddParameters(d.parameter(p))
	}
	o.AddParameters(d.shape(e.shapeParams(e.members(false), true))...)
	return o.AddResponse("200", d.listResponse(e.Name+"List", o.OperationID))
}

// extraOperation returns an operation beyond the standard ones.
func (d *document) extraOperation(e *entity, o apispec.Operation) *ogen.Operation {
	x := d.operation(e, o.ID, "read", o.Doc, o.Description)
	if strings.Contains(o.Path, "{id}") {
		x.AddParameters(d.idParameter(e))
	}
	for _, p := range e.OperationParams(o) {
		x.AddParameters(d.parameter(p))
	}
	x.AddParameters(d.shape(e.operationShape(o))...)
	if len(o.Members) == 0 {
		return x.AddResponse("200", d.response(e.Name+"Response", o.ID))
	}
	item := object()
	record := element(d.recorded.Responses[o.ID], o.Key)
	for _, c := range o.Members {
		item.AddRequiredProperties(property(c.Name, d.computed(c, record)))
	}
	d.AddSchema(o.Item, item)
	if o.MaxPage == 0 && !o.Counted {
		d.AddSchema(o.Item+"Response", object(property(o.Key, ref(o.Item))))
		return x.AddResponse("200", d.response(o.Item+"Response", o.ID))
	}
	meta := "PageMeta"
	if o.Counted {
		meta = "Meta"
	}
	d.AddSchema(o.Item+"List", object(property(o.Key, ref(o.Item).AsArray()), property("meta", ref(meta))))
	return x.AddResponse("200", d.listResponse(o.Item+"List", o.ID))
}

// schemaOf returns the plain schema of a kind.
func schemaOf(k codec.Kind) *ogen.Schema {
	switch k {
	case codec.Boolean, codec.Flag, codec.Gender:
		return ogen.Bool()
	case codec.Integer, codec.Consent:
		return ogen.Int()
	case codec.ID:
		return ogen.Int64()
	case codec.UUID:
		return ogen.UUID()
	case codec.Date, codec.Day:
		return ogen.Date()
	case codec.Time:
		return ogen.DateTime()
	case codec.Metadata:
		s := object()
		s.AdditionalProperties = &ogen.AdditionalProperties{Schema: *ogen.String()}
		return s
	case codec.Strings:
		return ogen.String().AsArray()
	case codec.Object, "":
		return anything()
	}
	return ogen.String()
}

func anything() *ogen.Schema { return ogen.NewSchema() }

func object(ps ...*ogen.Property) *ogen.Schema {
	return ogen.NewSchema().SetType("object").AddRequiredProperties(ps...)
}

func property(name string, s *ogen.Schema) *ogen.Property {
	return &ogen.Property{Name: name, Schema: s}
}

func ref(name string) *ogen.Schema { return ogen.NewSchema().SetRef("#/components/schemas/" + name) }

func copyOf(s *ogen.Schema) *ogen.Schema {
	c := *s
	return &c
}

func defaultOf(p documentedParam) json.RawMessage {
	if p.Kind == codec.Integer {
		return json.RawMessage(p.Default)
	}
	return texts([]string{p.Default})[0]
}
