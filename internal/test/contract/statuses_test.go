package contract

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"

	"chairside/internal/test/harness"
)

// TestDocumentedErrorsArePossible, and possible ones are documented: it provokes each status
// with every operation. Operations that cannot fail in a way ignore what provokes it.
func TestDocumentedErrorsArePossible(t *testing.T) {
	t.Parallel()
	e, limited := harness.Start(t, harness.SQLite(t)), startWithLimit(t, 1)
	for _, op := range operations() {
		w := loadWorld(t, e, "demo") // earlier operations may have deleted rows
		token, row := e.Token(t, ""), 0
		for status, provoke := range map[int]func(q *harness.Request){
			http.StatusBadRequest: func(q *harness.Request) {
				separator := "?"
				if strings.Contains(q.Path, "?") {
					separator = "&"
				}
				q.Path += separator + "zebra=1"
				q.Header = map[string]string{"Prefer": "handling=strict"}
			},
			http.StatusNotModified:  func(q *harness.Request) { q.Header = map[string]string{"If-None-Match": "*"} },
			http.StatusUnauthorized: func(q *harness.Request) { q.Token = "" },
			http.StatusForbidden:    func(q *harness.Request) { q.Header = map[string]string{"User-Agent": ""} },
			http.StatusNotFound: func(q *harness.Request) {
				if op.one() {
					unknown := uuid.NewString()
					if _, err := strconv.Atoi(w.ids[op.table()][0]); err == nil {
						unknown = "999999999"
					}
					q.Path = "/v1" + strings.Replace(op.Path, "{id}", unknown, 1)
				}
			},
			http.StatusConflict: func(q *harness.Request) {
				if members, ok := q.Body.(map[string]any); ok && op.table() == "appointments" {
					booked := w.request(find(t, "createAppointment"), 0)
					booked.Token = token
					e.Do(t, booked).Status(t, http.StatusCreated)
					members["appointment"].(map[string]any)["force_changes"] = false
				}
			},
			http.StatusPreconditionFailed:    func(q *harness.Request) { q.Header = map[string]string{"If-Match": `"other"`} },
			http.StatusRequestEntityTooLarge: func(q *harness.Request) { q.Body = `{"x": "` + strings.Repeat("x", 1<<20) + `"}` },
			http.StatusUnsupportedMediaType: func(q *harness.Request) {
				q.Body, q.Header = "{}", map[string]string{"Content-Type": "text/plain"}
			},
			http.StatusUnprocessableEntity: func(q *harness.Request) {
				if op.Body == nil && op.writes() { // the key of another request
					first := w.request(find(t, "createPatient"), 0)
					first.Token, first.Header = token, map[string]string{"Idempotency-Key": op.ID}
					e.Do(t, first).Status(t, http.StatusCreated)
					q.Header = first.Header
				}
				q.Body = "{}"
			},
			http.StatusTooManyRequests: nil, // of the other server
		} {
			documented := op.doc.Responses.Value(strconv.Itoa(status)) != nil
			if status == http.StatusConflict && op.writes() && (op.Body == nil || op.Body.Key != "appointment") {
				// Only another request with the same Idempotency-Key provokes it, while it runs.
				if !documented {
					t.Errorf("%s does not document 409", op)
				}
				continue
			}
			if status == http.StatusNotModified && op.writes() {
				if documented {
					t.Errorf("%s documents 304", op)
				}
				continue // it would change what the other requests need
			}
			q := w.request(op, row)
			q.Token = token
			if op.one() && op.Method == http.MethodDelete {
				row++
			}
			server := e
			if provoke != nil {
				provoke(&q)
			} else {
				server, q.Token = limited, ""
				server.Do(t, q)
			}
			response := server.Do(t, q)
			if possible := response.Code == status; possible != documented {
				t.Errorf("%s: %d is possible: %v, documented: %v (the response is %d %s)", op, status, possible, documented, response.Code, response.Raw)
			}
		}
		others := []string{"500", "503", strconv.Itoa(op.Success), "304", "400", "401", "403", "404", "409", "412", "413", "415", "422", "429"}
		for status := range op.doc.Responses.Map() {
			if !slices.Contains(others, status) {
				t.Errorf("%s documents %s, which nothing provokes", op, status)
			}
		}
	}
}
