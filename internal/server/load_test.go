package server

import (
	"encoding/json"
	"testing"

	"chairside/internal/store/admission"
	"chairside/internal/web"
	"chairside/ogent"
)

// TestEveryRouteHasAKind checks all operations and pages, so that a new one does not share
// the kind of work that has none (admission.Other).
func TestEveryRouteHasAKind(t *testing.T) {
	t.Parallel()
	var document struct {
		Paths map[string]any `json:"paths"`
	}
	if err := json.Unmarshal(ogent.Document, &document); err != nil {
		t.Fatal(err)
	}
	kinds := map[string]bool{}
	for path := range document.Paths {
		kinds[kindOf(path)] = true
	}
	for _, route := range new(web.Site).Routes() {
		kinds[kindOf(route.Path)] = true
	}
	if kinds[admission.Other] || kinds[admission.Tokens] || len(kinds) < 20 {
		t.Errorf("kinds %v", kinds)
	}
	for pattern, want := range map[string]string{
		"/appointments": "appointments", "/appointments/availability": "appointments", "/patients/{id}": "patients",
		"/reports/{name}": "reports", "/sign-in/code": "sign-in", "/": admission.Other,
	} {
		if got := kindOf(pattern); got != want {
			t.Errorf("%s has kind %q, want %q", pattern, got, want)
		}
	}
	if timeFor("/reports/{name}") != reportTime || timeFor("/settings") != pageTime {
		t.Error("reports or pages have the wrong time limit")
	}
}
