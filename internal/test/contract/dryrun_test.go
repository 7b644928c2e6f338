package contract

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"chairside/internal/store"
	"chairside/internal/test/harness"
)

// everyRow returns the rows of all tables, counters included, without the last use of tokens.
func everyRow(t testing.TB, e *harness.Env) map[string]int {
	t.Helper()
	numberChanges(t, e)
	all := map[string]int{}
	for _, table := range store.Tables(e.DB.Dialect) {
		var names []string
		for _, c := range table.Columns {
			if c.Name != "last_used_at" {
				names = append(names, `"`+c.Name+`"`)
			}
		}
		var text []byte
		eachRow(t, e, func(_ []string, values []sql.RawBytes) {
			text = append(append(text[:0], table.Name...), ' ')
			for _, v := range values {
				text = append(append(text, show(v)...), between...)
			}
			all[string(text)]++
		}, "SELECT "+strings.Join(names, ", ")+` FROM "`+table.Name+`"`)
	}
	return all
}

// dryRun returns a copy of a request that prefers a dry run.
func dryRun(q harness.Request) harness.Request {
	header := map[string]string{"Prefer": "dry-run"}
	maps.Copy(header, q.Header)
	q.Header = header
	return q
}

// withoutIDs returns a body without the members of its record that a new row determines.
func withoutIDs(t testing.TB, raw []byte) string {
	t.Helper()
	var body map[string]map[string]any
	if len(raw) == 0 {
		return ""
	}
	if err := json.Unmarshal(raw, &body); err != nil {
		t.Fatal(err)
	}
	for _, record := range body {
		delete(record, "id")
		delete(record, "account_id")
		delete(record, "secret")
	}
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestDryRunsOfAllWritesStoreNothing compares every table before and after, and the response
// with that of the same request without the preference.
func TestDryRunsOfAllWritesStoreNothing(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		for n, op := range operations() {
			if !op.writes() {
				continue
			}
			q := w.request(op, 0)
			q.Token = token
			tried := dryRun(q)
			if n%2 == 0 {
				tried.Header["Idempotency-Key"] = "same"
			}
			before := everyRow(t, e)
			dry := send(t, e, op, tried).Status(t, op.Success)
			if after := everyRow(t, e); !maps.Equal(before, after) {
				t.Errorf("%s stored rows", op)
				for row := range after {
					if before[row] == 0 {
						t.Log(row)
					}
				}
			}
			if dry.Header.Get("Preference-Applied") != "dry-run" || replayed(dry) {
				t.Errorf("%s: headers %v", op, dry.Header)
			}
			real := send(t, e, op, q).Status(t, op.Success)
			if real.Header.Get("Preference-Applied") != "" {
				t.Errorf("%s: an ordinary request applied a preference", op)
			}
			if a, b := withoutIDs(t, dry.Raw), withoutIDs(t, real.Raw); a != b {
				t.Errorf("%s:\n%s\n%s", op, a, b)
			}
			if op.one() && dry.Header.Get("ETag") != real.Header.Get("ETag") {
				t.Errorf("%s: ETag %s, then %s", op, dry.Header.Get("ETag"), real.Header.Get("ETag"))
			}
		}
	})
}

// TestDryRunsAreRefusedAsTheRequest makes the mistakes that a write is refused for.
func TestDryRunsAreRefusedAsTheRequest(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		booking := w.request(find(t, "createAppointment"), 0)
		booking.Token = token
		appointment := booking.Body.(map[string]any)["appointment"].(map[string]any)
		appointment["force_changes"] = false
		e.Do(t, dryRun(booking)).Status(t, 201)
		e.Do(t, dryRun(booking)).Status(t, 201) // the first one booked nothing
		e.Do(t, booking).Status(t, 201)
		want := e.Do(t, booking).Error(t, 409, "double_booking")
		got := e.Do(t, dryRun(booking)).Error(t, 409, "double_booking")
		if a, b := fmt.Sprint(want.At(t, "error.conflicts")), fmt.Sprint(got.At(t, "error.conflicts")); a != b {
			t.Errorf("conflicts %s, in a dry run %s", a, b)
		}
		appointment["practitioner_id"] = missing(w.ids["practitioners"][0])
		e.Do(t, dryRun(booking)).Error(t, 422, "validation_failed", "practitioner_id")

		for _, op := range operations() {
			if !op.writes() || !op.one() {
				continue
			}
			q := w.request(op, 0)
			q.Token, q.Header = token, map[string]string{"If-Match": `"other"`}
			e.Do(t, dryRun(q)).Error(t, 412, "version_mismatch")
			q.Header = nil
			if op.Body != nil {
				q.Body = map[string]any{}
				e.Do(t, dryRun(q)).Error(t, 422, "validation_failed")
			}
			q.Path = op.path(missing(w.ids[op.table()][0]))
			e.Do(t, dryRun(q)).Error(t, 404, "not_found")
			q.Token = e.Token(t, "user:read")
			e.Do(t, dryRun(q)).Error(t, 403, "insufficient_scope")
		}
	})
}

func TestPreferences(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		q := w.request(find(t, "updateFee"), 0)
		q.Token = token
		for value, applied := range map[string]bool{
			"dry-run": true, "DRY-RUN": true, "respond-async, dry-run;foo=bar": true, "dry-run=true": true, `dry-run="1"`: true,
			"handling=lenient, dry-run": true, "dry-run=false": false, "dryrun": false, "handling=dry-run": false, "": false,
		} {
			q.Header = map[string]string{"Prefer": value}
			if got := e.Do(t, q).Status(t, 200).Header.Get("Preference-Applied"); (got == "dry-run") != applied {
				t.Errorf("Prefer: %s: Preference-Applied %q", value, got)
			}
		}
		q.Header = map[string]string{"Prefer": "dry-run, handling=strict"}
		q.Path += "?nonsense=1"
		e.Do(t, q).Error(t, 400, "invalid_parameter", "nonsense")
		for _, op := range operations() { // reads ignore it
			if op.writes() {
				continue
			}
			q := w.request(op, 0)
			q.Token = token
			if r := send(t, e, op, dryRun(q)).Status(t, http.StatusOK); slices.Contains(r.Header.Values("Preference-Applied"), "dry-run") {
				t.Errorf("%s applied a preference", op)
			}
		}
	})
}
