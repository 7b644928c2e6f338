package codegen

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/ogen-go/ogen"

	"chairside/internal/apispec"
)

// errorName returns the component name of an error response: NotFound for 404.
func errorName(status int) string { return strings.ReplaceAll(http.StatusText(status), " ", "") }

// addErrorBody adds the body of every error.
func (d *document) addErrorBody(m *model) {
	text := func(name, doc string) *ogen.Property { return property(name, ogen.String().SetDescription(doc)) }
	params := object().SetDescription("Messages about each offending field or parameter.")
	params.AdditionalProperties = &ogen.AdditionalProperties{Schema: *ogen.String().AsArray()}
	d.AddSchema("Conflict", d.item(m.conflictMembers()))
	var lists []*ogen.Property
	for _, e := range m.Entities {
		if e.R.Conflict != nil {
			refused := element(d.operationError("create"+e.Name, http.StatusConflict), "error")
			for _, c := range e.R.Conflict.Lists {
				lists = append(lists, property(c.Name, d.computed(c, refused)))
			}
		}
	}
	inner := object(
		text("type", "Kind of error."), text("code", "What went wrong."), text("message", "The same in words."),
		text("documentation_url", "Where it is explained."), text("request_id", "The request, for support."))
	inner.AddOptionalProperties(property("params", params), property("conflicts", ref("Conflict").AsArray()))
	inner.AddOptionalProperties(lists...)
	d.AddSchema("Error", object(property("error", inner)))
}

// conflictMembers returns the members of each element of conflicts.
func (m *model) conflictMembers() []apispec.Computed {
	for _, e := range m.Entities {
		if e.R.Conflict != nil {
			return e.R.Conflict.Members
		}
	}
	return nil
}

// conflict returns the 409 that a create or update of the resource may return, or nil.
func (e *entity) conflict() *apispec.Conflict {
	if e.R.ConflictOf == "" {
		return e.R.Conflict
	}
	for _, other := range e.Model.Entities {
		if other.R.Plural == e.R.ConflictOf {
			return other.R.Conflict
		}
	}
	return nil
}

// addErrors adds a response for each error that is the same for all operations. errorDoc has the others.
func (d *document) addErrors() {
	for _, e := range []struct {
		status int
		doc    string
	}{
		{401, "The token is missing (`missing_token`), unknown or revoked (`invalid_token`), or expired (`expired_token`)."},
		{404, "There is no such record (`not_found`)."},
		{410, "The cursor is too old, or of another database: read /snapshot and go on with its cursor (`cursor_expired`)."},
		{412, "The record is not what If-Match names (`version_mismatch`)."},
		{413, "The body exceeds 1 MiB (`body_too_large`)."},
		{415, "The body is not application/json (`unsupported_media_type`)."},
		{429, "The requests of the token, its practice or its address are used up; see Retry-After (`rate_limited`)."},
		{500, "A failure on our side (`internal`)."},
		{503, "The service is unavailable; try again as Retry-After says (`unavailable`)."},
	} {
		r := ogen.NewResponse().SetDescription(e.doc).SetContent(errorContent(d.recorded.Errors[itoa(e.status)]))
		switch e.status {
		case 429:
			r.SetHeaders(map[string]*ogen.Header{"Retry-After": {Ref: "#/components/headers/Retry-After"}, "RateLimit": {Ref: "#/components/headers/RateLimit"}, "RateLimit-Policy": {Ref: "#/components/headers/RateLimit-Policy"}})
		case 503:
			r.SetHeaders(map[string]*ogen.Header{"Retry-After": {Ref: "#/components/headers/Retry-After"}})
		}
		d.AddResponse(errorName(e.status), r)
	}
}

// errorContent returns the content of an error response.
func errorContent(example json.RawMessage) map[string]ogen.Media {
	return map[string]ogen.Media{"application/json": {Schema: ref("Error"), Example: ogen.ExampleValue(example)}}
}

// addStatuses adds to each operation the errors that its path, method and body make possible,
// and the conditional headers (RFC 9110, section 13) with their statuses. 405 and 406 are HTTP's
// own.
func (d *document) addStatuses() {
	for path, item := range d.Paths {
		for method, o := range map[string]*ogen.Operation{
			http.MethodGet: item.Get, http.MethodPost: item.Post, http.MethodPut: item.Put, http.MethodPatch: item.Patch, http.MethodDelete: item.Delete,
		} {
			if o == nil {
				continue
			}
			statuses := []int{400, 401, 403, 429, 500, 503}
			if strings.Contains(path, "{") {
				statuses = append(statuses, 404)
			}
			if method != http.MethodGet && method != http.MethodPost {
				o.AddParameters(parameterRef("If-Match"))
				statuses = append(statuses, 412)
			}
			if ok := o.Responses["200"]; method == http.MethodGet && ok.Headers["ETag"] != nil {
				o.AddParameters(parameterRef("If-None-Match")).AddResponse("304", errorRef(304))
			}
			if method != http.MethodGet { // Idempotency-Key
				statuses = append(statuses, 409, 422)
			}
			if o.RequestBody != nil {
				statuses = append(statuses, 413, 415)
			}
			for _, s := range statuses {
				o.AddResponse(itoa(s), d.errorResponse(o, method, s))
			}
		}
	}
}

// errorResponse returns the response of an operation for a status: its own with its own example, or
// the one that is the same for all operations.
func (d *document) errorResponse(o *ogen.Operation, method string, status int) *ogen.Response {
	doc := d.errorDoc(o, method, status)
	if doc == "" {
		return errorRef(status)
	}
	return ogen.NewResponse().SetDescription(doc).SetContent(errorContent(d.operationError(o.OperationID, status)))
}

// errorRef refers to a response that several operations have.
func errorRef(status int) *ogen.Response {
	return ogen.NewResponse().SetRef("#/components/responses/" + errorName(status))
}

// operationError returns the recorded error of an operation; nil for a new operation, which has not
// been recorded yet.
func (d *document) operationError(id string, status int) json.RawMessage {
	return d.recorded.OperationErrors[id][itoa(status)]
}

// errorDoc describes an error that depends on the operation, with its codes; "" for one that is the same
// for all operations.
func (d *document) errorDoc(o *ogen.Operation, method string, status int) string {
	const badKey = "The header Idempotency-Key is malformed (`invalid_parameter`)."
	const reusedKey = "The Idempotency-Key belongs to another request (`idempotency_key_reused`)."
	const inProgress = "A request with the same Idempotency-Key is still running (`idempotency_in_progress`)."
	const forbidden = "The request has no User-Agent (`missing_user_agent`), the user of the token is disabled (`account_disabled`), or the practice is closed (`practice_closed`)."
	join := func(first, between, second string) string {
		return strings.TrimSuffix(first, ".") + between + strings.ToLower(second[:1]) + second[1:]
	}
	or := func(first, second string) string { return join(first, ", or ", second) }
	switch status {
	case http.StatusBadRequest:
		switch {
		case o.RequestBody != nil:
			return or("The body is not JSON (`malformed_json`).", badKey)
		case method != http.MethodGet:
			return badKey
		case !slices.ContainsFunc(o.Parameters, func(p *ogen.Parameter) bool { return p.In == "query" }):
			return "A query parameter is unknown, and the request has `Prefer: handling=strict` (`invalid_parameter`)."
		}
		return "Query parameters are missing or invalid, and `params` names each one (`invalid_parameter`)."
	case http.StatusForbidden:
		if len(o.Security[0]["oauth2"]) > 0 || slices.Contains(o.Tags, feedTag) {
			return join("The token does not have the scope (`insufficient_scope`).", ", ", forbidden)
		}
		return forbidden
	case http.StatusConflict:
		if c := d.conflicts[o.OperationID]; c != nil {
			return or(strings.TrimSuffix(c.Doc, ".")+" (`"+c.Code+"`)", inProgress)
		}
		return inProgress
	case http.StatusUnprocessableEntity:
		if o.RequestBody != nil {
			return or("Fields are missing or invalid, and `params` names each one (`validation_failed`).", reusedKey)
		}
		return reusedKey
	}
	return ""
}
