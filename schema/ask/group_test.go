package ask_test

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"

	"chairside/ent"
	"chairside/ent/acquisitionsource"
	"chairside/ent/appointment"
	"chairside/ent/invoice"
	"chairside/ent/patient"
	"chairside/ent/payment"
	"chairside/ent/practitioner"
	"chairside/ent/site"
	"chairside/internal/civil"
	"chairside/internal/principal"
	"chairside/internal/store"
	"chairside/internal/test/harness"
	"chairside/internal/test/testdb"
	"chairside/internal/test/testkeys"
	"chairside/schema"
	"chairside/schema/ask"
)

// each runs a test on both databases; open opens a practice like another program.
func each(t *testing.T, test func(t *testing.T, e *harness.Env, open func(slug string) *ask.Practice)) {
	t.Helper()
	t.Parallel()
	for name, address := range map[string]func(testing.TB) string{"sqlite": testdb.Practice.SQLite, "postgres": testdb.Practice.Postgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := address(t)
			db, err := store.Open(t.Context(), url)
			if err != nil {
				t.Fatal(err)
			}
			db.Keys = testkeys.Keys()
			t.Cleanup(func() { db.Close() })
			test(t, &harness.Env{DB: db}, func(slug string) *ask.Practice {
				p, err := ask.Open(t.Context(), url, slug)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { p.Close() })
				return p
			})
		})
	}
}

// view runs a query of a practice.
func view[T any](t *testing.T, p *ask.Practice, query func(ctx context.Context, client *ent.Client) (T, error)) (found T) {
	t.Helper()
	err := p.View(t.Context(), func(ctx context.Context, client *ent.Client) (err error) {
		found, err = query(ctx, client)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// changes are the instants at which the clocks of a zone change in 2025 and 2026.
func changes(zone *time.Location) (all []time.Time) {
	for _, o := range civil.Offsets(zone) {
		if year := o.Since.Year(); year == 2025 || year == 2026 {
			all = append(all, o.Since)
		}
	}
	return all
}

// TestBucketsMatchTheCalendar compares each bucket with package time, in zones whose clocks
// change by an hour, by half an hour, at Ramadan or never.
func TestBucketsMatchTheCalendar(t *testing.T) {
	type counted struct {
		Start ask.Date
		Count int
	}
	var zones []*time.Location
	for _, name := range []string{"Europe/London", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca", "Asia/Kolkata", "UTC"} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		zones = append(zones, zone)
	}
	starts := map[string]func(d ask.Date) ask.Date{
		"day":     func(d ask.Date) ask.Date { return d },
		"week":    func(d ask.Date) ask.Date { return d.AddDays(-(int(d.Weekday()) + 6) % 7) },
		"month":   func(d ask.Date) ask.Date { return d.AddDays(1 - d.Day) },
		"quarter": func(d ask.Date) ask.Date { return ask.Date{Year: d.Year, Month: (d.Month-1)/3*3 + 1, Day: 1} },
	}
	buckets := map[string]func(path ...string) ask.Column{"day": ask.Day, "week": ask.Week, "month": ask.Month, "quarter": ask.Quarter}
	count := func(t *testing.T, about string, days []ask.Date, start func(d ask.Date) ask.Date, got []counted) {
		t.Helper()
		counts := map[ask.Date]int{}
		for _, d := range days {
			counts[start(d)]++
		}
		var want []counted
		for d, n := range counts {
			want = append(want, counted{d, n})
		}
		slices.SortFunc(want, func(a, b counted) int { return cmp.Compare(a.Start.String(), b.Start.String()) })
		if !slices.Equal(got, want) || len(want) < 5 {
			t.Errorf("%s: %v, want %v", about, got, want)
		}
	}
	each(t, func(t *testing.T, e *harness.Env, open func(slug string) *ask.Practice) {
		ctx := e.As(t, "demo")
		e.Tx(t, ctx, func(tx *ent.Client) error {
			who := tx.Practitioner.Query().FirstIDX(ctx)
			for _, zone := range zones {
				for _, at := range changes(zone) {
					day := civil.Of(at.In(zone))
					for _, start := range []time.Time{at, day.In(zone), day.AddDays(1).In(zone), at.AddDate(-40, 0, 0), at.AddDate(50, 0, 0)} {
						for _, start := range []time.Time{start.Add(-time.Microsecond), start} {
							tx.Appointment.Create().SetPractitionerID(who).SetReason("Exam").SetStartTime(start.UTC()).SetFinishTime(start.Add(time.Minute).UTC()).ExecX(ctx)
						}
					}
				}
			}
			return nil
		})
		for _, zone := range zones {
			e.ChangePractice(t, func(p *ent.PracticeUpdateOne) { p.SetTimeZone(zone.String()) })
			p := open("demo")
			times := view(t, p, func(ctx context.Context, client *ent.Client) (days []ask.Date, err error) {
				all, err := client.Appointment.Query().All(ctx)
				for _, a := range all {
					days = append(days, ask.DateOf(a.StartTime.In(zone)))
				}
				return days, err
			})
			dates := view(t, p, func(ctx context.Context, client *ent.Client) (days []ask.Date, err error) {
				all, err := client.Invoice.Query().All(ctx)
				for _, i := range all {
					days = append(days, i.DatedOn)
				}
				return days, err
			})
			for unit, bucket := range buckets {
				got := view(t, p, func(ctx context.Context, client *ent.Client) ([]counted, error) {
					return ask.Group[counted](ctx, client.Appointment.Query(), bucket(appointment.FieldStartTime), ask.Count())
				})
				count(t, zone.String()+" "+unit, times, starts[unit], got)
				got = view(t, p, func(ctx context.Context, client *ent.Client) ([]counted, error) {
					return ask.Group[counted](ctx, client.Invoice.Query(), bucket(invoice.FieldDatedOn), ask.Count())
				})
				if unit != "quarter" {
					count(t, zone.String()+" "+unit+" of dates", dates, starts[unit], got)
				}
			}
			first, last := changes(zones[0])[0], changes(zones[0])[1]
			from, to, n := civil.Of(first.In(zone)), civil.Of(last.In(zone)), 0
			for _, d := range times {
				if !d.Before(from) && !to.Before(d) {
					n++
				}
			}
			got := view(t, p, func(ctx context.Context, client *ent.Client) (int, error) {
				return client.Appointment.Query().Where(ask.During(p.Zone, appointment.FieldStartTime, from, to)).Count(ctx)
			})
			if got != n || n == 0 {
				t.Errorf("%s: %d appointments from %s to %s, want %d", zone, got, from, to, n)
			}
			for _, day := range []ask.Date{from, to} {
				got := view(t, p, func(ctx context.Context, client *ent.Client) (int, error) {
					return client.Appointment.Query().Where(func(s *entsql.Selector) {
						s.Where(entsql.ExprP(ask.DayOf(s, p.Zone, s.C(appointment.FieldStartTime), 5) + " = '" + day.AddDays(5).String() + "'"))
					}).Count(ctx)
				})
				n := 0
				for _, d := range times {
					if d == day {
						n++
					}
				}
				if got != n || n == 0 {
					t.Errorf("%s: %d appointments on %s, want %d", zone, got, day, n)
				}
			}
		}
	})
}

// noShow is a row of the question that the tests below ask.
type noShow struct {
	Source string
	Month  ask.Date
	Rate   ask.Ratio
}

func noShowsOf(ctx context.Context, client *ent.Client) ([]noShow, error) {
	return ask.Group[noShow](ctx, client.Appointment.Query().Where(appointment.PatientIDNotNil()),
		ask.By(appointment.FieldPatientID, patient.FieldAcquisitionSourceID, acquisitionsource.FieldName),
		ask.Month(appointment.FieldStartTime),
		ask.Share(appointment.StateEQ(schema.DidNotAttend), appointment.HasPatientWith(patient.Active(true))))
}

// TestGroupMatchesRows compares the no-show rate with the rows that Ent returns. The practices'
// rows differ, and so do those of a caller limited to a site.
func TestGroupMatchesRows(t *testing.T) {
	each(t, func(t *testing.T, e *harness.Env, open func(slug string) *ask.Practice) {
		check := func(ctx context.Context, client *ent.Client) (found []noShow, err error) {
			type group struct {
				source string
				month  ask.Date
			}
			rates, zone := map[group]ask.Ratio{}, principal.Must(ctx).Zone
			for _, a := range client.Appointment.Query().Where(appointment.PatientIDNotNil()).AllX(ctx) {
				p := client.Patient.Query().Where(patient.ID(*a.PatientID)).WithAcquisitionSource().OnlyX(principal.AtEverySite(ctx))
				g := group{month: ask.DateOf(a.StartTime.In(zone))}
				g.month.Day = 1
				if s := p.Edges.AcquisitionSource; s != nil {
					g.source = s.Name
				}
				one := ask.Ratio{Whole: 1}
				if a.State == schema.DidNotAttend && p.Active {
					one.Part = 1
				}
				rates[g] = rates[g].Add(one)
			}
			if found, err = noShowsOf(ctx, client); err != nil {
				return nil, err
			}
			for i, n := range found {
				if want := rates[group{n.Source, n.Month}]; n.Rate != want {
					t.Errorf("%s in %s: %v, want %v", n.Source, n.Month, n.Rate, want)
				}
				if i > 0 && found[i-1].Source == n.Source && !found[i-1].Month.Before(n.Month) || i > 0 && found[i-1].Source == "" && n.Source != "" {
					t.Errorf("%v comes after %v", n, found[i-1])
				}
			}
			if len(found) != len(rates) || len(found) < 10 {
				t.Errorf("%d rows, want %d", len(found), len(rates))
			}
			return found, nil
		}
		mine, theirs := view(t, open("demo"), check), view(t, open("second"), check)
		if slices.Equal(mine, theirs) {
			t.Error("both practices have the same rows")
		}
		ctx := e.As(t, "demo")
		limited := *principal.Must(ctx)
		limited.SiteID = &e.DB.Ent.Site.Query().Order(site.ByName()).FirstX(ctx).ID
		err := e.DB.View(ctx, func(client *ent.Client) error { // as in a report
			whole, err := check(ctx, client)
			if !slices.Equal(whole, mine) {
				t.Error("a report has other rows")
			}
			part, limit := check(principal.With(ctx, &limited), client)
			if slices.Equal(part, whole) {
				t.Error("a caller of one site sees all rows")
			}
			return cmp.Or(err, limit)
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// TestJoinsStayConfined: neither predicates that try to widen a query nor a row that refers to
// another practice's row, which the foreign keys prevent, show anything of the other practice.
func TestJoinsStayConfined(t *testing.T) {
	each(t, func(t *testing.T, e *harness.Env, open func(slug string) *ask.Practice) {
		mine, theirs := e.As(t, "demo"), e.As(t, "second")
		foreign := e.DB.Ent.Patient.Query().Order(patient.ByID()).FirstX(theirs)
		own := e.DB.Ent.Appointment.Query().Where(appointment.PatientIDNotNil()).Order(appointment.ByID()).FirstX(mine)
		refer(t, e.DB, fmt.Sprintf("UPDATE appointments SET patient_id = %d WHERE id = %d", foreign.ID, own.ID))

		type named struct {
			ID   int64
			Name string
			Site string
			Born ask.Date
		}
		names := func(ctx context.Context, client *ent.Client) ([]named, error) {
			return ask.Group[named](ctx, client.Appointment.Query().Where(appointment.ID(own.ID)),
				ask.By(appointment.FieldID), ask.By(appointment.FieldPatientID, patient.FieldLastName),
				ask.By(appointment.FieldPatientID, patient.FieldSiteID, site.FieldName),
				ask.Month(appointment.FieldPatientID, patient.FieldDateOfBirth))
		}
		check := func(ctx context.Context, client *ent.Client) (int, error) {
			found, err := names(ctx, client)
			if want := []named{{ID: own.ID}}; !slices.Equal(found, want) {
				t.Errorf("%v, want %v", found, want)
			}
			if err != nil {
				return 0, err
			}
			all := client.Appointment.Query().CountX(ctx)
			for about, widen := range map[string]func(*entsql.Selector){
				"or":       func(s *entsql.Selector) { s.Or().Where(entsql.ExprP("1=1")) },
				"text":     func(s *entsql.Selector) { s.Where(entsql.ExprP("1=0 OR 1=1")) },
				"replaced": func(s *entsql.Selector) { s.SetP(entsql.ExprP("1=1 OR 1=1")) },
				"removed":  func(s *entsql.Selector) { s.SetP(nil) },
			} {
				type counted struct{ All, Some int }
				rows, err := ask.Group[counted](ctx, client.Appointment.Query().Where(widen), ask.Count(), ask.Count(widen))
				if err != nil || len(rows) != 1 || rows[0].All > all || rows[0].Some > all {
					t.Errorf("%s: %v, of %d appointments: %v", about, rows, all, err)
				}
			}
			return all, nil
		}
		view(t, open("demo"), check)
		if err := e.DB.View(mine, func(client *ent.Client) error { _, err := check(mine, client); return err }); err != nil {
			t.Fatal(err)
		}
		if found := view(t, open("second"), names); len(found) > 0 {
			t.Errorf("the second practice sees %v", found)
		}
	})
}

// refer runs a statement without the checks of foreign keys.
func refer(t *testing.T, db *store.DB, statement string) {
	t.Helper()
	conn, err := db.SQL.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	off, on := "PRAGMA foreign_keys = OFF", "PRAGMA foreign_keys = ON"
	if db.Dialect == dialect.Postgres {
		off, on = "SET session_replication_role = replica", "RESET session_replication_role"
	}
	for _, s := range []string{off, statement, on} {
		var result sql.Result
		if result, err = conn.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
		if n, _ := result.RowsAffected(); s == statement && n != 1 {
			t.Fatalf("%s changes %d rows", s, n)
		}
	}
}

// TestGroupRefuses: mistakes name the column, and no statement runs with them.
func TestGroupRefuses(t *testing.T) {
	type one struct{ A string }
	each(t, func(t *testing.T, _ *harness.Env, open func(slug string) *ask.Practice) {
		p := open("demo")
		view(t, p, func(ctx context.Context, client *ent.Client) (int, error) {
			for want, column := range map[string]ask.Column{
				"appointments has no column date":              ask.By("date"),
				"patients has no column start_time":            ask.By(appointment.FieldPatientID, appointment.FieldStartTime),
				"appointments.reason refers to no other table": ask.By(appointment.FieldReason, patient.FieldTitle),
				"name a column of appointments":                ask.By(),
				"patients.nhs_number is sealed":                ask.By(appointment.FieldPatientID, patient.FieldNhsNumber),
				"reason is neither a time nor a date":          ask.Week(appointment.FieldReason),
				"reason is not a number":                       ask.Sum(appointment.FieldReason),
				"appointments has no column amount":            ask.Rate(ask.Count(), ask.Sum(invoice.FieldAmount)),
				"Rate takes columns of Count or Sum":           ask.Rate(ask.By(appointment.FieldState), ask.Count()),
			} {
				if rows, err := ask.Group[one](ctx, client.Appointment.Query(), column); err == nil || !strings.Contains(err.Error(), want) || rows != nil {
					t.Errorf("%v, %v: want %q", rows, err, want)
				}
			}
			for _, err := range []error{
				second(ask.Group[one](ctx, client.Appointment.Query())),
				second(ask.Group[one](ctx, client.Appointment.Query(), ask.By(appointment.FieldReason), ask.Count())),
				second(ask.Group[int](ctx, client.Appointment.Query(), ask.Count())),
				second(ask.Group[struct{ a int }](ctx, client.Appointment.Query(), ask.Count())),
				second(ask.Group[struct {
					A int `json:"b"`
				}](ctx, client.Appointment.Query(), ask.Count())),
				second(ask.Group[struct{ A ask.Ratio }](ctx, client.Appointment.Query(), ask.Count())),
			} {
				if err == nil {
					t.Error("a row that does not fit its columns is accepted")
				}
			}
			if _, err := ask.Group[one](t.Context(), client.Appointment.Query(), ask.By(appointment.FieldReason)); err == nil {
				t.Error("a context without a practice is accepted")
			}
			if _, err := client.Appointment.Query().Where(ask.During(p.Zone, appointment.FieldReason, ask.Date{}, ask.Date{})).Count(ctx); err == nil {
				t.Error("a period of texts is accepted")
			}
			return 0, nil
		})
	})
}

func second[T any](_ T, err error) error { return err }

// TestQueriesCanBeUsedAgain: Group leaves its query as it was. Groups come in order, empty ones
// last, and a query without rows has none.
func TestQueriesCanBeUsedAgain(t *testing.T) {
	each(t, func(t *testing.T, _ *harness.Env, open func(slug string) *ask.Practice) {
		type state struct {
			State schema.AppointmentState
			Room  *string
			Count int
		}
		view(t, open("demo"), func(ctx context.Context, client *ent.Client) (int, error) {
			q := client.Appointment.Query().Where(appointment.HasPractitionerWith(practitioner.Active(true)))
			all := q.Clone().CountX(ctx)
			for range 2 {
				rows, err := ask.Group[state](ctx, q, ask.By(appointment.FieldState), ask.By(appointment.FieldRoomID, "name"), ask.Count())
				if err != nil {
					return 0, err
				}
				n := 0
				for _, r := range rows {
					n += r.Count
				}
				if n != all || !slices.IsSortedFunc(rows, func(a, b state) int {
					return cmp.Compare(strings.ToLower(string(a.State)), strings.ToLower(string(b.State)))
				}) {
					t.Errorf("%v, want %d in all", rows, all)
				}
			}
			if n := q.CountX(ctx); n != all {
				t.Errorf("%d rows after grouping, want %d", n, all)
			}
			type total struct {
				Count int
				Sum   ask.Decimal
				Ratio ask.Ratio
			}
			none := client.Payment.Query().Where(payment.ID(-1))
			totals, err := ask.Group[total](ctx, none, ask.Count(), ask.Sum(payment.FieldAmount), ask.Share(payment.Deleted(true)))
			if err != nil || !slices.Equal(totals, []total{{}}) {
				t.Errorf("of no rows: %v, %v", totals, err)
			}
			days, err := ask.Group[struct{ Day ask.Date }](ctx, none, ask.Day(payment.FieldDatedOn))
			if err != nil || len(days) > 0 {
				t.Errorf("days of no rows: %v, %v", days, err)
			}
			return 0, nil
		})
	})
}

func TestRatio(t *testing.T) {
	t.Parallel()
	for r, want := range map[ask.Ratio]string{
		{}: "–", {Part: 5}: "–", {Part: 0, Whole: 3}: "0.00%", {Part: 1, Whole: 3}: "33.33%", {Part: 2, Whole: 3}: "66.67%", {Part: -2, Whole: 3}: "-66.67%",
		{Part: 2, Whole: -3}: "-66.67%", {Part: 1, Whole: 20000}: "0.01%", {Part: 1, Whole: 20001}: "0.00%", {Part: 3, Whole: 2}: "150.00%",
	} {
		if got := r.String(); got != want {
			t.Errorf("%d/%d prints %s, want %s", r.Part, r.Whole, got, want)
		}
	}
	var r ask.Ratio
	if err := r.Scan([]byte("-3/40")); err != nil || r.Add(ask.Ratio{Part: 1, Whole: 2}) != (ask.Ratio{Part: -2, Whole: 42}) {
		t.Errorf("%+v, %v", r, err)
	}
	for _, src := range []any{nil, "", "3", "3/", "/4", "a/b", "1/2/3", int64(3), "99999999999999999999/1"} {
		if err := r.Scan(src); err == nil {
			t.Errorf("%v is scanned as %+v", src, r)
		}
	}
}
