package contract

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"chairside/internal/test/harness"
)

func init() {
	openapi3.DefineStringFormatValidator("uuid", openapi3.NewRegexpFormatValidator(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`))
	openapi3.DefineStringFormatValidator("date", openapi3.NewRegexpFormatValidator(`^\d{4}-\d\d-\d\d$`))
	// The API always writes milliseconds and a numeric offset.
	openapi3.DefineStringFormatValidator("date-time", openapi3.NewRegexpFormatValidator(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d$`))
}

// send sends a request to an operation and makes the checks that apply to every response.
// A 5xx fails the test.
func send(t testing.TB, e *harness.Env, op operation, q harness.Request) *harness.Response {
	t.Helper()
	r := e.Do(t, q)
	if r.Code >= http.StatusInternalServerError {
		t.Errorf("%s %.300s %.300v: status %d: %s\n%s", q.Method, q.Path, q.Body, r.Code, r.Raw, cause(e, r))
	}
	check(t, op, q, r)
	if !partial(q, r) {
		checkDecoding(t, op, r)
	}
	return r
}

// cause returns the server's log line about a failure.
func cause(e *harness.Env, r *harness.Response) string {
	for line := range strings.Lines(e.Log.String()) {
		if strings.Contains(line, "request failed") && strings.Contains(line, r.Header.Get("X-Request-Id")) {
			return line
		}
	}
	return "no cause is logged"
}

// cors are the specification's headers of every response.
var cors = map[string]string{
	"Access-Control-Allow-Origin":   "*",
	"Access-Control-Allow-Methods":  "GET, POST, PUT, PATCH, DELETE",
	"Access-Control-Allow-Headers":  "X-Requested-With, X-Prototype-Version, Content-Type, Authorization",
	"Access-Control-Expose-Headers": "ETag, X-OAuth-Scopes",
}

// check checks a response's headers and body, and that the document has it.
func check(t testing.TB, op operation, q harness.Request, r *harness.Response) {
	t.Helper()
	wrong := func(format string, args ...any) {
		t.Helper()
		t.Errorf("%s %s → %d: "+format, append([]any{q.Method, q.Path, r.Code}, args...)...)
	}
	for name, want := range cors {
		if got := r.Header.Get(name); got != want {
			wrong("%s is %q, want %q", name, got, want)
		}
	}
	if r.Header.Get("X-Request-Id") == "" {
		wrong("no X-Request-Id")
	}
	if got := r.Header.Get("Cache-Control"); got != "private, no-cache" {
		wrong("Cache-Control is %q", got)
	}
	if got := r.Header.Get("Vary"); got != "Authorization" {
		wrong("Vary is %q", got)
	}
	switch r.Code {
	case http.StatusNoContent, http.StatusNotModified:
		if len(r.Raw) > 0 {
			wrong("has a body: %s", r.Raw)
		}
		return
	}
	if got := r.Header.Get("Content-Type"); got != "application/json; charset=utf-8" {
		wrong("Content-Type is %q", got)
	}
	if r.Code < 300 && !strongTag.MatchString(r.Header.Get("ETag")) {
		wrong("ETag is %q", r.Header.Get("ETag"))
	}
	if q.Method == http.MethodHead {
		return
	}
	if r.Code >= 400 {
		checkError(t, q, r)
	}
	if op.doc != nil {
		checkDocumented(t, op, q, r)
	}
}

var strongTag = regexp.MustCompile(`^"[^"]+"$`)

// partial reports whether a response has only some members of its records (fields=). The
// document and the generated client describe whole records.
func partial(q harness.Request, r *harness.Response) bool {
	return r.Code == http.StatusOK && strings.Contains(q.Path, "fields")
}

// undocumented are statuses of HTTP, not of an operation.
var undocumented = map[int]bool{http.StatusMethodNotAllowed: true, http.StatusNotAcceptable: true}

// checkDocumented validates a body against its schema in the document.
func checkDocumented(t testing.TB, op operation, q harness.Request, r *harness.Response) {
	t.Helper()
	response := op.doc.Responses.Value(strconv.Itoa(r.Code))
	if response == nil {
		if !undocumented[r.Code] {
			t.Errorf("%s: status %d is not documented: %s", op, r.Code, r.Raw)
		}
		return
	}
	if partial(q, r) {
		return
	}
	schema := response.Value.Content.Get("application/json").Schema.Value
	if err := schema.VisitJSON(r.JSON, openapi3.VisitAsResponse(), openapi3.MultiErrors()); err != nil {
		t.Errorf("%s %s → %d does not conform to the document: %v", q.Method, q.Path, r.Code, err)
	}
}

// errorTypes maps each error code to its status and type.
var errorTypes = map[string]struct {
	status int
	name   string
}{
	"malformed_json":          {400, "invalid_request_error"},
	"invalid_parameter":       {400, "invalid_request_error"},
	"missing_token":           {401, "authentication_error"},
	"invalid_token":           {401, "authentication_error"},
	"expired_token":           {401, "authentication_error"},
	"missing_user_agent":      {403, "invalid_request_error"},
	"insufficient_scope":      {403, "invalid_access_error"},
	"account_disabled":        {403, "invalid_access_error"},
	"practice_closed":         {403, "invalid_access_error"},
	"not_found":               {404, "invalid_request_error"},
	"method_not_allowed":      {405, "invalid_request_error"},
	"not_acceptable":          {406, "invalid_request_error"},
	"double_booking":          {409, "conflict_error"},
	"idempotency_in_progress": {409, "conflict_error"},
	"idempotency_key_reused":  {422, "invalid_request_error"},
	"cursor_expired":          {410, "invalid_request_error"},
	"version_mismatch":        {412, "conflict_error"},
	"body_too_large":          {413, "invalid_request_error"},
	"unsupported_media_type":  {415, "invalid_request_error"},
	"validation_failed":       {422, "invalid_request_error"},
	"failed_dependency":       {424, "invalid_request_error"},
	"rate_limited":            {429, "rate_limit_error"},
	"internal":                {500, "api_error"},
	"unavailable":             {503, "api_error"},
}

// checkError checks an error's body and headers.
func checkError(t testing.TB, q harness.Request, r *harness.Response) {
	t.Helper()
	code := r.Text(t, "error.code")
	want, known := errorTypes[code]
	if !known || want.status != r.Code || want.name != r.Text(t, "error.type") {
		t.Errorf("%s %s → %d: code %q, type %q", q.Method, q.Path, r.Code, code, r.Text(t, "error.type"))
	}
	if r.Text(t, "error.message") == "" {
		t.Errorf("%s %s → %d: no message", q.Method, q.Path, r.Code)
	}
	if got := r.Text(t, "error.request_id"); got != r.Header.Get("X-Request-Id") {
		t.Errorf("%s %s → %d: request_id %q, X-Request-Id %q", q.Method, q.Path, r.Code, got, r.Header.Get("X-Request-Id"))
	}
	if got := r.Text(t, "error.documentation_url"); !strings.HasSuffix(got, "/docs#"+code) {
		t.Errorf("%s %s → %d: documentation_url %q", q.Method, q.Path, r.Code, got)
	}
	inner, _ := r.At(t, "error").(map[string]any)
	params, hasParams := inner["params"].(map[string]any)
	if needs := code == "validation_failed" || code == "invalid_parameter"; needs != (hasParams && len(params) > 0) {
		t.Errorf("%s %s → %d: params of %s: %s", q.Method, q.Path, r.Code, code, r.Raw)
	}
	if _, has := inner["conflicts"]; has != (code == "double_booking") {
		t.Errorf("%s %s → %d: conflicts of %s: %s", q.Method, q.Path, r.Code, code, r.Raw)
	}
	if _, has := inner["alternatives"]; has != (code == "double_booking") {
		t.Errorf("%s %s → %d: alternatives of %s: %s", q.Method, q.Path, r.Code, code, r.Raw)
	}
	for header, needed := range map[string]bool{
		"Retry-After":      r.Code == http.StatusTooManyRequests || r.Code == http.StatusServiceUnavailable || code == "idempotency_in_progress",
		"Www-Authenticate": r.Code == http.StatusUnauthorized || code == "insufficient_scope",
		"Allow":            r.Code == http.StatusMethodNotAllowed,
	} {
		if has := r.Header.Get(header) != ""; has != needed {
			t.Errorf("%s %s → %d %s: %s is %q", q.Method, q.Path, r.Code, code, header, r.Header.Get(header))
		}
	}
	if r.Header.Get("ETag") != "" {
		t.Errorf("%s %s → %d: an error has an ETag", q.Method, q.Path, r.Code)
	}
}
