package subject_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"chairside/internal/clock"
	"chairside/internal/seed"
	"chairside/internal/store"
	"chairside/internal/store/storetest"
	"chairside/internal/subject"
	"chairside/internal/test/harness"
)

// TestErasedBytesLeaveTheFiles: after an erasure no file of an embedded database has anything of the
// patient, in free pages and the write-ahead log neither, while the server uses it.
func TestErasedBytesLeaveTheFiles(t *testing.T) {
	t.Parallel()
	e := harness.Start(t, harness.SQLite(t), harness.Patient)
	ctx := e.As(t, seed.DemoSlug)
	later := clock.With(ctx, harness.Now.AddDate(101, 0, 0))
	token := e.Token(t, "")
	plan := storetest.Int(t, e.DB, "SELECT min(id) FROM payment_plans WHERE practice_id = (SELECT id FROM practices WHERE slug = 'demo')")
	create := func(name string) int64 {
		t.Helper()
		r := e.Post(t, "/v1/patients", token, map[string]any{"patient": map[string]any{
			"title": "Ms", "first_name": name + "first", "last_name": name + "last", "date_of_birth": "1950-02-03", "gender": "female", "ethnicity": "A",
			"address_line_1": name + "street", "postcode": "S1 1AA", "payment_plan_id": plan, "email_address": name + "@example.test", "occupation": name + "work",
		}}).Status(t, http.StatusCreated)
		id, err := strconv.ParseInt(r.Text(t, "patient.id"), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	// Pages fill, split and are balanced around the rows.
	for i := range 40 {
		create(fmt.Sprint("qbefore", i))
	}
	id := create("qcanary")
	for i := range 40 {
		create(fmt.Sprint("qafter", i))
		path := "/v1/patients/" + strconv.FormatInt(id, 10)
		e.Patch(t, path, token, map[string]any{"patient": map[string]any{"occupation": fmt.Sprint("qcanary ", i, strings.Repeat("x", 3*i)), "last_name": fmt.Sprint("Qcanary", i)}}).Status(t, http.StatusOK)
	}
	e.Get(t, "/v1/patients?per_page=100", token).Status(t, http.StatusOK)
	e.Settle()
	if files := holding(t, e.DB.File, "qcanary"); len(files) == 0 {
		t.Fatal("no file has the patient before the erasure")
	}
	if _, err := subject.Erase(later, e.DB, id); err != nil {
		t.Fatal(err)
	}
	if files := holding(t, e.DB.File, "qcanary"); len(files) > 0 {
		t.Errorf("the erased patient is still in %v", files)
	}
	if files := holding(t, e.DB.File, "qafter7"); len(files) == 0 {
		t.Error("the patients who stay are in no file")
	}
}

// holding returns the files of an embedded database that hold a text, in any case.
func holding(t *testing.T, path, text string) (names []string) {
	t.Helper()
	for _, suffix := range []string{"", "-wal", "-shm"} {
		content, err := os.ReadFile(path + suffix)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if n := bytes.Count(bytes.ToLower(content), []byte(text)); n > 0 {
			names = append(names, fmt.Sprintf("%s (%d times)", "database"+suffix, n))
		}
	}
	return names
}

// TestScrubAgain: while a reader holds the write-ahead log, an erasure says that it may still hold the patient.
// A second erasure empties it.
func TestScrubAgain(t *testing.T) {
	t.Parallel()
	e := harness.Start(t, harness.SQLite(t), harness.Patient)
	ctx := e.As(t, seed.DemoSlug)
	later := clock.With(ctx, harness.Now.AddDate(101, 0, 0))
	token, id := e.Token(t, ""), int64(storetest.Int(t, e.DB, "SELECT min(id) FROM patients WHERE practice_id = (SELECT id FROM practices WHERE slug = 'demo')"))
	path := "/v1/patients/" + strconv.FormatInt(id, 10)
	e.Patch(t, path, token, map[string]any{"patient": map[string]any{"occupation": "qcanary"}}).Status(t, http.StatusOK)
	e.Settle()
	reader, err := e.DB.SQL.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	for _, statement := range []string{"BEGIN DEFERRED", "SELECT count(*) FROM patients"} {
		if _, err := reader.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	interrupted, interrupt := context.WithCancel(later) // after the commit, so that the test need not wait until Scrub gives up
	defer interrupt()
	go func() {
		for erased := 0; erased == 0 && interrupted.Err() == nil; time.Sleep(20 * time.Millisecond) {
			_ = e.DB.SQL.QueryRowContext(interrupted, "SELECT count(*) FROM patients WHERE erased_at IS NOT NULL").Scan(&erased)
		}
		interrupt()
	}()
	if done, err := subject.Erase(interrupted, e.DB, id); !errors.Is(err, store.ErrNotScrubbed) || done == nil || !strings.Contains(err.Error(), "run the command again") {
		t.Fatalf("while a reader holds the log: %+v, %v", done, err)
	}
	if files := holding(t, e.DB.File, "qcanary"); len(files) == 0 {
		t.Fatal("the reader kept nothing in the files: the test tests nothing")
	}
	if _, err := reader.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if again, err := subject.Erase(later, e.DB, id); err != nil || again.Keeping.ErasedAt == nil {
		t.Fatalf("again: %+v, %v", again, err)
	}
	if files := holding(t, e.DB.File, "qcanary"); len(files) > 0 {
		t.Errorf("the erased patient is still in %v", files)
	}
}
