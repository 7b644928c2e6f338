package extract_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"chairside/ent/practice"
	"chairside/internal/events/extract"
	"chairside/internal/events/feed"
	"chairside/internal/principal"
	"chairside/internal/server"
	"chairside/internal/store/feedlog"
	"chairside/internal/store/storetest"
	"chairside/internal/test/harness"
	"chairside/ogent"
)

func TestMain(m *testing.M) { harness.Main(m) }

// runIn runs one run in a folder.
func runIn(t *testing.T, e *harness.Env, ctx context.Context, dir string, o extract.Options) (*extract.Manifest, error) {
	t.Helper()
	folder, err := extract.Open(dir)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err := folder.Close(); err != nil {
			t.Error(err)
		}
	}()
	p, err := e.DB.Ent.Practice.Query().Where(practice.ID(principal.Must(ctx).PracticeID)).Only(ctx)
	if err != nil {
		t.Fatal(err)
	}
	o.Practice = extract.Practice{ID: p.ID.String(), Name: p.Name, Slug: p.Slug}
	return extract.Run(ctx, folder, feed.New(e.DB), server.Reads(e.DB), o)
}

// mustRun is runIn for a run that succeeds.
func mustRun(t *testing.T, e *harness.Env, dir string, o extract.Options) *extract.Manifest {
	t.Helper()
	m, err := runIn(t, e, e.As(t, "demo"), dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// documents are the records that the API's snapshot has, as rows.
func documents(t *testing.T, e *harness.Env, token string, unsealed bool) map[string]row {
	t.Helper()
	all := map[string]row{}
	r := e.Get(t, "/v1/snapshot", token).Status(t, 200)
	for line := range strings.Lines(string(r.Raw)) {
		var x struct {
			Resource string
			Record   json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &x); err != nil {
			t.Fatal(err)
		}
		if x.Record != nil {
			record := rowOf(t, x.Record, columnsOf(x.Resource, unsealed))
			all[x.Resource+" "+record["id"]] = record
		}
	}
	return all
}

// compare reports how an extract differs from the documents.
func compare(t *testing.T, what string, have, want map[string]row) {
	t.Helper()
	wrong := 0
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if !maps.Equal(have[key], want[key]) {
			if wrong++; wrong <= 5 {
				t.Errorf("%s, %s:\n have %v\n want %v", what, key, have[key], want[key])
			}
		}
	}
	if len(have) != len(want) || len(want) < 500 || wrong > 0 {
		t.Errorf("%s has %d records, %d of them wrong, the API %d", what, len(have), wrong, len(want))
	}
}

// patient is the body of a new patient.
func patient(t *testing.T, e *harness.Env, last string) json.RawMessage {
	t.Helper()
	plan, err := e.DB.Ent.PaymentPlan.Query().FirstID(e.As(t, "demo"))
	if err != nil {
		t.Fatal(err)
	}
	return json.RawMessage(fmt.Sprintf(`{"patient": {"payment_plan_id": %d, "title": "Dr", "first_name": "Ada", "last_name": %q, "date_of_birth": "1960-01-02", "gender": false, "ethnicity": "A", "address_line_1": "1 High Street", "postcode": "BA1 1AA"}}`, plan, last))
}

// TestRunsEqualTheAPI: the files of all runs together have what the API's documents have, in both formats,
// and after every kind of change.
func TestRunsEqualTheAPI(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		formats := map[string]extract.Options{
			"parquet": {Unsealed: true}, "ndjson": {Format: extract.NDJSON}, "sealed parquet": {},
		}
		dirs := map[string]string{}
		for name := range formats {
			dirs[name] = filepath.Join(t.TempDir(), "new", "folder")
		}
		check := func(run int) {
			t.Helper()
			for name, o := range formats {
				if run > 1 {
					o = extract.Options{} // the folder's
				}
				m := mustRun(t, e, dirs[name], o)
				if m.Run != run {
					t.Errorf("%s: the run is %d, want %d", name, m.Run, run)
				}
				compare(t, fmt.Sprintf("run %d of %s", run, name), apply(t, dirs[name]), documents(t, e, token, m.Unsealed))
			}
		}
		check(1)
		if m := mustRun(t, e, dirs["parquet"], extract.Options{}); len(m.Files) != 0 || m.Since == "" {
			t.Errorf("without changes: %+v", m)
		}
		mustRun(t, e, dirs["ndjson"], extract.Options{})
		mustRun(t, e, dirs["sealed parquet"], extract.Options{})

		id := e.Post(t, "/v1/patients", token, patient(t, e, "Été \"\\ 語")).Status(t, 201).Text(t, "patient.id")
		path := "/v1/patients/" + id
		e.Patch(t, path, token, json.RawMessage(`{"patient": {"medical_alert": true, "medical_alert_text": "Penicillin", "metadata": {"a": "b"}}}`)).Status(t, 200)
		note := e.Post(t, "/v1/notes", token, json.RawMessage(`{"note": {"patient_id": `+id+`, "body": "sealed text"}}`)).Status(t, 201).Text(t, "note.id")
		check(3)

		e.Patch(t, path, token, json.RawMessage(`{"patient": {"last_name": "Changed"}}`)).Status(t, 200)
		e.Delete(t, "/v1/notes/"+note, token).Status(t, 204)
		for _, statement := range []string{
			"UPDATE patients SET middle_name = 'x' WHERE id IN (SELECT id FROM patients ORDER BY id LIMIT 20)",
			"UPDATE patients SET preferred_name = NULL",
			"DELETE FROM payment_explanations WHERE id IN (SELECT id FROM payment_explanations ORDER BY id LIMIT 7)",
			"DELETE FROM custom_field_answers WHERE id IN (SELECT id FROM custom_field_answers ORDER BY id LIMIT 9)",
			"UPDATE custom_fields SET active = NOT active",                 // shown with all patients
			"UPDATE users SET first_name = 'Una', last_login = created_at", // shown with practitioners
			"DELETE FROM appointments WHERE id IN (SELECT id FROM appointments ORDER BY id LIMIT 9)",
		} {
			storetest.Exec(t, e.DB, statement)
		}
		check(4)
		for _, resource := range []string{"patients", "practitioners", "users", "payments", "appointments", "notes"} {
			if _, err := os.Stat(filepath.Join(dirs["parquet"], resource, "000004.parquet")); err != nil {
				t.Error(err)
			}
		}
		if _, err := os.Stat(filepath.Join(dirs["parquet"], "sites", "000004.parquet")); err == nil {
			t.Error("a resource without changes has a file")
		}
	})
}

// TestColumns: sealed columns are left out unless asked for, and members of linked records are.
func TestColumns(t *testing.T) {
	t.Parallel()
	has := func(resource, column string, unsealed bool) bool {
		_, ok := columnsOf(resource, unsealed)[column]
		return ok
	}
	for _, c := range []struct {
		resource, column string
		sealed, unsealed bool
	}{
		{"patients", "nhs_number", false, true},
		{"patients", "medical_alert_text", false, true},
		{"notes", "body", false, true},
		{"patients", "last_name", true, true},
		{"patients", "custom_fields", true, true},
		{"patients", "account_id", false, false},
		{"patients", "image_url", false, false},
		{"appointments", "patient_name", false, false},
		{"treatment_plans", "total_gross", false, false},
		{"payments", "explanations", true, true},
		{"payments", "status", true, true},
		{"practitioners", "user", true, true},
		{"users", "last_login", false, false},
		{"users", "permission_level", true, true},
	} {
		if has(c.resource, c.column, false) != c.sealed || has(c.resource, c.column, true) != c.unsealed {
			t.Errorf("%s.%s: sealed %v, unsealed %v", c.resource, c.column, !c.sealed, !c.unsealed)
		}
	}
}

// TestSchemasDescribeEveryColumn: each has a type, and a description from the API's document.
func TestSchemasDescribeEveryColumn(t *testing.T) {
	t.Parallel()
	e := harness.Start(t, harness.SQLite(t))
	dir := t.TempDir()
	m := mustRun(t, e, dir, extract.Options{Format: extract.NDJSON})
	for _, resource := range m.Resources {
		content, err := os.ReadFile(filepath.Join(dir, "schema", resource+".json"))
		if err != nil {
			t.Fatal(err)
		}
		var schema struct {
			Title string
			Defs  struct {
				Record, Deletion struct {
					Properties map[string]map[string]any
					Required   []string
				}
			} `json:"$defs"`
		}
		if err := json.Unmarshal(content, &schema); err != nil {
			t.Fatal(err)
		}
		columns := columnsOf(resource, false)
		if schema.Title != resource || len(schema.Defs.Record.Properties) != 2+len(columns) || len(schema.Defs.Record.Required) != 2+len(columns) || len(schema.Defs.Deletion.Properties) != 3 {
			t.Errorf("%s: %s", resource, content)
		}
		for name, property := range schema.Defs.Record.Properties {
			if property["x-parquet-type"] == nil || property["nullable"] != nil || property["example"] != nil {
				t.Errorf("%s.%s: %v", resource, name, property)
			}
		}
		if strings.Contains(string(content), "#/components/") {
			t.Errorf("%s refers to the API's document", resource)
		}
	}
}

// TestMemoryIsBounded: a row group ends at either limit, so that no more is in memory.
func TestMemoryIsBounded(t *testing.T) { // not in parallel: it changes the limits
	e := harness.Start(t, harness.SQLite(t))
	for _, limit := range []struct{ rows, bytes int }{{50, 1 << 30}, {1 << 30, 20_000}} {
		extract.LimitGroups(t, limit.rows, limit.bytes)
		dir := t.TempDir()
		m := mustRun(t, e, dir, extract.Options{Resources: []string{"appointments"}})
		rows, groups := readParquet(t, filepath.Join(dir, m.Files[0].File), columnsOf("appointments", false))
		if len(groups) < 3 || int64(len(rows)) != m.Files[0].Records {
			t.Errorf("%d rows in the row groups %v", len(rows), groups)
		}
		for _, n := range groups {
			if most := int64(min(limit.rows, limit.bytes/100)); n > most { // a row has more than 100 bytes
				t.Errorf("a row group has %d rows, at most %d", n, most)
			}
		}
	}
}

// TestOtherPracticesAreAbsent: their ids are in no file.
func TestOtherPracticesAreAbsent(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		dirs := map[string]string{"demo": t.TempDir(), "second": t.TempDir()}
		for run := range 2 {
			for slug, dir := range dirs {
				if _, err := runIn(t, e, e.As(t, slug), dir, extract.Options{}); err != nil {
					t.Fatal(err)
				}
			}
			demo, second := apply(t, dirs["demo"]), apply(t, dirs["second"])
			if len(demo) < 500 || len(second) < 20 {
				t.Fatalf("%d and %d records", len(demo), len(second))
			}
			for key := range second {
				if demo[key] != nil {
					t.Errorf("run %d: both practices have %s", run+1, key)
				}
			}
			storetest.Exec(t, e.DB, "UPDATE patients SET middle_name = 'y'")
		}
	})
}

// TestRefusals: a run that cannot go on says why, and leaves the folder as it was.
func TestRefusals(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		demo, dir := e.As(t, "demo"), t.TempDir()
		if _, err := runIn(t, e, demo, dir, extract.Options{Since: "yesterday"}); !errors.Is(err, extract.ErrCursor) {
			t.Errorf("a malformed cursor: %v", err)
		}
		first := mustRun(t, e, dir, extract.Options{Format: extract.NDJSON, Resources: []string{"patients", "sites"}})
		before := apply(t, dir)
		for what, o := range map[string]extract.Options{
			"format": {Format: extract.Parquet}, "resources": {Resources: []string{"sites"}}, "sealed": {Unsealed: true}, "cursor": {Since: first.Cursor},
		} {
			if _, err := runIn(t, e, demo, dir, o); !errors.Is(err, extract.ErrOther) {
				t.Errorf("another %s: %v", what, err)
			}
		}
		if _, err := runIn(t, e, e.As(t, "second"), dir, extract.Options{}); !errors.Is(err, extract.ErrOther) {
			t.Errorf("another practice: %v", err)
		}
		folder, err := extract.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := extract.Open(dir); !errors.Is(err, extract.ErrBusy) {
			t.Errorf("two runs at once: %v", err)
		}
		if err := folder.Close(); err != nil {
			t.Fatal(err)
		}
		other := t.TempDir()
		if err := os.WriteFile(filepath.Join(other, "thesis.txt"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := extract.Open(other); !errors.Is(err, extract.ErrOccupied) {
			t.Errorf("a folder with other files: %v", err)
		}

		// A new folder goes on from a cursor.
		storetest.Exec(t, e.DB, "UPDATE sites SET nickname = 'z'")
		later := t.TempDir()
		m := mustRun(t, e, later, extract.Options{Since: first.Cursor})
		if len(m.Files) != 1 || m.Files[0].Resource != "sites" || m.Since != first.Cursor {
			t.Errorf("since the first run: %+v", m)
		}
		if m = mustRun(t, e, later, extract.Options{}); len(m.Files) != 0 {
			t.Errorf("after it: %+v", m)
		}

		if err := feedlog.Sweep(t.Context(), e.DB.SQL, -time.Hour); err != nil {
			t.Fatal(err)
		}
		if _, err := runIn(t, e, demo, dir, extract.Options{}); !errors.Is(err, extract.ErrExpired) {
			t.Errorf("changes that are gone: %v", err)
		}
		storetest.Exec(t, e.DB, "UPDATE feed_state SET epoch = 'restored'")
		if _, err := runIn(t, e, demo, later, extract.Options{}); !errors.Is(err, extract.ErrExpired) {
			t.Errorf("another database: %v", err)
		}
		compareFolders(t, before, apply(t, dir))
	})
}

func compareFolders(t *testing.T, before, after map[string]row) {
	t.Helper()
	if !maps.EqualFunc(before, after, maps.Equal) {
		t.Errorf("the folder had %d records and has %d, or others", len(before), len(after))
	}
}

// TestInterruptedRun: a run that ends early, or whose process is killed, leaves nothing that the next one
// does not remove or replace.
func TestInterruptedRun(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token, dir := e.Token(t, ""), t.TempDir()
		interrupt := func() {
			t.Helper()
			ctx, cancel := context.WithCancel(e.As(t, "demo"))
			defer cancel()
			_, err := runIn(t, e, ctx, dir, extract.Options{Progress: func(resource string, _ int64) {
				if resource > "patients" {
					cancel()
				}
			}})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("the interrupted run: %v", err)
			}
			apply(t, dir) // no file without a manifest
		}
		interrupt()
		mustRun(t, e, dir, extract.Options{})
		for _, statement := range []string{
			"UPDATE patients SET middle_name = 'x'", "UPDATE users SET first_name = 'Una'", "UPDATE sites SET nickname = 'x'",
			"DELETE FROM appointments WHERE id IN (SELECT id FROM appointments ORDER BY id LIMIT 9)",
		} {
			storetest.Exec(t, e.DB, statement)
		}
		interrupt()
		// What a killed process leaves before its manifest has its name.
		for _, name := range []string{"patients/000002.parquet", "rooms/000002.parquet", "users/000002.parquet.partial", "manifests/000002.json.partial"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte("half"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if m := mustRun(t, e, dir, extract.Options{}); m.Run != 2 {
			t.Errorf("the run is %d", m.Run)
		}
		compare(t, "the extract", apply(t, dir), documents(t, e, token, false))
	})
}

// TestEveryResourceHasAnID: rows begin with it.
func TestEveryResourceHasAnID(t *testing.T) {
	t.Parallel()
	for name, r := range ogent.Resources {
		if r.Members[0].Name != "id" || !r.Members[0].Own {
			t.Errorf("%s: %+v", name, r.Members[0])
		}
	}
}
