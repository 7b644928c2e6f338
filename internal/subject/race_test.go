package subject_test

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"chairside/internal/clock"
	"chairside/internal/importer"
	"chairside/internal/principal"
	"chairside/internal/seed"
	"chairside/internal/store/storetest"
	"chairside/internal/subject"
	"chairside/internal/test/harness"
)

// besideErasure erases a patient, and runs the writes before the erasure has committed. On
// PostgreSQL the erasure waits for a row that the test has locked until the writes wait for the
// erasure; SQLite has one writer, so there they wait anyway. The patient must have a note.
func besideErasure(t *testing.T, e *harness.Env, ctx context.Context, patient int64, writes ...func()) {
	t.Helper()
	release := func() {}
	if storetest.Postgres(e.DB) {
		tx, err := e.Owner().BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback()
		var id int64
		if err := tx.QueryRowContext(t.Context(), "SELECT id FROM notes WHERE patient_id = $1 ORDER BY id LIMIT 1 FOR UPDATE", patient).Scan(&id); err != nil {
			t.Fatal(err)
		}
		release = func() { tx.Rollback() }
	}
	done := make(chan error, 1)
	go func() {
		_, err := subject.Erase(ctx, e.DB, patient)
		done <- err
	}()
	waiting(t, e, 1)
	ended := make(chan struct{})
	for _, write := range writes {
		go func() {
			write()
			ended <- struct{}{}
		}()
	}
	waiting(t, e, 1+len(writes))
	release()
	if err := <-done; err != nil {
		t.Error(err)
	}
	for range writes {
		<-ended
	}
}

// waiting returns when n connections wait for a lock of PostgreSQL.
func waiting(t *testing.T, e *harness.Env, n int) {
	t.Helper()
	if !storetest.Postgres(e.DB) {
		return
	}
	got := 0
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		err := e.Owner().QueryRowContext(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'").Scan(&got)
		if err != nil {
			t.Error(err)
			return
		}
		if got >= n {
			return
		}
	}
	t.Errorf("%d connections wait for a lock, not %d", got, n)
}

// TestNoRequestWritesBesideAnErasure: a request that has begun when a patient is erased does not
// leave a row that refers to the patient.
func TestNoRequestWritesBesideAnErasure(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		ctx := e.As(t, seed.DemoSlug)
		later := clock.With(ctx, harness.Now.AddDate(101, 0, 0))
		id, _ := victim(t, e.DB)
		e.Clock.Set(clock.Now(later))
		token := e.Token(t, "")
		practice := principal.Must(ctx).PracticeID
		practitioner := storetest.Int(t, e.DB, "SELECT min(id) FROM practitioners WHERE active AND practice_id = $1", practice)
		moved := storetest.Int(t, e.DB, "SELECT min(id) FROM appointments WHERE patient_id <> $1 AND practice_id = $2", id, practice)
		kept := e.Get(t, "/v1/appointments/"+strconv.Itoa(moved), token).Status(t, http.StatusOK).Text(t, "appointment.patient_id")

		start := clock.Now(later).AddDate(0, 0, 7)
		requests := map[string]harness.Request{
			"a booking": {Method: http.MethodPost, Path: "/v1/appointments", Body: map[string]any{"appointment": map[string]any{
				"patient_id": id, "practitioner_id": practitioner, "start_time": start, "finish_time": start.Add(time.Hour), "reason": "Exam"}}},
			"a moved appointment": {Method: http.MethodPatch, Path: "/v1/appointments/" + strconv.Itoa(moved), Body: map[string]any{"appointment": map[string]any{"patient_id": id}}},
			"a note":              {Method: http.MethodPost, Path: "/v1/notes", Body: map[string]any{"note": map[string]any{"patient_id": id, "body": canary}}},
			"a note, once": {Method: http.MethodPost, Path: "/v1/notes", Body: map[string]any{"note": map[string]any{"patient_id": id, "body": canary}},
				Header: map[string]string{"Idempotency-Key": "beside"}},
			"a waiting list entry": {Method: http.MethodPost, Path: "/v1/waiting_lists", Body: map[string]any{"waiting_list": map[string]any{"patient_id": id, "notes": canary}}},
			"a recall":             {Method: http.MethodPost, Path: "/v1/recalls", Body: map[string]any{"recall": map[string]any{"patient_id": id, "recall_type": "exam", "due_on": "2130-01-01"}}},
			"the patient":          {Method: http.MethodPatch, Path: "/v1/patients/" + fmt.Sprint(id), Body: map[string]any{"patient": map[string]any{"occupation": canary}}},
		}
		var writes []func()
		for name, q := range requests {
			q.Token = token
			writes = append(writes, func() {
				r := e.Do(t, q)
				if refused := r.Code == http.StatusUnprocessableEntity; !refused && (storetest.Postgres(e.DB) || r.Code >= http.StatusInternalServerError) {
					t.Errorf("%s: status %d: %s", name, r.Code, r.Raw)
				}
			})
		}
		besideErasure(t, e, later, id, writes...)
		for _, name := range []string{"appointments", "notes", "note_versions", "waiting_lists", "recalls"} {
			if n := storetest.Int(t, e.DB, "SELECT count(*) FROM "+name+" WHERE patient_id = $1", id); n != 0 {
				t.Errorf("%d %s refer to the erased patient", n, name)
			}
		}
		if storetest.Postgres(e.DB) {
			if got := e.Get(t, "/v1/appointments/"+strconv.Itoa(moved), token).Status(t, http.StatusOK).Text(t, "appointment.patient_id"); got != kept {
				t.Errorf("the moved appointment is of patient %s, not %s", got, kept)
			}
		}
		if n := storetest.Int(t, e.DB, "SELECT count(*) FROM patients WHERE id = $1 AND erased_at IS NOT NULL AND occupation IS NULL", id); n != 1 {
			t.Error("the patient is not erased")
		}
	})
}

// TestNoteChangesBesideAnErasure: a change of a note, which keeps the earlier text, waits for an
// erasure of the patient without a lock that the erasure needs, so none of them is cancelled.
func TestNoteChangesBesideAnErasure(t *testing.T) {
	e := harness.Start(t, harness.Postgres(t)) // SQLite has one writer at a time
	later := clock.With(e.As(t, seed.DemoSlug), harness.Now.AddDate(101, 0, 0))
	id, _ := victim(t, e.DB)
	token := e.Token(t, "")
	note := func() string { // later in the table than the one that the erasure waits for
		body := map[string]any{"note": map[string]any{"patient_id": id, "body": canary}}
		return "/v1/notes/" + e.Post(t, "/v1/notes", token, body).Status(t, http.StatusCreated).Text(t, "note.id")
	}
	var writes []func()
	for _, q := range []harness.Request{
		{Method: http.MethodPatch, Path: note(), Body: map[string]any{"note": map[string]any{"body": canary + " again"}}},
		{Method: http.MethodDelete, Path: note()},
	} {
		writes = append(writes, func() {
			q.Token = token
			if r := e.Do(t, q); r.Code != http.StatusNotFound {
				t.Errorf("%s: status %d: %s", q.Method, r.Code, r.Raw)
			}
		})
	}
	e.Clock.Set(clock.Now(later))
	token = e.Token(t, "")
	besideErasure(t, e, later, id, writes...)
	for _, name := range []string{"notes", "note_versions"} {
		if n := storetest.Int(t, e.DB, "SELECT count(*) FROM "+name+" WHERE patient_id = $1", id); n != 0 {
			t.Errorf("%d %s refer to the erased patient", n, name)
		}
	}
}

// TestNoImportWritesBesideAnErasure: an import that runs when a patient is erased changes no row of
// the patient, and adds none.
func TestNoImportWritesBesideAnErasure(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		ctx := clock.With(e.As(t, seed.DemoSlug), harness.Now.AddDate(101, 0, 0))
		load := func(file, entity, rows string) *importer.Report {
			dir := t.TempDir()
			constants := map[string]string{
				"patients": `{payment_plan_id: Private, ethnicity: "99", title: Mr, gender: m, address_line_1: 1 Road, postcode: X1 1XX, date_of_birth: "1990-01-02"}`,
				"notes":    "{user_id: " + seed.DemoAdmin + "}",
			}
			mapping := "source: old\npractice: demo\nfiles:\n  - {file: " + file + ", entity: " + entity + ", constants: " + cmp.Or(constants[entity], "{}") + "}\n"
			for name, text := range map[string]string{"mapping.yaml": mapping, file: rows} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Error(err)
				}
			}
			r, err := importer.Import(clock.With(context.WithoutCancel(t.Context()), harness.Now), e.DB, dir, importer.Options{})
			if err != nil {
				t.Error(err)
				return &importer.Report{}
			}
			return r
		}
		const patients, notes, invoices, items = "id,first_name,last_name\n", "id,patient_id,body\n", "id,patient_id,dated_on,amount\n", "id,invoice_id,name,quantity,item_price\n"
		load("patients.csv", "patients", patients+"P1,Al,Ford\nP2,Bo,Ford\nP3,Cy,Ford\nP4,Di,Ford\nP5,Ed,Ford\n")
		load("notes.csv", "notes", notes+"N1,P1,one\nN2,P2,two\nN3,P3,three\nN4,P4,four\nN5,P5,five\n")
		if r := load("invoices.csv", "invoices", invoices+"I5,P5,2026-01-02,12.50\n"); r.Rejected() > 0 {
			t.Fatalf("%+v", r)
		}
		for who, again := range map[string][3]string{
			"P1": {"patients.csv", "patients", patients + "P1," + canary + ",Ford\n"},
			"P2": {"notes.csv", "notes", notes + "N6,P2," + canary + "\n"},
			"P3": {"notes.csv", "notes", notes + "N3,P3," + canary + "\n"},
			"P4": {"invoices.csv", "invoices", invoices + "I4,P4,2026-01-02,12.50\n"},
			"P5": {"items.csv", "invoice_items", items + "M5,I5," + canary + ",1,12.50\n"},
		} {
			id := int64(storetest.Int(t, e.DB, "SELECT CAST(record_id AS bigint) FROM imported_records WHERE resource = 'patients' AND source = 'old' AND legacy_id = $1", who))
			besideErasure(t, e, ctx, id, func() {
				if r := load(again[0], again[1], again[2]); storetest.Postgres(e.DB) && r.Rejected() != 1 {
					t.Errorf("%s: %+v", who, r)
				}
			})
			for query, want := range map[string]int{
				"patients WHERE erased_at IS NOT NULL AND first_name = 'Erased' AND id = $1": 1,
				"notes WHERE patient_id = $1":         0,
				"note_versions WHERE patient_id = $1": 0,
				"invoice_items WHERE name <> 'Erased' AND invoice_id IN (SELECT id FROM invoices WHERE patient_id = $1)": 0,
			} {
				if n := storetest.Int(t, e.DB, "SELECT count(*) FROM "+query, id); n != want {
					t.Errorf("%s: %d rows of %s, want %d", who, n, query, want)
				}
			}
			if n := storetest.Int(t, e.DB, "SELECT count(*) FROM invoices WHERE patient_id = $1", id); storetest.Postgres(e.DB) && who == "P4" && n != 0 {
				t.Errorf("%s: %d invoices", who, n)
			}
		}
	})
}
