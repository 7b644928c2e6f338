package contract

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"chairside/ent"
	"chairside/ent/patient"
	"chairside/internal/entx/rowscan"
	"chairside/internal/principal"
	"chairside/internal/store/rowsecurity"
	"chairside/internal/test/harness"
)

// TestSecondWall: without Ent's practice filter no operation shows or writes a row of another
// practice, because row-level security hides them.
func TestSecondWall(t *testing.T) {
	t.Parallel()
	e := harness.Start(t, harness.SecondWall(t), harness.Patient)
	if !e.DB.Confined() {
		t.Fatal("row-level security is off")
	}
	own, foreign := loadWorld(t, e, "demo"), loadWorld(t, e, "second")
	token := e.Token(t, "")
	before := dump(t, e, foreign.practice)
	if n := tryForeign(t, e, own, foreign, token, checkSame); n < 100 {
		t.Errorf("only %d places were tried", n)
	}
	compare(t, before, dump(t, e, foreign.practice))
	for _, op := range operations() {
		if !op.lists() || op.ID == "listAvailability" || op.ID == "listRotaPractitionerDiaries" {
			continue
		}
		for _, id := range allIDs(t, e, own, op, token) {
			if slices.Contains(foreign.ids[op.table()], id) {
				t.Errorf("%s shows %s of the other practice", op, id)
			}
		}
	}
}

// TestSecondWallIsAlone: in TestSecondWall the filter is really gone, so that the policies alone
// hide rows: they appear once a policy is gone too.
func TestSecondWallIsAlone(t *testing.T) {
	t.Parallel()
	e := harness.Start(t, harness.SecondWall(t), harness.Patient)
	ctx := e.As(t, "demo")
	rows, err := e.DB.Ent.Patient.Query().Rows(rowscan.RawRows(ctx), `current_query()`)
	if err != nil {
		t.Fatal(err)
	}
	var query string
	if err := rowscan.ForEach(rows, 1, func(r *rowscan.Scanner) { query = r.Text(0) }); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(query, "OR true)") {
		t.Errorf("the statement keeps its filter: %s", query)
	}
	theirs, err := e.DB.Ent.Patient.Query().IDs(e.As(t, "second"))
	if err != nil || len(theirs) == 0 {
		t.Fatal(len(theirs), err)
	}
	if n, err := e.DB.Ent.Patient.Query().Where(patient.IDIn(theirs...)).Count(ctx); n != 0 || err != nil {
		t.Errorf("%d foreign patients are counted, %v", n, err)
	}
	err = e.DB.Tx(ctx, func(tx *ent.Client) error {
		return tx.Patient.UpdateOneID(theirs[0]).SetPreferredName("written").Exec(ctx)
	})
	if !ent.IsNotFound(err) {
		t.Errorf("a foreign patient is written: %v", err)
	}
	n, err := e.DB.Ent.Patient.Query().Where(patient.PreferredName("written")).Count(principal.AsSystem(t.Context()))
	if n != 0 || err != nil {
		t.Errorf("%d foreign patients are written, %v", n, err)
	}
	execute(t, e, "ALTER TABLE patients DISABLE ROW LEVEL SECURITY")
	if n, err := e.DB.Ent.Patient.Query().Where(patient.IDIn(theirs...)).Count(ctx); n != len(theirs) || err != nil {
		t.Errorf("without its policy the table shows %d foreign patients, want %d: %v", n, len(theirs), err)
	}
}

// TestConfinedSearchReadsTheView: a search looks for patients in the view that keeps its index.
func TestConfinedSearchReadsTheView(t *testing.T) {
	t.Parallel()
	e := harness.Start(t, harness.SecondWall(t), harness.Patient)
	token := e.Token(t, "patient")
	for _, path := range []string{"/v1/patients?query=smith", "/v1/patient_stats?query=smith"} {
		e.Get(t, path, token).Status(t, http.StatusOK)
	}
	execute(t, e, "REVOKE SELECT ON "+rowsecurity.SearchView+" FROM "+rowsecurity.DefaultRoles.Serving)
	for _, path := range []string{"/v1/patients?query=jones", "/v1/patient_stats?query=jones"} {
		e.Get(t, path, token).Status(t, http.StatusInternalServerError)
	}
	e.Get(t, "/v1/patients", token).Status(t, http.StatusOK)
}
