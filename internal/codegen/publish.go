package codegen

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/ogen-go/ogen"

	"chairside/internal/apispec"
	"chairside/internal/codec"
	"chairside/internal/scope"
)

func itoa(n int) string { return strconv.Itoa(n) }

// article returns the words with their indefinite article.
func article(s string) string {
	if strings.ContainsAny(s[:1], "aeio") || strings.HasPrefix(s, "nhs_") {
		return "an " + words(s)
	}
	return "a " + words(s)
}

func words(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "nhs_", "NHS "), "_", " ")
}

// publish returns the document that integrators read.
func publish(m *model) ([]byte, error) {
	spec := newDocument(m, publishedForm)
	spec.SetInfo(ogen.NewInfo().SetTitle("Chairside").SetVersion("1.0.0").
		SetDescription(introduction).
		SetContact(ogen.NewContact().SetName("Chairside")))
	d := &document{Spec: spec, published: true}
	d.addErrors(m)
	d.addHeaders()
	d.addSecurity()
	d.addUnversioned()
	d.addFeed(m)
	for _, e := range m.Entities {
		if e.HasResponse() {
			spec.Tags = append(spec.Tags, ogen.Tag{Name: e.R.Plural, Description: e.R.Doc})
		}
	}
	spec.Tags = append(spec.Tags,
		ogen.Tag{Name: "changes", Description: "What was created, updated and deleted."},
		ogen.Tag{Name: "limits", Description: "What the token may still ask for."})
	b, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = json.Indent(&out, b, "", "  ")
	out.WriteByte('\n')
	return out.Bytes(), err
}

const introduction = `JSON over HTTP for dental practice management.

Every request names its client in User-Agent and carries an access token, as "Authorization: Bearer TOKEN" or, less preferred, as the query parameter access_token. Paths work with and without the /v1 prefix.

Ids may be sent as numbers or as strings of digits. Amounts are decimal strings with two fraction digits; numbers are accepted. Times are ISO 8601; without an offset they are the practice's local time. Unknown members of a body are ignored; unknown query parameters are named in X-Unknown-Parameters, and refused with "Prefer: handling=strict".

Scripts in a browser can read the response headers ETag and X-OAuth-Scopes alone; what else they need is in the bodies: the request id of an error, and the rate limit at /rate_limit.`

// operation returns an operation with the parts that all operations share. rules is the
// paragraph about its rules.
func (d *document) operation(e *entity, id, verb, doc, rules string) *ogen.Operation {
	o := ogen.NewOperation().SetOperationID(id).SetSummary(strings.TrimSuffix(doc, ".")).AddTags(e.R.Plural)
	if !d.published { // one response for all failures: the client's error type
		return o.AddResponse("default", ogen.NewResponse().SetRef("#/components/responses/Error"))
	}
	needed := e.R.Scope + ":" + verb
	if rules != "" {
		doc += " " + rules
	}
	o.SetDescription(doc + " Needs the scope `" + needed + "` or `" + e.R.Scope + "`.")
	o.Security = ogen.SecurityRequirements{{"oauth2": {needed}}, {"bearer": {}}, {"query": {}}}
	statuses := []int{400, 401, 403, 404, 429, 500, 503}
	if verb != "read" {
		statuses = append(statuses, 412, 413, 415, 422)
	}
	if e.R.Conflict != nil && (verb == "create" || verb == "update") {
		statuses = append(statuses, 409)
	}
	for _, s := range statuses {
		o.AddResponse(itoa(s), ogen.NewResponse().SetRef("#/components/responses/"+errorName(s)))
	}
	return o
}

type example json.RawMessage

// response returns a success response; the published form also lists its headers.
func (d *document) response(schema string, x example) *ogen.Response {
	r := ogen.NewResponse().SetDescription("Success.").SetContent(map[string]ogen.Media{
		"application/json": {Schema: ref(schema), Example: d.example(x)},
	})
	if !d.published {
		return r
	}
	h := func(name string) *ogen.Header { return &ogen.Header{Ref: "#/components/headers/" + name} }
	return r.SetHeaders(map[string]*ogen.Header{"ETag": h("ETag"), "X-OAuth-Scopes": h("X-OAuth-Scopes"), "X-Request-Id": h("X-Request-Id")})
}

func (d *document) example(x example) ogen.ExampleValue {
	if !d.published {
		return nil
	}
	return ogen.ExampleValue(x)
}

// errorName returns the component name of an error response: NotFound for 404.
func errorName(status int) string { return strings.ReplaceAll(http.StatusText(status), " ", "") }

// addErrorBody adds the body of every error.
func (d *document) addErrorBody(m *model) {
	text := func(name, doc string) *ogen.Property { return property(name, ogen.String().SetDescription(doc)) }
	params := object().SetDescription("Messages about each offending field or parameter.")
	params.AdditionalProperties = &ogen.AdditionalProperties{Schema: *ogen.String().AsArray()}
	conflicts, _, _ := m.conflicts()
	d.AddSchema("Conflict", d.item(conflicts))
	inner := object(
		text("type", "Kind of error."), text("code", "What went wrong."), text("message", "The same in words."),
		text("documentation_url", "Where it is explained."), text("request_id", "The request, for support."))
	inner.AddOptionalProperties(property("params", params), property("conflicts", ref("Conflict").AsArray()))
	d.AddSchema("Error", object(property("error", inner)))
}

// addErrors adds one error response per status.
func (d *document) addErrors(m *model) {
	_, conflict, docs := m.conflicts()
	for _, e := range []struct {
		status          int
		kind, code, doc string
	}{
		{400, "invalid_request_error", "invalid_parameter", "The body is not JSON, or a query parameter is malformed."},
		{401, "authentication_error", "missing_token", "The token is missing, unknown, revoked or expired."},
		{403, "invalid_access_error", "insufficient_scope", "The token may not do this, or the request has no User-Agent."},
		{404, "invalid_request_error", "not_found", "There is no such record."},
		{409, "conflict_error", conflict, docs},
		{410, "invalid_request_error", "cursor_expired", "The cursor is too old, or of another database: read /snapshot and go on with its cursor."},
		{412, "conflict_error", "version_mismatch", "The record is not what If-Match names."},
		{413, "invalid_request_error", "body_too_large", "The body exceeds 1 MiB."},
		{415, "invalid_request_error", "unsupported_media_type", "The body is not application/json."},
		{422, "invalid_request_error", "validation_failed", "Fields are invalid; params names every one."},
		{429, "rate_limit_error", "rate_limited", "The token's requests are used up; see Retry-After."},
		{500, "api_error", "internal", "A failure on our side."},
		{503, "api_error", "unavailable", "The service is unavailable; try again as Retry-After says."},
	} {
		body := map[string]any{"error": map[string]any{
			"type": e.kind, "code": e.code, "message": e.doc,
			"documentation_url": "https://chairside.example/docs#" + e.code, "request_id": "0198f2a4c1d07b3e"}}
		b, _ := json.Marshal(body) // a literal of strings always marshals
		d.AddResponse(errorName(e.status), ogen.NewResponse().SetDescription(e.doc).SetContent(map[string]ogen.Media{
			"application/json": {Schema: ref("Error"), Example: ogen.ExampleValue(b)}}))
	}
}

func (d *document) addHeaders() {
	header := func(doc string) *ogen.Header { return &ogen.Header{Description: doc, Schema: ogen.String()} }
	d.Components.Headers = map[string]*ogen.Header{
		"ETag":           header("Entity tag of the response, for If-Match and If-None-Match."),
		"X-OAuth-Scopes": header("The scopes the token holds."),
		"X-Request-Id":   header("The request, for support."),
	}
}

func (d *document) addSecurity() {
	scopes := map[string]string{}
	for _, family := range scope.Families {
		scopes[family] = "Everything on " + scope.Describe(family) + "."
		for _, v := range scope.Verbs {
			scopes[family+":"+v] = strings.ToUpper(v[:1]) + v[1:] + ": " + scope.Describe(family) + "."
		}
	}
	d.Components.SecuritySchemes = map[string]*ogen.SecurityScheme{
		"oauth2": {Type: "oauth2", Description: "Authorization code flow on behalf of a user of a practice.", Flows: &ogen.OAuthFlows{
			AuthorizationCode: &ogen.OAuthFlow{AuthorizationURL: "/oauth/authorize", TokenURL: "/oauth/token", Scopes: scopes}}},
		"bearer": {Type: "http", Scheme: "bearer", Description: "A personal token."},
		"query":  {Type: "apiKey", In: "query", Name: "access_token", Description: "Less preferred: addresses end up in logs of other programs."},
	}
}

// addUnversioned documents /rate_limit, which the server answers itself.
func (d *document) addUnversioned() {
	n := func(name, doc string) *ogen.Property { return property(name, ogen.Int64().SetDescription(doc)) }
	core := object(n("limit", "Requests an hour; 0 is unlimited."), n("remaining", "Requests left."), n("reset", "Unix time at which all are available again."))
	d.AddSchema("RateLimit", object(property("resources", object(property("core", core)))))
	o := ogen.NewOperation().SetOperationID("getRateLimit").SetSummary("Get what the token may still ask for").
		SetDescription("Get what the token may still ask for. Needs a token and no scope; does not count as a request.").AddTags("limits").
		AddResponse("200", d.response("RateLimit", example(`{"resources": {"core": {"limit": 3600, "remaining": 3599, "reset": 1782898200}}}`)))
	o.Security = ogen.SecurityRequirements{{"oauth2": {}}, {"bearer": {}}, {"query": {}}}
	for _, s := range []int{400, 401, 403, 500, 503} {
		o.AddResponse(itoa(s), ogen.NewResponse().SetRef("#/components/responses/"+errorName(s)))
	}
	item := ogen.NewPathItem().SetGet(o)
	item.Servers = []ogen.Server{{URL: "/"}}
	d.AddPathItem("/rate_limit", item)
}

// columnExample returns the example of a column: its own or, without one, that of its kind.
func columnExample(c *column) json.RawMessage {
	switch x := c.API.Example; {
	case x == "" && c.IsEnum():
		return texts(c.EnumValues()[:1])[0]
	case x == "":
		return kindExample(c.Kind, c.Name)
	case c.Kind == codec.Text:
		return texts([]string{x})[0]
	case c.Kind == codec.Country || c.Kind == codec.Enum:
		return texts([]string{x})[0]
	default:
		return json.RawMessage(x)
	}
}

// kindExample returns an example value of a kind. Names of people and places are invented.
func kindExample(k codec.Kind, name string) json.RawMessage {
	switch k {
	case codec.Boolean, codec.Flag, codec.Gender:
		return json.RawMessage("true")
	case codec.Integer, codec.Consent:
		return json.RawMessage("1")
	case codec.ID:
		return json.RawMessage("42")
	case codec.UUID:
		return json.RawMessage(`"0198f2a4-c1d0-7b3e-9a51-3f6f0c9d2e10"`)
	case codec.Date, codec.Day:
		return json.RawMessage(`"2026-07-01"`)
	case codec.Time:
		return json.RawMessage(`"2026-07-01T09:30:00.000+01:00"`)
	case codec.Decimal:
		return json.RawMessage(`"12.50"`)
	case codec.Metadata:
		return json.RawMessage(`{"crm_id": "A-17"}`)
	case codec.Email:
		return json.RawMessage(`"ada@practice.example"`)
	case codec.Country:
		return json.RawMessage(`"GB"`)
	case codec.Ethnicity:
		return json.RawMessage(`"A"`)
	case codec.Avatar:
		return json.RawMessage(`"https://practice.example/static/avatar.svg"`)
	case codec.Object:
		return json.RawMessage("{}")
	case codec.Strings:
		return json.RawMessage("[]")
	}
	return texts([]string{textExamples[name]})[0]
}

// computedExample returns the example of a member that is not a column.
func computedExample(c apispec.Computed) json.RawMessage {
	switch {
	case c.Example != "":
		return json.RawMessage(c.Example)
	case c.Objects != nil:
		return listExample(c.Objects)
	}
	return kindExample(c.Kind, c.Name)
}

// listExample returns a list of one object.
func listExample(l *apispec.Objects) json.RawMessage {
	var item orderedObject
	for _, c := range l.Members {
		item.add(c.Name, computedExample(c))
	}
	return array(item.json())
}

// conflicts returns the members of a conflict, and the code and the descriptions of all 409
// responses.
func (m *model) conflicts() (members []apispec.Computed, code, docs string) {
	for _, e := range m.Entities {
		if c := e.R.Conflict; c != nil {
			if code == "" {
				members, code, docs = c.Members, c.Code, c.Doc
			} else {
				docs += " " + c.Doc
			}
		}
	}
	return members, code, docs
}

var textExamples = map[string]string{
	"first_name": "Ada", "last_name": "Okafor", "middle_name": "Rose", "preferred_name": "Ada", "patient_name": "Ada Okafor",
	"name": "Example", "address_line_1": "1 High Street", "town": "Bath", "county": "Somerset", "status": "paid",
	"nomenclature": "Examination", "notes": "Prefers mornings.",
}

// orderedObject is a JSON object that keeps the order of its members.
type orderedObject []struct {
	name  string
	value json.RawMessage
}

func (m *orderedObject) add(name string, value json.RawMessage) {
	*m = append(*m, struct {
		name  string
		value json.RawMessage
	}{name, value})
}

func (m orderedObject) json() json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, x := range m {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(texts([]string{x.name})[0])
		b.WriteByte(':')
		b.Write(x.value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// wrap returns an object with one member.
func wrap(key string, value json.RawMessage) orderedObject {
	var m orderedObject
	m.add(key, value)
	return m
}

// array returns a list of one value.
func array(v json.RawMessage) json.RawMessage { return append(append([]byte("["), v...), ']') }

func recordExample(e *entity, single bool) json.RawMessage {
	var m orderedObject
	for _, c := range e.Shown() {
		m.add(c.Name, columnExample(c))
	}
	for _, c := range e.R.Computed {
		m.add(c.Name, computedExample(c))
	}
	for _, b := range e.R.Embeds {
		if b.SingleOnly && !single {
			continue
		}
		target, _ := e.Target(b.Edge) // the document has been built: the edge exists
		value := recordExample(target, true)
		if len(b.Columns) > 0 {
			var part orderedObject
			for _, c := range b.Columns {
				part.add(c, columnExample(target.Column(c)))
			}
			value = part.json()
		}
		if edge, _ := e.Edge(b.Edge); !edge.Unique {
			value = array(value)
		}
		m.add(b.Edge, value)
	}
	return m.json()
}

func (d *document) oneExample(e *entity) json.RawMessage {
	if !d.published {
		return nil
	}
	return wrap(e.R.Key, recordExample(e, true)).json()
}

func (d *document) listExample(e *entity) json.RawMessage {
	if !d.published {
		return nil
	}
	var meta orderedObject
	for _, n := range []string{"total", "page", "current_page", "per_page", "total_pages"} {
		value := "1"
		if n == "per_page" {
			value = "25"
		}
		meta.add(n, json.RawMessage(value))
	}
	for _, t := range e.R.Totals {
		meta.add(t, kindExample(codec.Decimal, t))
	}
	m := wrap(e.R.Plural, array(recordExample(e, false)))
	m.add("meta", meta.json())
	return m.json()
}

func (d *document) operationExample(o apispec.Operation) json.RawMessage {
	if !d.published {
		return nil
	}
	var item orderedObject
	for _, c := range o.Members {
		item.add(c.Name, computedExample(c))
	}
	m := wrap(o.Key, array(item.json()))
	m.add("meta", json.RawMessage(`{"page": 1, "current_page": 1, "per_page": 20, "more": false}`))
	return m.json()
}

func inputExample(e *entity, create bool) example {
	var m orderedObject
	for _, c := range e.Written() {
		if !create || c.API.Required {
			m.add(c.Name, columnExample(c))
		}
	}
	return example(wrap(e.R.Key, m.json()).json())
}
