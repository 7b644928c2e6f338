package main

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"chairside/cmd/chairside-bench/floor"
	"chairside/ent"
	"chairside/internal/civil"
	"chairside/internal/clock"
	"chairside/internal/principal"
	"chairside/internal/report"
	"chairside/internal/report/render"
	"chairside/internal/store"
	"chairside/internal/test/harness"
	"chairside/internal/test/testdb"
	"chairside/internal/test/testkeys"
)

// TestEachReportHasHandWrittenSQL: a new report needs a file in floor/reports.
func TestEachReportHasHandWrittenSQL(t *testing.T) {
	var want []string
	for i := range report.All {
		want = append(want, report.All[i].Name)
	}
	slices.Sort(want)
	if got, err := floor.Reports(); err != nil || !slices.Equal(got, want) {
		t.Errorf("floor/reports has %q, and the reports are %q; %v", got, want, err)
	}
}

// TestHandWrittenSQLReturnsTheReports compares the rows of every report with those of its
// hand-written SQL, over both clock changes and a year.
func TestHandWrittenSQLReturnsTheReports(t *testing.T) {
	where := testdb.Reported.Postgres(t)
	db, err := store.Open(t.Context(), where)
	if err != nil {
		t.Fatal(err)
	}
	db.Keys = testkeys.Keys()
	t.Cleanup(func() { db.Close() })
	ctx := (&harness.Env{DB: db}).As(t, "demo")
	caller := principal.Must(ctx)
	now := testdb.Day.In(caller.Zone).Add(12 * time.Hour)
	ctx = clock.With(ctx, now)
	byHand, err := openReportFloor(ctx, where, pgtype.UUID{Bytes: caller.PracticeID, Valid: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { byHand.db.Close(context.Background()) })
	for i := range report.All {
		r := &report.All[i]
		t.Run(r.Name, func(t *testing.T) {
			query, err := floor.Report(r.Name)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range periodsOf(r) {
				var document bytes.Buffer
				err := db.View(ctx, func(client *ent.Client) error {
					f.Keys = db.Keys
					a, err := r.Ask(ctx, client, f)
					if err != nil {
						return err
					}
					return render.Write(&document, a, render.JSON, render.Options{})
				})
				if err != nil {
					t.Fatal(err)
				}
				if err := byHand.compare(ctx, query, f.From, f.To, now, document.Bytes()); err != nil {
					t.Errorf("%s to %s: %v", f.From, f.To, err)
				}
			}
		})
	}
}

// periodsOf returns the filters of a report to compare.
func periodsOf(r *report.Report) (filters []report.Filter) {
	for _, day := range []civil.Date{testdb.Day, testdb.Day.AddMonths(-4)} {
		from, to := yearOf(r, day)
		filters = append(filters, report.Filter{From: from, To: to})
	}
	if !r.AsAt {
		for _, days := range [][2]string{{"2025-10-20", "2026-04-02"}, {"2026-06-10", "2026-08-20"}} {
			filters = append(filters, report.Filter{From: civil.MustParse(days[0]), To: civil.MustParse(days[1])})
		}
	}
	return filters
}

func TestDifferentRowsAreNoticed(t *testing.T) {
	january := [][]byte{[]byte("months"), []byte("2026-01"), []byte("2")}
	rows := [][][]byte{january, january, {[]byte("months"), nil, []byte("1")}}
	for _, c := range []struct {
		name, document string
		notSelected    []string
		says           string
	}{
		{"the same", `{"months": [{"month": "2026-01", "due": 2}, {"month": "2026-01", "due": 2}, {"month": null, "due": 1}]}`, nil, ""},
		{"another value", `{"months": [{"month": "2026-01", "due": 3}, {"month": "2026-01", "due": 2}, {"month": null, "due": 1}]}`, nil, "the SQL does not return"},
		{"a row less", `{"months": [{"month": "2026-01", "due": 2}, {"month": null, "due": 1}]}`, nil, "the report does not have"},
		{"a row more", `{"months": [{"month": "2026-01", "due": 2}, {"month": "2026-01", "due": 2}, {"month": null, "due": 1}, {"month": null, "due": 1}]}`, nil, "the SQL does not return"},
		{"another column", `{"months": [{"month": "2026-01", "due": 2, "share": "1.00"}]}`, nil, "does not select share"},
		{"a column that is not selected", `{"months": [{"month": "2026-01", "due": 2, "share": "1.00"}, {"month": "2026-01", "due": 2}, {"month": null, "due": 1}]}`, []string{"share"}, ""},
		{"another table", `{"weeks": []}`, nil, "no table months"},
		{"no rows", `{"months": []}`, nil, "the report does not have"},
	} {
		got := ""
		if err := compareRows([]byte(c.document), []string{"table", "month", "due"}, c.notSelected, slices.Values(rows)); err != nil {
			got = err.Error()
		}
		if (got == "") != (c.says == "") || !strings.Contains(got, c.says) {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}
