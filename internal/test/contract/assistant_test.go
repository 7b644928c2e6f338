package contract

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"chairside/internal/mcp"
	"chairside/internal/scope"
	"chairside/internal/server"
	"chairside/internal/test/harness"
)

// eachAssistant runs test on both databases with a server whose assistants may write.
func eachAssistant(t *testing.T, test func(t *testing.T, e *harness.Env)) {
	t.Helper()
	t.Parallel()
	for name, database := range map[string]func(testing.TB) string{"sqlite": harness.SQLite, "postgres": harness.Postgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, harness.Start(t, database(t), harness.Patient, func(o *server.Options) { o.MCPAllowWrites = true }))
		})
	}
}

// message sends a message of the Model Context Protocol and returns its result.
func message(t testing.TB, e *harness.Env, token, method string, params any) map[string]any {
	t.Helper()
	r := e.Do(t, harness.Request{
		Method: http.MethodPost, Path: mcp.Path, Token: token,
		Body:   map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params},
		Header: map[string]string{"Accept": "application/json, text/event-stream"},
	}).Status(t, http.StatusOK)
	result, _ := r.At(t, "result").(map[string]any)
	return result
}

// callTool sends a request as a tool call, and returns the result's text.
func callTool(t testing.TB, e *harness.Env, op operation, q harness.Request, more map[string]any) (text string, isError bool) {
	t.Helper()
	result := message(t, e, q.Token, "tools/call", map[string]any{"name": op.ID, "arguments": toolArguments(t, op, q, more)})
	content := result["content"].([]any)[0].(map[string]any)
	return content["text"].(string), result["isError"] == true
}

// toolArguments returns the arguments of a tool for a request, and more.
func toolArguments(t testing.TB, op operation, q harness.Request, more map[string]any) map[string]any {
	t.Helper()
	arguments := map[string]any{}
	path, query, _ := strings.Cut(strings.TrimPrefix(q.Path, "/v1"), "?")
	sent := strings.Split(path, "/")
	for i, segment := range strings.Split(op.Path, "/") {
		if name, ok := strings.CutPrefix(segment, "{"); ok {
			arguments[strings.TrimSuffix(name, "}")] = sent[i]
		}
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range values {
		arguments[strings.TrimSuffix(name, "[]")] = value
	}
	if body, ok := q.Body.(map[string]any); ok {
		for name, value := range body {
			arguments[name] = value
		}
	}
	for name, value := range more {
		arguments[name] = value
	}
	return arguments
}

// tools returns the operations that are tools. Package mcp tests which are not.
func tools(t testing.TB, e *harness.Env) (all []operation) {
	t.Helper()
	listed := listedTools(t, e, e.Token(t, ""))
	for _, op := range operations() {
		if slices.Contains(listed, op.ID) {
			all = append(all, op)
		}
	}
	if len(all) < 40 {
		t.Fatalf("only %d tools", len(all))
	}
	return all
}

func listedTools(t testing.TB, e *harness.Env, token string) (names []string) {
	t.Helper()
	list, _ := message(t, e, token, "tools/list", map[string]any{})["tools"].([]any)
	for _, tool := range list {
		names = append(names, tool.(map[string]any)["name"].(string))
	}
	return names
}

func TestToolsReadWhatTheAPIReads(t *testing.T) {
	eachAssistant(t, func(t *testing.T, e *harness.Env) {
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		for _, op := range tools(t, e) {
			if op.writes() {
				continue
			}
			q := w.request(op, 0)
			q.Token = token
			text, isError := callTool(t, e, op, q, nil)
			if want := string(e.Do(t, q).Status(t, http.StatusOK).Raw); isError || text != want {
				t.Errorf("%s: %.300s\nwant %.300s", op, text, want)
			}
		}
	})
}

// TestUnconfirmedWritesStoreNothing tries each write without the one value that confirms it.
// Confirmed, the same arguments must change something.
func TestUnconfirmedWritesStoreNothing(t *testing.T) {
	eachAssistant(t, func(t *testing.T, e *harness.Env) {
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		for n, op := range tools(t, e) {
			if !op.writes() {
				continue
			}
			q := w.request(op, n%7)
			q.Token = token
			before := dump(t, e, w.practice)
			for _, confirm := range []any{nil, false, "true", 1, "yes", []any{true}} {
				callTool(t, e, op, q, map[string]any{"confirm": confirm})
			}
			text, isError := callTool(t, e, op, q, nil)
			if changed := difference(t, before, dump(t, e, w.practice)); len(changed) > 0 {
				t.Errorf("%s: stored without confirmation: %v", op, changed)
			}
			checkPreview(t, op, text, isError)
			if text, isError := callTool(t, e, op, q, map[string]any{"confirm": true}); isError {
				t.Errorf("%s, confirmed: %s", op, text)
			}
			if changed := difference(t, before, dump(t, e, w.practice)); len(changed) == 0 {
				t.Errorf("%s, confirmed: nothing happened", op)
			}
		}
	})
}

// checkPreview checks what an unconfirmed write shows.
func checkPreview(t testing.TB, op operation, text string, isError bool) {
	t.Helper()
	var shown struct {
		Stored                  *bool
		Before, Changes, Result map[string]any
		Next                    string
	}
	if err := json.Unmarshal([]byte(text), &shown); isError || err != nil {
		t.Errorf("%s: no preview: %s", op, text)
		return
	}
	has := map[string]bool{
		http.MethodPost:   shown.Result != nil,
		http.MethodPatch:  shown.Before != nil && shown.Changes != nil,
		http.MethodDelete: shown.Before != nil,
	}
	if shown.Stored == nil || *shown.Stored || !has[op.Method] || !strings.Contains(shown.Next, "confirm: true") {
		t.Errorf("%s: %.500s", op, text)
	}
}

// TestToolsNeedTheirScope uses tokens with every scope but the one that an operation needs.
func TestToolsNeedTheirScope(t *testing.T) {
	eachAssistant(t, func(t *testing.T, e *harness.Env) {
		w := loadWorld(t, e, "demo")
		before := dump(t, e, w.practice)
		tokens := map[string]string{}
		listed := map[string][]string{}
		for _, op := range tools(t, e) {
			if op.Scope == "" {
				continue
			}
			if tokens[op.Scope] == "" {
				others := slices.DeleteFunc(scope.All(), func(s string) bool { return s == op.Scope || !strings.Contains(s, ":") })
				tokens[op.Scope] = e.Token(t, strings.Join(others, " "))
				listed[op.Scope] = listedTools(t, e, tokens[op.Scope])
			}
			if slices.Contains(listed[op.Scope], op.ID) {
				t.Errorf("%s is listed without its scope", op)
			}
			q := w.request(op, 0)
			q.Token = tokens[op.Scope]
			for _, confirm := range []map[string]any{nil, {"confirm": true}} {
				if confirm != nil && !op.writes() {
					continue
				}
				if text, isError := callTool(t, e, op, q, confirm); !isError || !strings.Contains(text, `"code":"insufficient_scope"`) {
					t.Errorf("%s: %.300s", op, text)
				}
			}
		}
		if changed := difference(t, before, dump(t, e, w.practice)); len(changed) > 0 {
			t.Errorf("stored %v", changed)
		}
	})
}

var requestIDs = regexp.MustCompile(`"request_id":"[^"]+"`)

// TestToolsDoNotReachAnotherPractice sends confirmed calls with the other practice's ids. The
// result must be exactly that for an id that never existed.
func TestToolsDoNotReachAnotherPractice(t *testing.T) {
	eachAssistant(t, func(t *testing.T, e *harness.Env) {
		own, foreign, token := loadWorld(t, e, "demo"), loadWorld(t, e, "second"), e.Token(t, "")
		before := dump(t, e, foreign.practice)
		for _, op := range tools(t, e) {
			if !op.one() || len(foreign.ids[op.table()]) == 0 {
				continue
			}
			results := map[string]bool{}
			id := foreign.ids[op.table()][0]
			for _, id := range []string{id, missing(id)} {
				q := own.request(op, 0)
				q.Token, q.Path = token, op.path(id)
				var more map[string]any
				if op.writes() {
					more = map[string]any{"confirm": true}
				}
				text, isError := callTool(t, e, op, q, more)
				if !isError || !strings.Contains(text, `"code":"not_found"`) {
					t.Errorf("%s: %.300s", op, text)
				}
				results[requestIDs.ReplaceAllString(text, "")] = true
			}
			if len(results) != 1 {
				t.Errorf("%s: a foreign id differs from a missing one: %v", op, results)
			}
		}
		compare(t, before, dump(t, e, foreign.practice))
	})
}
