package mcp

import (
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

const meta = `"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
	"io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"}, "io.modelcontextprotocol/clientCapabilities": {}}`

// TestNothingStaysOpen sends messages of both generations of the protocol, among them requests
// for a stream. Neither sessions nor goroutines may be left.
func TestNothingStaysOpen(t *testing.T) {
	f := &fake{before: thing}
	s := f.server(t)
	server := httptest.NewServer(s.Handler())
	defer server.Close()
	before := runtime.NumGoroutine()
	for range 20 {
		for _, message := range []string{
			`{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}`,
			`{"jsonrpc": "2.0", "method": "notifications/initialized"}`,
			`{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "getThing", "arguments": {"id": 1}}}`,
			`{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "getThing", "arguments": {"id": 1}, ` + meta + `}}`,
			`{"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": {"notifications": {}, ` + meta + `}}`,
			`{"jsonrpc": "2.0", "id": 1, "method": "resources/subscribe", "params": {"uri": "chairside://openapi.json"}}`,
		} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, strings.NewReader(message))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
			if strings.Contains(message, "_meta") {
				r.Header.Set("Mcp-Protocol-Version", "2026-07-28")
				r.Header.Set("Mcp-Method", strings.Split(strings.Split(message, `"method": "`)[1], `"`)[0])
				r.Header.Set("Mcp-Name", "getThing")
			}
			res, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(res.Body)
			res.Body.Close()
			if err != nil || res.StatusCode >= 300 && res.StatusCode != http.StatusNotFound || res.Header.Get("Mcp-Session-Id") != "" {
				t.Fatalf("%s: %d %v %s %v", message, res.StatusCode, res.Header, body, err)
			}
			if subscribes := strings.Contains(message, "subscri"); subscribes != strings.Contains(string(body), `"code":-32601`) {
				t.Fatalf("%s: %s", message, body)
			}
		}
	}
	if open := len(slices.Collect(s.sdk.Sessions())); open > 0 {
		t.Errorf("%d sessions are open", open)
	}
	http.DefaultClient.CloseIdleConnections()
	for range 100 {
		if runtime.NumGoroutine() <= before+2 {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}
