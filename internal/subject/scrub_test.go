package subject_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"chairside/internal/clock"
	"chairside/internal/seed"
	"chairside/internal/store/storetest"
	"chairside/internal/subject"
	"chairside/internal/test/harness"
)

// TestErasedBytesLeaveTheFiles: after an erasure no file of an embedded database has anything of the
// patient, in free pages and the log of writes neither, while the server uses it.
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
