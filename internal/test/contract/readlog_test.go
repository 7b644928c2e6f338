package contract

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"chairside/internal/test/harness"
)

// entry is a log line.
type entry map[string]any

// lines returns the log lines of a request.
func lines(t testing.TB, e *harness.Env, requestID string) (about []entry) {
	t.Helper()
	e.Settle()
	for line := range strings.Lines(e.Log.String()) {
		if !strings.Contains(line, requestID) {
			continue
		}
		var l entry
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		about = append(about, l)
	}
	return about
}

// reads returns the access log lines among them.
func reads(all []entry) []entry {
	return slices.DeleteFunc(all, func(l entry) bool { return l["msg"] != "patient data read" })
}

// TestReadingPatientDataIsLogged in one line per request: user, time, and the ids of all
// records shown, and nothing else.
func TestReadingPatientDataIsLogged(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		tokenID := column(t, e, "SELECT id FROM access_tokens WHERE practice_id = $1 ORDER BY created_at DESC", w.practice)[0]
		want := []string{"level", "msg", "operation", "practice_id", "records", "request_id", "time", "token_id", "user_id"}
		for _, op := range operations() {
			if op.writes() {
				continue
			}
			for _, method := range []string{http.MethodGet, http.MethodHead} {
				q := w.request(op, 0)
				q.Method, q.Token = method, token
				r := send(t, e, op, q).Status(t, http.StatusOK)
				found := reads(lines(t, e, r.Header.Get("X-Request-Id")))
				if len(found) > 1 || op.PatientData != (len(found) == 1) && op.ID != "listAvailability" {
					t.Errorf("%s %s: %d lines", method, op, len(found))
				}
				if len(found) != 1 {
					continue
				}
				if got := slices.Sorted(maps.Keys(found[0])); !slices.Equal(got, want) {
					t.Errorf("%s: the line has %v", op, got)
				}
				if found[0]["practice_id"] != w.practice || found[0]["token_id"] != tokenID || found[0]["operation"] != op.ID {
					t.Errorf("%s: %v", op, found[0])
				}
				if method == http.MethodGet && op.PatientData {
					checkLogged(t, op, r, found[0])
				}
			}
		}
	})
}

// checkLogged fails unless the line has exactly the response's records.
func checkLogged(t *testing.T, op operation, r *harness.Response, line entry) {
	t.Helper()
	records, _ := line["records"].(map[string]any)
	if answers := records["custom_field_answers"]; answers != nil {
		t.Errorf("%s: answers %v are named beside what they belong to", op, answers)
	}
	table := op.table()
	if table == "patient_stats" {
		table = "patients"
	}
	ids, _ := records[table].([]any)
	var shown []string
	if op.lists() {
		shown = r.Column(t, op.table(), "id")
	} else {
		for _, record := range r.JSON {
			shown = append(shown, fmt.Sprint(record.(map[string]any)["id"]))
		}
	}
	if len(shown) == 0 {
		t.Errorf("%s shows nothing", op)
	}
	for _, id := range shown {
		if !slices.Contains(ids, any(id)) {
			t.Errorf("%s: %s is not in %v", op, id, ids)
		}
	}
	for _, id := range ids {
		if !slices.Contains(shown, id.(string)) {
			t.Errorf("%s: %v is not in %s", op, id, shown)
		}
	}
}

// TestUnreadRecordsAreNotLogged: refused requests and missing records.
func TestUnreadRecordsAreNotLogged(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token, other := loadWorld(t, e, "demo"), e.Token(t, ""), e.Token(t, "user:read")
		for _, op := range operations() {
			if !op.PatientData || op.writes() {
				continue
			}
			q := w.request(op, 0)
			for _, q.Token = range []string{"", other} {
				r := send(t, e, op, q)
				if found := reads(lines(t, e, r.Header.Get("X-Request-Id"))); len(found) > 0 {
					t.Errorf("%s → %d: %v", op, r.Code, found)
				}
			}
			if !op.one() {
				continue
			}
			q.Token, q.Path = token, "/v1/"+op.table()+"/"+missing(w.ids[op.table()][0])
			r := send(t, e, op, q).Status(t, http.StatusNotFound)
			if found := reads(lines(t, e, r.Header.Get("X-Request-Id"))); len(found) > 0 {
				t.Errorf("%s → 404: %v", op, found)
			}
		}
	})
}

// TestEveryRequestIsLoggedOnce, in the documented form.
func TestEveryRequestIsLoggedOnce(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		want := []string{"bytes", "duration_ms", "level", "method", "msg", "operation", "practice_id", "request_id", "route", "status", "time", "token_id", "user_id"}
		for _, op := range operations() {
			q := w.request(op, 0)
			q.Token = token
			r := send(t, e, op, q).Status(t, op.Success)
			var found []entry
			for _, l := range lines(t, e, r.Header.Get("X-Request-Id")) {
				if l["msg"] == "request" {
					found = append(found, l)
				}
			}
			if len(found) != 1 {
				t.Errorf("%s: %d lines", op, len(found))
				continue
			}
			if got := slices.Sorted(maps.Keys(found[0])); !slices.Equal(got, want) {
				t.Errorf("%s: the line has %v", op, got)
			}
			if found[0]["route"] != op.Path || found[0]["status"] != float64(op.Success) {
				t.Errorf("%s: %v", op, found[0])
			}
		}
	})
}

// checkedWriter fails the test if a patient's id leaves before the log has it.
type checkedWriter struct {
	*httptest.ResponseRecorder
	t    *testing.T
	log  *harness.Log
	sent map[string]bool
}

// patientID is the id at the beginning of a patient's record.
var patientID = regexp.MustCompile(`"record":\{"id":(\d+)`)

// Write implements http.ResponseWriter.
func (w *checkedWriter) Write(b []byte) (int, error) {
	n, err := w.ResponseRecorder.Write(b)
	logged := map[string]bool{}
	for line := range strings.Lines(w.log.String()) {
		var read struct{ Records struct{ Patients []string } }
		if err := json.Unmarshal([]byte(line), &read); err != nil {
			w.t.Error(err)
		}
		for _, id := range read.Records.Patients {
			logged[id] = true
		}
	}
	for _, found := range patientID.FindAllStringSubmatch(w.Body.String(), -1) {
		if w.sent[found[1]] = true; !logged[found[1]] {
			w.t.Errorf("patient %s leaves before the log has the read", found[1])
		}
	}
	return n, err
}

// TestReadsAreLoggedBeforeTheyLeave: of a response that is sent while it is read, too. The harness
// checks the same of every response.
func TestReadsAreLoggedBeforeTheyLeave(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w := &checkedWriter{httptest.NewRecorder(), t, e.Log, map[string]bool{}}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/snapshot?resources=patients", nil)
		r.Header.Set("Authorization", "Bearer "+e.Token(t, ""))
		r.Header.Set("User-Agent", "test")
		e.Server.Handler().ServeHTTP(w, r)
		all := column(t, e, "SELECT id FROM patients WHERE practice_id = $1", loadWorld(t, e, "demo").practice)
		if len(w.sent) != len(all) {
			t.Errorf("%d of %d patients were sent", len(w.sent), len(all))
		}
	})
}
