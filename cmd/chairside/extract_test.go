package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"chairside/internal/test/localpg/pgtest"
)

// TestKilledExtractLosesNothing kills runs of "extract" at different times while records change. The run
// that completes at last has every record as a new extract has it.
func TestKilledExtractLosesNothing(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		path := t.TempDir() + "/killed.db"
		killExtract(t, "sqlite:"+path, "sqlite", path)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		url := pgtest.New(t)
		killExtract(t, url, "postgres", url)
	})
}

func killExtract(t *testing.T, url, driver, source string) {
	const kills = 4
	run := func(args ...string) {
		t.Helper()
		if out, err := exec.CommandContext(t.Context(), "chairside", append(args, "--database-url", url)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	if driver == "postgres" {
		run("migrate", "up")
	}
	run("seed", "--patients=40", "--years=1", "--as-of=2026-07-01")
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	dir := filepath.Join(t.TempDir(), "extract")
	flags := []string{"--practice=demo", "--format=ndjson"}
	run(append([]string{"extract", dir}, flags...)...)
	for kill := range kills {
		for _, statement := range []string{
			fmt.Sprintf("UPDATE patients SET middle_name = 'v%d'", kill),
			"DELETE FROM appointments WHERE id = (SELECT min(id) FROM appointments WHERE id NOT IN (SELECT appointment_id FROM recalls WHERE appointment_id IS NOT NULL))",
		} {
			if _, err := db.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		command := exec.CommandContext(t.Context(), "chairside", "extract", dir, "--database-url", url)
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		waitForRun(dir)
		time.Sleep(time.Duration(kill) * 5 * time.Millisecond)
		_ = command.Process.Kill() // it may be done
		_ = command.Wait()
	}
	run("extract", dir)
	fresh := filepath.Join(t.TempDir(), "fresh")
	run(append([]string{"extract", fresh}, flags...)...)
	have, want := lastRows(t, dir), lastRows(t, fresh)
	if len(want) < 300 || !maps.EqualFunc(have, want, bytes.Equal) {
		t.Errorf("the extract has %d records, a new one %d, or others", len(have), len(want))
	}
}

// waitForRun waits until a run has begun to write.
func waitForRun(dir string) {
	for range 1000 {
		if found, _ := filepath.Glob(filepath.Join(dir, "*", "*.partial")); len(found) > 0 { // the pattern is well-formed
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// lastRows reads the files that manifests name, and returns the last row of each record that is not
// deleted, without the number of its run.
func lastRows(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	have := map[string][]byte{}
	manifests, err := filepath.Glob(filepath.Join(dir, "manifests", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(manifests)
	for _, name := range manifests {
		var m struct {
			Files []struct{ Resource, File string }
		}
		content, err := os.ReadFile(name)
		if err == nil {
			err = json.Unmarshal(content, &m)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range m.Files {
			content, err := os.ReadFile(filepath.Join(dir, file.File))
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(content)) {
				var r struct {
					ID      json.RawMessage
					Deleted bool `json:"_deleted"`
				}
				if err := json.Unmarshal([]byte(line), &r); err != nil {
					t.Fatal(err)
				}
				_, values, _ := strings.Cut(line, ",")
				if key := file.Resource + " " + string(r.ID); r.Deleted {
					delete(have, key)
				} else {
					have[key] = []byte(values)
				}
			}
		}
	}
	return have
}
