package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestAuditLogOfTheCommandLine: imports and exports, in the log of their practice, whether exports hold
// sealed columns in plain text, and keys that are removed.
func TestAuditLogOfTheCommandLine(t *testing.T) {
	t.Parallel()
	for driver := range targets {
		t.Run(driver, func(t *testing.T) {
			t.Parallel()
			url, _ := openTarget(t, driver)
			dir := t.TempDir()
			keys := filepath.Join(dir, "keys.json")
			run := func(arguments ...string) string {
				t.Helper()
				command := exec.CommandContext(t.Context(), "chairside", arguments...)
				command.Dir, command.Env = dir, append(os.Environ(), "CHAIRSIDE_DATABASE_URL="+url, "CHAIRSIDE_KEYS_FILE="+keys)
				var out, message bytes.Buffer
				command.Stdout, command.Stderr = &out, &message
				if err := command.Run(); err != nil {
					t.Fatalf("%v: %v: %s%s", arguments, err, &out, &message)
				}
				return out.String()
			}
			run("keys", "create", keys)
			if err := os.CopyFS(filepath.Join(dir, "old"), os.DirFS("../../internal/importer/testdata/cliniko")); err != nil {
				t.Fatal(err)
			}
			run("import", "--mapping=cliniko", "old")
			run("export", "--practice=bright", "sealed")
			run("export", "--practice=bright", "--unsealed", "plain")
			run("export", "--unsealed", "all")
			run("extract", "--unsealed", "nightly")
			run("extract", "nightly")
			run("keys", "rotate")
			all := lastKeys(t, run("keys", "status"))
			run("keys", "remove", "--yes", all[1])

			wantEvents(t, run("audit", "list", "--practice=bright", "--format=json"),
				`export - extract {"unsealed":true}`, `export - extract {"unsealed":true}`, `export - - {"unsealed":true}`, `export - - {"unsealed":false}`, `import - old {}`)
			wantEvents(t, run("audit", "list", "--practice=none", "--format=json"),
				`delete SealingKey `+all[1]+` {}`, `rotate - `+all[0]+` {}`, `export - - {"unsealed":true}`)
		})
	}
}

// lastKeys returns the ids of the keys that "keys status" lists, the one that seals first.
func lastKeys(t *testing.T, status string) (ids []string) {
	t.Helper()
	for line := range strings.Lines(status) {
		if f := strings.Fields(line); len(f) > 1 && (f[1] == "seals" || f[1] == "opens") && !slices.Contains(ids, f[0]) {
			ids = append(ids, f[0])
		}
	}
	if len(ids) < 2 {
		t.Fatalf("fewer than two keys: %s", status)
	}
	return ids
}

// wantEvents fails the test unless the listed events of no record of a patient are these, newest first.
func wantEvents(t *testing.T, listed string, want ...string) {
	t.Helper()
	var got []string
	for line := range strings.Lines(listed) {
		var e struct {
			Action, Resource string
			Record           string          `json:"record_id"`
			Details          json.RawMessage `json:"details"`
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if e.Resource == "" || e.Resource == "SealingKey" {
			got = append(got, strings.Join([]string{e.Action, cmp.Or(e.Resource, "-"), cmp.Or(e.Record, "-"), string(e.Details)}, " "))
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the audit log has %q, want %q", got, want)
	}
}
