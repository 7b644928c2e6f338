package api_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"entgo.io/ent/dialect/sql"

	"chairside/ent"
	"chairside/ent/appointment"
	"chairside/ent/patient"
	"chairside/internal/entx"
	"chairside/internal/principal"
	"chairside/internal/seed"
	"chairside/internal/test/harness"
)

// TestCountersGiveTheSameListAsCounting: byte for byte, compared with a filter that matches
// every row.
func TestCountersGiveTheSameListAsCounting(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		ctx := e.As(t, "demo")
		site, err := e.DB.Ent.Site.Query().FirstID(ctx)
		if err != nil {
			t.Fatal(err)
		}
		dentist, err := e.DB.Ent.Practitioner.Query().FirstID(ctx)
		if err != nil {
			t.Fatal(err)
		}
		const columns = "created_at, updated_at, start_time, finish_time, duration, reason, state, booked_via_api, metadata, pending_at, confirmed_at, arrived_at, in_surgery_at, completed_at, cancelled_at, did_not_attend_at, practice_id, patient_id, practitioner_id"
		// Enough rows for deep pages, many of them at the same time of one day.
		if _, err := e.DB.SQL.ExecContext(ctx, "INSERT INTO appointments ("+columns+") SELECT "+columns+" FROM appointments UNION ALL SELECT "+columns+" FROM appointments"); err != nil {
			t.Fatal(err)
		}
		tokens := map[string]string{
			"everything":     e.Token(t, ""),
			"one site":       e.TokenOf(t, seed.DemoAdmin, "", &site),
			"other practice": e.TokenOf(t, seed.SecondAdmin, "", nil),
		}
		queries := []string{
			"", "sort_direction=desc", "sort_by=start_time", "cancelled=false", "cancelled=true", "cancelled=true&sort_direction=desc",
			"sort_by=id", "sort_by=state&sort_direction=desc", "state=Cancelled", "on=2026-07-01",
			fmt.Sprint("practitioner_id=", dentist), fmt.Sprintf("practitioner_id=%d&cancelled=true", dentist), "practitioner_id=999999999",
		}
		check := func() {
			t.Helper()
			for who, token := range tokens {
				for _, query := range queries {
					for _, page := range []string{"per_page=1", "per_page=7&page=3", "per_page=100&page=5", "per_page=100&page=6", "per_page=83&page=9", "per_page=100&page=10", "per_page=3&page=400", "per_page=100&page=1000000"} {
						sameWithoutCounting(t, e, token, who, "/appointments", query+"&"+page, "after=1000-01-01")
					}
				}
				for _, path := range []string{"/patients", "/invoices", "/invoice_items", "/payments", "/treatment_plans", "/treatment_plan_items", "/nhs_claims"} {
					for _, page := range []string{"per_page=1", "per_page=2&page=9", "per_page=1&page=501&sort_direction=desc", "per_page=5&page=120&sort_by=created_at"} {
						sameWithoutCounting(t, e, token, who, path, page, "updated_after=1000-01-01")
					}
				}
			}
		}
		check()
		if _, err := e.DB.Counters.Compact(ctx); err != nil {
			t.Fatal(err)
		}
		check()
	})
}

// sameWithoutCounting sends a request without and with the filter.
func sameWithoutCounting(t *testing.T, e *harness.Env, token, who, path, query, all string) {
	t.Helper()
	query = strings.TrimPrefix(query, "&")
	plain := e.Get(t, path+"?"+query, token).Status(t, http.StatusOK)
	counted := e.Get(t, path+"?"+query+"&"+all, token).Status(t, http.StatusOK)
	if string(plain.Raw) != string(counted.Raw) {
		t.Errorf("%s: %s?%s returns\n%.300s\nwith counting\n%.300s", who, path, query, plain.Raw, counted.Raw)
	}
}

// TestDeepPagesStartAtTheRightRow: around the first and last rows of a day, from both ends of
// the list, and on days whose count is zero.
func TestDeepPagesStartAtTheRightRow(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		ctx, token := e.As(t, "demo"), e.Token(t, "")
		listed := func() []*ent.Appointment {
			rows, err := e.DB.Ent.Appointment.Query().
				Where(appointment.CancelledAtIsNil(), appointment.DidNotAttendAtIsNil()).
				Order(appointment.ByStartTime(), appointment.ByID()).All(ctx)
			if err != nil {
				t.Fatal(err)
			}
			return rows
		}
		// The demo has too few for pages that are deep.
		if err := e.DB.Tx(ctx, func(tx *ent.Client) error {
			for _, r := range listed() {
				for _, years := range []int{2, 4} {
					err := tx.Appointment.Create().SetPractitionerID(r.PractitionerID).SetNillableUserID(r.UserID).SetReason(r.Reason).
						SetStartTime(r.StartTime.AddDate(years, 0, 0)).SetFinishTime(r.FinishTime.AddDate(years, 0, 0)).Exec(ctx)
					if err != nil {
						return err
					}
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		rows := listed()
		for _, i := range []int{len(rows) / 4, len(rows) / 2, len(rows) * 3 / 4} {
			day := rows[i].StartTime.UTC().Truncate(24 * time.Hour)
			if _, err := e.DB.SQL.ExecContext(ctx, "UPDATE appointments SET state = 'Cancelled', cancelled_at = start_time, did_not_attend_at = NULL WHERE start_time >= $1 AND start_time < $2", day, day.AddDate(0, 0, 1)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := e.DB.Counters.Compact(ctx); err != nil {
			t.Fatal(err)
		}
		rows = listed()
		borders, pages := 0, 0
		for i := 1; i < len(rows); i++ {
			if rows[i].StartTime.UTC().YearDay() == rows[i-1].StartTime.UTC().YearDay() {
				continue
			}
			borders++
			at := min(i+borders%3-1, len(rows)-1) // before, on or after the border
			for direction, page := range map[string]int{"asc": at + 1, "desc": len(rows) - at} {
				if page <= 500 {
					continue
				}
				pages++
				got := e.Get(t, fmt.Sprintf("/appointments?per_page=1&page=%d&sort_direction=%s", page, direction), token).Status(t, http.StatusOK)
				if found := got.Column(t, "appointments", "id"); len(found) != 1 || found[0] != fmt.Sprint(rows[at].ID) || number(got.At(t, "meta.total")) != int64(len(rows)) {
					t.Errorf("page %d %s: %v of %v, want %d of %d", page, direction, found, got.At(t, "meta.total"), rows[at].ID, len(rows))
				}
			}
		}
		if pages < 50 {
			t.Errorf("only %d pages of %d rows", pages, len(rows))
		}
	})
}

// TestCountersAreConfined: they count only the caller's practice, and narrower queries have
// none.
func TestCountersAreConfined(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		countersOf := func(ctx context.Context, q *ent.PatientQuery) *entx.Counters {
			t.Helper()
			totals, err := q.Counters(ctx)
			if err != nil {
				t.Fatal(err)
			}
			return totals
		}
		patients := e.DB.Ent.Patient
		for _, slug := range []string{"demo", "second"} {
			ctx := e.As(t, slug)
			want, err := patients.Query().Count(ctx)
			if err != nil {
				t.Fatal(err)
			}
			totals := countersOf(ctx, patients.Query())
			if totals == nil {
				t.Fatalf("%s: no counters", slug)
			}
			if got, err := totals.Read(ctx, totals.Of("patients.all", 0)); got != want || err != nil {
				t.Errorf("%s: %d patients, %v; want %d", slug, got, err, want)
			}
			c := *principal.Must(ctx)
			c.SiteID = &c.PracticeID
			if countersOf(principal.With(ctx, &c), patients.Query()) != nil {
				t.Errorf("%s: a caller of one site got counters of all sites", slug)
			}
			modified := patients.Query()
			modified.Modify(func(*sql.Selector) {})
			for name, q := range map[string]*ent.PatientQuery{
				"a predicate": patients.Query().Where(patient.Active(true)),
				"a modifier":  modified,
				"a limit":     patients.Query().Limit(5),
				"a path":      e.DB.Ent.Account.Query().QueryPatient(),
			} {
				if countersOf(ctx, q) != nil {
					t.Errorf("%s: got counters for a query with %s", slug, name)
				}
			}
			for name, with := range map[string]ent.Interceptor{
				"a condition": ent.TraverseFunc(func(_ context.Context, q ent.Query) error {
					q.(*ent.PatientQuery).Where(patient.Active(true))
					return nil
				}),
				"a confinement": ent.TraverseFunc(func(_ context.Context, q ent.Query) error {
					q.(*ent.PatientQuery).Confine(patient.Active(true))
					return nil
				}),
				"anything": ent.InterceptFunc(func(next ent.Querier) ent.Querier { return next }),
			} {
				client := ent.NewClient(ent.Driver(sql.OpenDB(e.DB.Dialect, e.DB.SQL)))
				client.Patient.Intercept(with)
				if countersOf(ctx, client.Patient.Query()) != nil {
					t.Errorf("%s: got counters beside an interceptor that may add %s", slug, name)
				}
			}
		}
		if countersOf(principal.AsSystem(t.Context()), patients.Query()) != nil {
			t.Error("work across practices got counters")
		}
	})
}
