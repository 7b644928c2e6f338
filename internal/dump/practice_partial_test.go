package dump

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"chairside/internal/store/storetest"
	"chairside/internal/test/testkeys"
)

// Where only some ids collide, the others stay, and records that others write during the import
// get ids above.
func TestPracticeImportKeepsFreeIDs(t *testing.T) {
	t.Parallel()
	for kind := range databases {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			source := openDemo(t, kind)
			addLooseRows(t, source)
			demo := practiceID(t, source, "demo")
			at := time.Date(2026, 7, 1, 9, 0, 0, 0, time.UTC)
			storetest.Exec(t, source, "INSERT INTO notes (id, practice_id, created_at, updated_at, body, pinned, kind, patient_id, user_id) SELECT 5000, practice_id, $1, $1, $3, false, 'clinical', min(patient_id), min(user_id) FROM notes WHERE practice_id = $2 GROUP BY practice_id", at, demo, testkeys.Seal(demo, "notes", "body", 5000, "High"))
			storetest.Exec(t, source, "INSERT INTO note_versions (id, practice_id, note_id, patient_id, body, at) SELECT 5000, practice_id, 5000, min(patient_id), $3, $1 FROM notes WHERE practice_id = $2 GROUP BY practice_id", at, demo, testkeys.Seal(demo, "note_versions", "body", 5000, "Before"))
			dir := filepath.Join(t.TempDir(), "out")
			if err := Export(t.Context(), source, dir, ExportOptions{Practice: demo}); err != nil {
				t.Fatal(err)
			}
			target := openDemo(t, kind)
			addLooseRows(t, target)
			second := practiceID(t, target, "second")
			options := PracticeOptions{Slug: "moved", Emails: newEmails(t, source, demo), IDMap: filepath.Join(t.TempDir(), "ids.csv")}
			writing, stop := context.WithCancel(t.Context())
			var writer sync.WaitGroup
			writer.Go(func() {
				for i := 0; writing.Err() == nil; i++ {
					if _, err := target.SQL.ExecContext(t.Context(), "INSERT INTO notes (practice_id, created_at, updated_at, body, pinned, kind, patient_id, user_id) SELECT practice_id, $1, $1, 'sealed:00000000:AA', false, 'clinical', min(patient_id), min(user_id) FROM notes WHERE practice_id = $2 GROUP BY practice_id", at, second); err != nil {
						if kind == "sqlite" && strings.Contains(err.Error(), "SQLITE_BUSY") { // the import is the one writer, on a slow machine for long
							continue
						}
						t.Errorf("another practice's write: %v", err)
						return
					}
					time.Sleep(time.Millisecond)
				}
			})
			done, err := ImportPractice(t.Context(), target, dir, options)
			stop()
			writer.Wait()
			if err != nil {
				t.Fatal(err)
			}
			ids := readIDMap(t, options.IDMap)
			if ids["notes"]["5000"] != "" || len(ids["notes"]) != int(done.NewIDs["notes"]) || len(ids["notes"]) == 0 {
				t.Errorf("the new ids of notes are %v", ids["notes"])
			}
			if n := storetest.Int(t, target, "SELECT count(*) FROM note_versions AS v JOIN notes AS n ON n.id = v.note_id AND n.practice_id = v.practice_id WHERE v.practice_id = $1 AND n.id = 5000", done.ID); n != 1 {
				t.Errorf("%d versions of the note with a free id", n)
			}
			for old, id := range ids["notes"] {
				if n, err := strconv.Atoi(id); err != nil || n <= 5000 {
					t.Errorf("note %s is %s now, not above all others", old, id)
				}
			}
			compareMoved(t, source, target, demo, done.ID, ids, options.Emails)
		})
	}
}

// An import that is interrupted at any time leaves nothing, and can be repeated.
func TestInterruptedPracticeImportLeavesNothing(t *testing.T) {
	t.Parallel()
	for kind := range databases {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			source := openDemo(t, kind)
			demo := practiceID(t, source, "demo")
			dir := filepath.Join(t.TempDir(), "out")
			if err := Export(t.Context(), source, dir, ExportOptions{Practice: demo}); err != nil {
				t.Fatal(err)
			}
			target := openDemo(t, kind)
			before := fmt.Sprint(others(t, target, "00000000-0000-0000-0000-000000000000"))
			options := PracticeOptions{Slug: "moved", Emails: newEmails(t, source, demo)}
			for _, at := range []string{"checksums", "sites", "patients", "appointments", "working_sessions", "totals"} {
				ctx, cancel := context.WithCancel(t.Context())
				options.Progress = func(what string, _, _ int64) {
					if what == at {
						cancel()
					}
				}
				if _, err := ImportPractice(ctx, target, dir, options); !errors.Is(err, context.Canceled) {
					t.Errorf("interrupted at %s: %v", at, err)
				}
				cancel()
			}
			if after := fmt.Sprint(others(t, target, "00000000-0000-0000-0000-000000000000")); after != before {
				t.Error("an interrupted import left rows")
			}
			options.Progress = nil
			if done, err := ImportPractice(t.Context(), target, dir, options); err != nil || done.Rows == 0 {
				t.Errorf("repeated: %+v, %v", done, err)
			}
		})
	}
}
