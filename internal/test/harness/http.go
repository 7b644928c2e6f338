package harness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// UserAgent is the User-Agent of the tests' requests.
const UserAgent = "chairside-test/1.0"

// Request is one request. A string Body is JSON text; other values are marshalled.
type Request struct {
	Method, Path, Token string
	Body                any
	Header              map[string]string // "" removes a header
}

// Response is a response. JSON is the decoded body, or nil.
type Response struct {
	Code   int
	Header http.Header
	Raw    []byte
	JSON   map[string]any
	sent   Request
}

// Do sends a request.
func (e *Env) Do(t testing.TB, q Request) *Response {
	t.Helper()
	var body io.Reader
	switch b := q.Body.(type) {
	case nil:
	case string:
		body = strings.NewReader(b)
	default:
		text, err := json.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		body = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(t.Context(), q.Method, e.URL+q.Path, body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("User-Agent", UserAgent)
	if q.Body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if q.Token != "" {
		r.Header.Set("Authorization", "Bearer "+q.Token)
	}
	for name, value := range q.Header {
		if value == "" {
			r.Header[http.CanonicalHeaderKey(name)] = nil
			continue
		}
		r.Header.Set(name, value)
	}
	res, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	out := &Response{Code: res.StatusCode, Header: res.Header, sent: q}
	if out.Raw, err = io.ReadAll(res.Body); err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(res.Header.Get("Content-Type"), "application/json") && len(out.Raw) > 0 {
		d := json.NewDecoder(bytes.NewReader(out.Raw))
		d.UseNumber()
		if err := d.Decode(&out.JSON); err != nil {
			t.Fatalf("%s %s: %v in %s", q.Method, q.Path, err, out.Raw)
		}
	}
	return out
}

// client follows no redirects, because the API has none.
var client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// Get sends a GET request.
func (e *Env) Get(t testing.TB, path, token string) *Response {
	t.Helper()
	return e.Do(t, Request{Method: http.MethodGet, Path: path, Token: token})
}

// Post sends a POST request.
func (e *Env) Post(t testing.TB, path, token string, body any) *Response {
	t.Helper()
	return e.Do(t, Request{Method: http.MethodPost, Path: path, Token: token, Body: body})
}

// Patch sends a PATCH request.
func (e *Env) Patch(t testing.TB, path, token string, body any) *Response {
	t.Helper()
	return e.Do(t, Request{Method: http.MethodPatch, Path: path, Token: token, Body: body})
}

// Delete sends a DELETE request.
func (e *Env) Delete(t testing.TB, path, token string) *Response {
	t.Helper()
	return e.Do(t, Request{Method: http.MethodDelete, Path: path, Token: token})
}

// Status fails the test unless the response has the status.
func (r *Response) Status(t testing.TB, code int) *Response {
	t.Helper()
	if r.Code != code {
		t.Fatalf("%s %s: status %d, want %d: %s", r.sent.Method, r.sent.Path, r.Code, code, r.Raw)
	}
	return r
}

// Error fails the test unless the response is this error. params, if given, are exactly
// the invalid fields.
func (r *Response) Error(t testing.TB, code int, word string, params ...string) *Response {
	t.Helper()
	r.Status(t, code)
	if got := r.Text(t, "error.code"); got != word {
		t.Fatalf("%s %s: code %q, want %q", r.sent.Method, r.sent.Path, got, word)
	}
	if len(params) > 0 {
		given, _ := r.At(t, "error.params").(map[string]any)
		var names []string
		for name := range given {
			names = append(names, name)
		}
		slices.Sort(names)
		slices.Sort(params)
		if !slices.Equal(names, params) {
			t.Fatalf("%s %s: params %v, want %v: %s", r.sent.Method, r.sent.Path, names, params, r.Raw)
		}
	}
	return r
}

// At returns the value at a path of members and indexes: "appointments.0.id".
func (r *Response) At(t testing.TB, path string) any {
	t.Helper()
	var v any = r.JSON
	for _, step := range strings.Split(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			inner, ok := x[step]
			if !ok {
				t.Fatalf("%s %s: no %s in %s", r.sent.Method, r.sent.Path, path, r.Raw)
			}
			v = inner
		case []any:
			var i int
			if _, err := fmt.Sscan(step, &i); err != nil || i >= len(x) {
				t.Fatalf("%s %s: no %s in %s", r.sent.Method, r.sent.Path, path, r.Raw)
			}
			v = x[i]
		default:
			t.Fatalf("%s %s: no %s in %s", r.sent.Method, r.sent.Path, path, r.Raw)
		}
	}
	return v
}

// Text is At for strings and numbers, as text; "" for null.
func (r *Response) Text(t testing.TB, path string) string {
	t.Helper()
	v := r.At(t, path)
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

// List is At for arrays.
func (r *Response) List(t testing.TB, path string) []any {
	t.Helper()
	list, ok := r.At(t, path).([]any)
	if !ok {
		t.Fatalf("%s %s: %s is not an array: %s", r.sent.Method, r.sent.Path, path, r.Raw)
	}
	return list
}

// Column returns one member of each element of an array, as text.
func (r *Response) Column(t testing.TB, list, member string) []string {
	t.Helper()
	var column []string
	for i := range r.List(t, list) {
		column = append(column, r.Text(t, fmt.Sprintf("%s.%d.%s", list, i, member)))
	}
	return column
}
