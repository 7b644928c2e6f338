package mcp

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// fake is an API with one record. Its fields say how it departs from the real one.
type fake struct {
	declares, applies bool // whether it declares and makes dry runs
	put               func(w http.ResponseWriter, r *http.Request)
	before            string // of the record
	sent              []*http.Request
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.sent = append(f.sent, r)
	if r.Method == http.MethodGet {
		w.Header().Set("ETag", `"tag"`)
		_, _ = io.WriteString(w, f.before)
		return
	}
	if f.applies && r.Header.Get("Prefer") == "dry-run" {
		w.Header().Set("Preference-Applied", "handling=strict, dry-run")
	}
	f.put(w, r)
}

// server returns the tools of the fake.
func (f *fake) server(t testing.TB) *Server {
	t.Helper()
	prefer := ""
	if f.declares {
		prefer = `{"$ref": "#/components/parameters/Prefer"}`
	}
	s, err := New(Options{
		API: InProcess(f), AllowWrites: true, Logger: slog.New(slog.DiscardHandler),
		Document: []byte(strings.Replace(paths, "%", `{
			"parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}}],
			"get": {"operationId": "getThing", "responses": {"200": {"content": {"application/json": {}}}}},
			"delete": {"operationId": "deleteThing", "parameters": [`+prefer+`], "responses": {"204": {}}},
			"post": {"operationId": "copyThing", "parameters": [`+prefer+`], "responses": {"200": {"content": {"application/json": {}}}}},
			"patch": {"operationId": "updateThing", "description": "Update a thing. Needs the scope `+"`thing`"+`.", "parameters": [`+prefer+`],
				"requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}},
				"responses": {"200": {"content": {"application/json": {}}}}}}`, 1)),
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// text calls a tool and returns the first text of its result.
func (s *Server) text(ctx context.Context, name, arguments string) (text string, isError bool) {
	result := s.run(withCaller(ctx, caller{"Bearer t", "192.0.2.1:1"}), s.operations[name], json.RawMessage(arguments))
	return result.Content[0].(*sdk.TextContent).Text, result.IsError
}

func reply(status int, body string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

const thing = `{"thing":{"id":1,"name":"old","part":2,"gone":true}}`

func TestPreviewShowsWhatWouldDiffer(t *testing.T) {
	f := &fake{declares: true, applies: true, before: thing, put: reply(200, `{"thing":{"id":1,"name":"new","part":2,"more":[1]}}`)}
	text, isError := f.server(t).text(t.Context(), "updateThing", `{"id": 1, "name": "new"}`)
	want := `{"would":"Update a thing.","stored":false,"before":` + thing + `,"changes":{"gone":{"from":true,"to":null},"more":{"from":null,"to":[1]},"name":{"from":"old","to":"new"}},` +
		`"if_match":"\"tag\"","next":"Nothing is stored. Show this to the user. To make the change, call updateThing again with the same arguments and confirm: true, and if_match as above."}`
	if isError || text != want {
		t.Errorf("%v %s\nwant %s", isError, text, want)
	}
	if len(f.sent) != 2 || f.sent[0].Method != http.MethodGet || f.sent[1].Method != http.MethodPatch ||
		f.sent[1].Header.Get("Prefer") != "dry-run" || f.sent[1].Header.Get("If-Match") != `"tag"` {
		t.Errorf("sent %v", f.sent)
	}
	for _, r := range f.sent {
		if r.UserAgent() != "chairside-mcp/1" || r.Header.Get("Authorization") != "Bearer t" || r.RemoteAddr != "192.0.2.1:1" {
			t.Errorf("%s: %v from %s", r.Method, r.Header, r.RemoteAddr)
		}
	}
}

func TestPreviewOfADeletionShowsTheRecord(t *testing.T) {
	f := &fake{declares: true, applies: true, before: thing, put: reply(204, "")}
	text, isError := f.server(t).text(t.Context(), "deleteThing", `{"id": 1}`)
	if isError || !strings.Contains(text, `"before":`+thing) || strings.Contains(text, "changes") {
		t.Error(isError, text)
	}
}

func TestPreviewOfACreationShowsTheNewRecord(t *testing.T) {
	f := &fake{declares: true, applies: true, before: thing, put: reply(200, thing)}
	text, isError := f.server(t).text(t.Context(), "copyThing", `{"id": 1}`)
	if isError || !strings.Contains(text, `"result":`+thing) || strings.Contains(text, "before") || len(f.sent) != 1 {
		t.Error(isError, text)
	}
}

func TestConfirmedWriteIsSentOnce(t *testing.T) {
	f := &fake{declares: true, applies: true, before: thing, put: reply(200, thing)}
	text, isError := f.server(t).text(t.Context(), "updateThing", `{"id": 1, "name": "new", "confirm": true, "if_match": "\"tag\""}`)
	if isError || text != thing || len(f.sent) != 1 || f.sent[0].Header.Get("Prefer") != "" || f.sent[0].Header.Get("If-Match") != `"tag"` {
		t.Error(isError, text, f.sent)
	}
}

// TestNothingIsSentToAServerThatCannotPreview also covers a server that declares dry runs and
// does not make them.
func TestNothingIsSentToAServerThatCannotPreview(t *testing.T) {
	f := &fake{applies: true, before: thing, put: reply(200, thing)}
	for _, call := range []struct{ tool, arguments string }{{"updateThing", `{"id": 1, "name": "new"}`}, {"deleteThing", `{"id": 1}`}, {"copyThing", `{"id": 1}`}} {
		if text, isError := f.server(t).text(t.Context(), call.tool, call.arguments); !isError || text != cannotPreview {
			t.Error(text)
		}
	}
	if len(f.sent) != 0 {
		t.Errorf("sent %v", f.sent)
	}
	f = &fake{declares: true, before: thing, put: reply(200, thing)}
	if text, isError := f.server(t).text(t.Context(), "updateThing", `{"id": 1, "name": "new"}`); !isError || text != notPreviewed {
		t.Error(text)
	}
}

func TestRefusedPreviewIsTheAPIsError(t *testing.T) {
	body := `{"error":{"code":"double_booking"}}`
	f := &fake{declares: true, applies: true, before: thing, put: reply(409, body)}
	if text, isError := f.server(t).text(t.Context(), "updateThing", `{"id": 1, "name": "new"}`); !isError || text != body || len(f.sent) != 2 {
		t.Error(text)
	}
}

func TestErrorsAreResults(t *testing.T) {
	for _, c := range []struct {
		name, want string
		put        func(http.ResponseWriter, *http.Request)
	}{
		{"rate limit", `{"error":{}}`, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "7")
			reply(429, `{"error":{}}`)(w, nil)
		}},
		{"HTML", "The API responded with status 502.", reply(502, "<html>")},
		{"no body", "The API responded with status 500.", reply(500, "")},
		{"redirect", "The API responded with status 307.", reply(307, "")},
		{"aborted", "No response: it is unknown whether the change was made. Read the record before you try again.", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &fake{declares: true, applies: true, put: c.put}
			s := f.server(t)
			if text, isError := s.text(t.Context(), "updateThing", `{"id": 1, "name": "new", "confirm": true}`); !isError || text != c.want {
				t.Error(isError, text)
			}
			result := s.run(t.Context(), s.operations["updateThing"], json.RawMessage(`{"id": 1, "name": "new", "confirm": true}`))
			if waits := len(result.Content) == 2; waits != (c.name == "rate limit") {
				t.Errorf("%+v", result.Content)
			}
		})
	}
}

func TestLargeResultsAreBounded(t *testing.T) {
	large := `{"thing":{"notes":"` + strings.Repeat("x", maxResult) + `"}}`
	f := &fake{declares: true, applies: true, before: large, put: reply(200, thing)}
	s := f.server(t)
	if text, isError := s.text(t.Context(), "getThing", `{"id": 1}`); !isError || text != "The result is larger than 262144 bytes." {
		t.Errorf("%v %.100s", isError, text)
	}
	if text, isError := s.text(t.Context(), "updateThing", `{"id": 1, "name": "new"}`); isError || len(text) > maxResult {
		t.Errorf("%v %.100s", isError, text)
	}
	f.put = reply(200, large)
	if text, isError := s.text(t.Context(), "updateThing", `{"id": 1, "name": "new", "confirm": true}`); isError || !strings.Contains(text, "was made") {
		t.Errorf("%v %.100s", isError, text)
	}
	if text := operationNamed(t, "listPatients").tooLarge(); !strings.Contains(text, "per_page") {
		t.Error(text)
	}
}

func TestDifferences(t *testing.T) {
	for _, c := range []struct {
		before, after string
		want          []string
	}{
		{`{"a": {"x": 1, "y": [1, 2]}}`, `{"a": {"x": 1, "y": [1,2]}}`, nil},
		{`{"a": {"x": 1}}`, `{"a": {"x": "1"}}`, []string{"x"}},
		{`{"a": 1, "b": 2}`, `{"a": 2, "b": 2}`, []string{"a"}},
		{`{"a": 1}`, `{"a": null}`, []string{"a"}},
		{`[]`, `{}`, nil},
		{`{"a": {}}`, `{"a": {"x": null}}`, []string{"x"}},
	} {
		var names []string
		for name := range differences(json.RawMessage(c.before), json.RawMessage(c.after)) {
			names = append(names, name)
		}
		if !slices.Equal(names, c.want) {
			t.Errorf("%s %s: %v", c.before, c.after, names)
		}
	}
}
