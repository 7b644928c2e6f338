package api_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chairside/internal/test/harness"
)

var update = flag.Bool("update", false, "rewrite the documents in testdata/golden")

// TestGoldenDocuments compares one record of each resource with a document in
// testdata/golden. The seeded data are the same on both databases, ids
// included; the record is the one with the most values.
func TestGoldenDocuments(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w := newWorld(t, e)
		for _, r := range resources {
			golden(t, w, r.one, "/v1/"+r.path+harness.ID(richest(w.rows(t, r))["id"]))
		}
		golden(t, w, "practice", "/v1/practice")
		golden(t, w, "current_user", "/v1/user")
		golden(t, w, "availability", "/v1/appointments/availability?"+url.Values{
			"start_time": {"2026-07-02"}, "finish_time": {"2026-07-04"}, "practitioner_ids": {"1,2,3"}, "per_page": {"5"},
		}.Encode())
	})
}

// richest returns the first row with the most values.
func richest(rows []row) (best row) {
	most := -1
	for _, r := range rows {
		values := 0
		for _, v := range r {
			list, isList := v.([]any)
			hash, isHash := v.(map[string]any)
			if v != nil && (!isList || len(list) > 0) && (!isHash || len(hash) > 0) {
				values++
			}
		}
		if values > most {
			best, most = r, values
		}
	}
	return best
}

// golden compares the response at a path with the document of that name.
func golden(t *testing.T, w *world, name, path string) {
	t.Helper()
	raw := w.Get(t, path, w.token).Status(t, 200).Raw
	var indented bytes.Buffer
	if err := json.Indent(&indented, raw, "", "  "); err != nil {
		t.Fatal(err)
	}
	got := strings.TrimSpace(strings.ReplaceAll(indented.String(), w.URL, "https://chairside.test")) + "\n"
	file := filepath.Join("testdata", "golden", name+".json")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs from %s (update it with -update): got %s", path, file, got)
	}
}
