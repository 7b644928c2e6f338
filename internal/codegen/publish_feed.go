package codegen

import (
	"slices"
	"strings"

	"github.com/ogen-go/ogen"

	"chairside/internal/codec"
)

// feedResources returns the names of the change feed's resources, sorted.
func (m *model) feedResources() (names []string) {
	for _, e := range m.Entities {
		if e.InFeed() {
			names = append(names, e.R.Plural)
		}
	}
	slices.Sort(names)
	return names
}

// feedTag is the tag of the change feed's operations, whose scopes depend on the asked resources.
const feedTag = "changes"

// addFeed documents /changes and /snapshot, which the server answers itself.
func (d *document) addFeed(m *model) {
	names := m.feedResources()
	resources := ogen.NewParameter().InQuery().SetName("resources").SetSchema(ogen.String()).
		SetDescription("Resources, separated by commas; all that the token may read if it is left out. One or more of: " + strings.Join(names, ", ") + ".")
	d.AddSchema("Change", d.changeSchema(names))
	d.AddSchema("ChangesMeta", object(
		property("cursor", ogen.String().SetDescription("To go on from. Opaque: it also names the database.")),
		property("more", ogen.Bool().SetDescription("Whether the next page has changes now."))))
	d.AddSchema("ChangeList", object(property("changes", ref("Change").AsArray()), property("meta", ref("ChangesMeta"))))
	integer := func(name, doc string, minimum, maximum int64, standard string) *ogen.Parameter {
		s := ogen.Int().SetMinimum(&minimum).SetMaximum(&maximum)
		s.Default = ogen.Default(standard)
		return ogen.NewParameter().InQuery().SetName(name).SetDescription(doc).SetSchema(s)
	}
	changes := d.feedOperation("listChanges", "List changes", "The records that were created, updated and deleted behind a cursor, in the order of their commits, whatever wrote them. "+
		"Without a cursor the list is empty and the cursor is the current end. Resources that the token may not read are left out. "+
		"Needs the read scope of each resource. The guide \"Keep a copy in sync\" has a complete loop.").
		AddParameters(
			ogen.NewParameter().InQuery().SetName("cursor").SetDescription("The cursor of the previous page, or of a snapshot.").SetSchema(ogen.String()),
			resources,
			integer("limit", "The most changes of the page; a larger number counts as the maximum.", 1, 1000, "100"),
			ogen.NewParameter().InQuery().SetName("include").SetDescription("record: also the current document of each record, as in its list; null if it is gone.").SetSchema(ogen.String().SetEnum(texts([]string{"record"}))),
			integer("wait", "Seconds to wait for the first change; a larger number counts as the maximum.", 0, 30, "0"),
		).
		AddResponse("200", d.response("ChangeList", "listChanges")).
		AddResponse("410", errorRef(410))
	d.AddPathItem("/changes", ogen.NewPathItem().SetGet(changes))

	lines := ogen.NewResponse().SetDescription("One JSON object a line: first the cursor, then the records, last the number of records.").
		SetContent(map[string]ogen.Media{"application/x-ndjson": {Schema: ogen.String(), Example: d.responseExample("getSnapshot")}})
	one := *resources
	one.Example = ogen.ExampleValue(quote("payment_plans"))
	snapshot := d.feedOperation("getSnapshot", "Get all records at one moment", "All records of the resources, and the cursor at which /changes goes on, all of one moment. "+
		"The response is complete only if its last line is {\"end\": true, \"count\": n}. It may take up to 15 minutes; a client that reads nothing for 30 seconds is disconnected. "+
		"Needs the read scope of each resource.").
		AddParameters(&one).AddResponse("200", lines)
	d.AddPathItem("/snapshot", ogen.NewPathItem().SetGet(snapshot))
}

// changeSchema returns the schema of a change.
func (d *document) changeSchema(names []string) *ogen.Schema {
	text := func(doc string, values []string) *ogen.Schema {
		return ogen.String().SetDescription(doc).SetEnum(texts(values))
	}
	return object(
		property("resource", text("The resource.", names)),
		property("id", anything().SetDescription("Id of the record: a number or a uuid, as in the record.")),
		property("event", text("What happened.", []string{"created", "updated", "deleted"})),
		property("version", ogen.Int64().SetDescription("Grows with each change of a record.")),
		property("changed_at", schemaOf(codec.Time).SetDescription("When it happened.")),
		property("record", object().SetNullable(true).SetDescription("With include=record: the current document; null if it is gone.")))
}

// feedOperation returns an operation whose scopes depend on the asked resources.
func (d *document) feedOperation(id, summary, doc string) *ogen.Operation {
	o := ogen.NewOperation().SetOperationID(id).SetSummary(summary).SetDescription(doc).AddTags(feedTag)
	o.Security = ogen.SecurityRequirements{{"oauth2": {}}, {"bearer": {}}, {"query": {}}}
	return o
}
