package codegen

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/ogen-go/ogen"

	"chairside/internal/entx/table"
	"chairside/internal/scope"
)

func itoa(n int) string { return strconv.Itoa(n) }

// article returns the words with their indefinite article.
func article(s string) string {
	if strings.ContainsAny(s[:1], "aeio") || strings.HasPrefix(s, "nhs_") {
		return "an " + table.Words(s)
	}
	return "a " + table.Words(s)
}

// publish returns the document that integrators read.
func publish(m *model) ([]byte, error) {
	d, err := newDocument(m, publishedForm)
	if err != nil {
		return nil, err
	}
	spec := d.Spec
	spec.SetInfo(ogen.NewInfo().SetTitle("Chairside").SetVersion("1.0.0").
		SetDescription(introduction).
		SetContact(ogen.NewContact().SetName("Chairside")))
	d.addErrors()
	d.addHeaders()
	d.addSecurity()
	d.addUnversioned()
	d.addBatch()
	d.addFeed(m)
	for _, e := range m.Entities {
		if e.HasResponse() {
			spec.Tags = append(spec.Tags, ogen.Tag{Name: e.R.Plural, Description: e.R.Doc})
		}
	}
	d.addStatuses()
	spec.Tags = append(spec.Tags,
		ogen.Tag{Name: "batches", Description: "Several requests in one."},
		ogen.Tag{Name: feedTag, Description: "What was created, updated and deleted."},
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
	needed := e.ScopeOf(verb)
	if rules != "" {
		doc += " " + rules
	}
	o.SetDescription(doc + " Needs the scope `" + needed + "` or `" + e.R.Scope + "`.")
	o.Security = ogen.SecurityRequirements{{"oauth2": {needed}}, {"bearer": {}}, {"query": {}}}
	if verb != "read" {
		o.AddParameters(writeHeaders...)
	}
	return o
}

// writeHeaders are the request headers of all operations that write.
var writeHeaders = []*ogen.Parameter{parameterRef("Idempotency-Key"), parameterRef("Prefer")}

// parameterRef refers to a parameter that several operations have.
func parameterRef(name string) *ogen.Parameter {
	return ogen.NewParameter().SetRef("#/components/parameters/" + name)
}

// response returns the success response of an operation; the published form also lists its
// headers.
func (d *document) response(schema, operation string) *ogen.Response {
	r := ogen.NewResponse().SetDescription("Success.").SetContent(map[string]ogen.Media{
		"application/json": {Schema: ref(schema), Example: d.responseExample(operation)},
	})
	if !d.published {
		return r
	}
	return r.SetHeaders(headers("ETag", "RateLimit", "RateLimit-Policy", "X-OAuth-Scopes", "X-Request-Id"))
}

// headers returns the headers of a response by their names.
func headers(names ...string) map[string]*ogen.Header {
	all := map[string]*ogen.Header{}
	for _, name := range names {
		all[name] = &ogen.Header{Ref: "#/components/headers/" + name}
	}
	return all
}

// written adds the headers of a write to its success response.
func (d *document) written(r *ogen.Response) *ogen.Response {
	if d.published {
		all := headers("Idempotency-Replayed", "Preference-Applied")
		maps.Copy(all, r.Headers)
		r.SetHeaders(all)
	}
	return r
}

// listResponse is response for a list, which links to its other pages.
func (d *document) listResponse(schema, operation string) *ogen.Response {
	r := d.response(schema, operation)
	if d.published {
		r.Headers["Link"] = &ogen.Header{Ref: "#/components/headers/Link"}
	}
	return r
}

func (d *document) addHeaders() {
	header := func(doc string) *ogen.Header { return &ogen.Header{Description: doc, Schema: ogen.String()} }
	d.Components.Headers = map[string]*ogen.Header{
		"ETag":                 header("Entity tag of the response, for If-Match and If-None-Match."),
		"Idempotency-Replayed": header("true if this is the response to an earlier request with the same Idempotency-Key."),
		"Link":                 header("Addresses of other pages (RFC 8288): first, prev, next and last; with cursor, next."),
		"Preference-Applied":   header("dry-run if nothing was stored."),
		"RateLimit":            header("The requests that are left of each limit (draft-ietf-httpapi-ratelimit-headers)."),
		"RateLimit-Policy":     header("The limits (draft-ietf-httpapi-ratelimit-headers)."),
		"Retry-After":          header("Seconds until the request is possible."),
		"X-OAuth-Scopes":       header("The scopes the token holds."),
		"X-Request-Id":         header("The request, for support."),
	}
	d.AddParameter("Idempotency-Key", ogen.NewParameter().InHeader().SetName("Idempotency-Key").
		SetDescription("A value that only this request has, such as a UUID. Sent again within 24 hours, the request gets the same response and changes nothing. 1 to 255 visible ASCII characters, with or without double quotes around them.").
		SetSchema(ogen.String()))
	d.AddParameter("If-Match", ogen.NewParameter().InHeader().SetName("If-Match").
		SetDescription("Entity tags of the record. If it has another one, such as after a change by someone else, nothing is changed.").
		SetSchema(ogen.String()))
	d.AddParameter("If-None-Match", ogen.NewParameter().InHeader().SetName("If-None-Match").
		SetDescription("Entity tags of earlier responses. If the response would have one of them, it is 304 without a body.").
		SetSchema(ogen.String()))
	d.AddResponse(errorName(304), ogen.NewResponse().SetDescription("Not modified: the entity tag matches If-None-Match.").SetHeaders(headers("ETag", "RateLimit", "RateLimit-Policy", "X-OAuth-Scopes", "X-Request-Id")))
	d.AddParameter("Prefer", ogen.NewParameter().InHeader().SetName("Prefer").
		SetDescription("`dry-run` makes all checks and responds as usual, but stores nothing. `handling=strict` refuses unknown query parameters.").
		SetSchema(ogen.String()))
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
		AddResponse("200", d.response("RateLimit", "getRateLimit"))
	o.Security = ogen.SecurityRequirements{{"oauth2": {}}, {"bearer": {}}, {"query": {}}}
	item := ogen.NewPathItem().SetGet(o)
	item.Servers = []ogen.Server{{URL: "/"}}
	d.AddPathItem("/rate_limit", item)
}

// addBatch documents /batch, which the server answers itself.
func (d *document) addBatch() {
	text := func(doc string) *ogen.Schema { return ogen.String().SetDescription(doc) }
	id := property("id", anything().SetDescription("Any value; repeated in the result."))
	headers := object()
	headers.AdditionalProperties = &ogen.AdditionalProperties{Schema: *ogen.String()}
	request := object(property("method", text("GET, POST, PUT, PATCH or DELETE; not GET in an atomic batch.")), property("path", text("Path with its query, such as /v1/patients/7.")))
	request.AddOptionalProperties(id, property("headers", copyOf(headers).SetDescription("Idempotency-Key, If-Match, If-None-Match or Prefer.")), property("body", anything().SetDescription("The JSON body.")))
	d.AddSchema("BatchRequest", object(property("requests", ref("BatchItem").AsArray())).
		AddOptionalProperties(property("atomic", ogen.Bool().SetDescription("true stores all or nothing."))))
	d.AddSchema("BatchItem", request)
	d.AddSchema("BatchResult", object(id, property("status", ogen.Int().SetDescription("Status of the response.")),
		property("headers", copyOf(headers).SetDescription("Headers of the response, without those of every response.")),
		property("body", anything().SetDescription("Body of the response; null for an empty one."))))
	d.AddSchema("BatchResponse", object(property("results", ref("BatchResult").AsArray()),
		property("committed", ogen.Bool().SetDescription("false if nothing of the batch is stored: it was atomic and a request failed, or it was a dry run. Otherwise each status tells what is stored."))))
	o := ogen.NewOperation().SetOperationID("batch").SetSummary("Run up to 50 requests").
		SetDescription("Run up to 50 requests one after the other, each as if it had been sent on its own with the same token: it needs its scope and counts against the rate limit, and its failure is in its result. With atomic, all are one transaction: after a failure nothing is stored, and the other results are 424. Needs a token and no scope of its own.").
		AddTags("batches").AddParameters(writeHeaders...).
		SetRequestBody(ogen.NewRequestBody().SetRequired(true).SetContent(map[string]ogen.Media{"application/json": {Schema: ref("BatchRequest"),
			Example: d.batchExample()}})).
		AddResponse("200", d.written(d.response("BatchResponse", "batch")))
	o.Security = ogen.SecurityRequirements{{"oauth2": {}}, {"bearer": {}}, {"query": {}}}
	d.AddPathItem("/batch", ogen.NewPathItem().SetPost(o))
}

// batchExample is the body of the example batch: it changes the example patient.
func (d *document) batchExample() ogen.ExampleValue {
	return ogen.ExampleValue(fmt.Sprintf(`{"requests": [{"id": "a", "method": "PATCH", "path": "/v1/patients/%s", "body": {"patient": {"preferred_name": "Ada"}}}], "atomic": true}`, d.recorded.Records["patients"]))
}
