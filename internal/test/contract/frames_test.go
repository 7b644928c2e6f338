package contract

import (
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"

	"chairside/internal/test/harness"
)

// TestFewFramesBetweenOperationAndDatabase: a reader follows a request through few functions.
// The limits are of this module's functions on the stack between the generated server and
// database/sql, hooks and generated functions included.
func TestFewFramesBetweenOperationAndDatabase(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		practitioner := e.Get(t, "/v1/practitioners", token).Column(t, "practitioners", "id")[0]
		for _, request := range []struct {
			method, path, body string
			limit              int
		}{
			{http.MethodGet, "/v1/appointments?state=Confirmed", "", 11},
			{http.MethodPost, "/v1/appointments", `{"appointment": {"practitioner_id": ` + practitioner + `, "reason": "Exam",
				"start_time": "2029-01-01T10:00:00Z", "finish_time": "2029-01-01T10:30:00Z"}}`, 20},
		} {
			stacks := &stackRecorder{Context: t.Context()}
			r := httptest.NewRequestWithContext(stacks, request.method, request.path, strings.NewReader(request.body))
			r.Header.Set("Authorization", "Bearer "+token)
			r.Header.Set("User-Agent", "Frames (frames@example.com)")
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			e.Server.Handler().ServeHTTP(w, r)
			if w.Code >= http.StatusMultipleChoices {
				t.Fatalf("%s %s: %d %s", request.method, request.path, w.Code, w.Body)
			}
			t.Logf("%s %s passes %d functions", request.method, request.path, len(stacks.frames))
			if len(stacks.frames) == 0 || len(stacks.frames) > request.limit {
				t.Errorf("%s %s passes %d functions, the limit is %d:\n%s", request.method, request.path,
					len(stacks.frames), request.limit, strings.Join(stacks.frames, "\n"))
			}
		}
	})
}

// stackRecorder is the context of a request. It records the stack with the most functions of
// this module, from the operation to the call of database/sql, where Ent's driver looks for
// variables in the context.
type stackRecorder struct {
	context.Context
	frames []string // outermost first
}

// Value records the stack when Ent's driver calls it.
func (s *stackRecorder) Value(key any) any {
	pc := make([]uintptr, 256)
	frames := runtime.CallersFrames(pc[:runtime.Callers(2, pc)])
	var stack []string
	inDriver := false
	for {
		frame, more := frames.Next()
		switch {
		case strings.HasPrefix(frame.Function, "database/sql."): // below the call
			return s.Context.Value(key)
		case strings.HasPrefix(frame.Function, "entgo.io/ent/dialect/sql.Conn."):
			inDriver = true
		case strings.HasPrefix(frame.Function, "chairside/ogent.(*Server)"): // routes, decodes and encodes
			if inDriver && len(stack) > len(s.frames) {
				slices.Reverse(stack)
				s.frames = stack
			}
			return s.Context.Value(key)
		case strings.HasPrefix(frame.Function, "chairside/"):
			stack = append(stack, frame.Function)
		}
		if !more { // not in an operation
			return s.Context.Value(key)
		}
	}
}
