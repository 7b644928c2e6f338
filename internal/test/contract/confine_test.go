package contract

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"entgo.io/ent/dialect/sql"

	"chairside/ent"
	"chairside/ent/account"
	"chairside/ent/patient"
	"chairside/ent/predicate"
	"chairside/internal/entx/rowscan"
	"chairside/internal/principal"
	"chairside/internal/test/harness"
	question "chairside/schema/ask"
)

// escapes are predicates that try to widen a query beyond its confinement.
var escapes = map[string][]predicate.Patient{
	"or":              {func(s *sql.Selector) { s.Or().Where(sql.ExprP("1=1")) }},
	"or behind":       {patient.Active(true), func(s *sql.Selector) { s.Or().Where(sql.ExprP("1=1")) }},
	"or left behind":  {func(s *sql.Selector) { s.Where(sql.ExprP("1=1")).Or() }},
	"not left behind": {func(s *sql.Selector) { s.Where(sql.ExprP("1=1")).Not() }},
	"text with or":    {func(s *sql.Selector) { s.Where(sql.ExprP("1=0 OR 1=1")) }},
	"replaced":        {patient.Active(true), func(s *sql.Selector) { s.SetP(sql.ExprP("1=1 OR 1=1")) }},
	"removed":         {patient.Active(true), func(s *sql.Selector) { s.SetP(nil) }},
	"collected":       {func(s *sql.Selector) { s.CollectPredicates().Where(sql.ExprP("1=1")) }},
	"an or of ents":   {patient.Or(patient.Active(true), patient.Active(false), func(s *sql.Selector) { s.Or().Where(sql.ExprP("1=1")) })},
	"not of ents":     {patient.Not(func(s *sql.Selector) { s.Where(sql.ExprP("1=0 OR 1=0")) })},
	"five":            {patient.IDGT(0), patient.IDGT(0), patient.IDGT(0), patient.IDGT(0), func(s *sql.Selector) { s.Or().Where(sql.ExprP("1=1 OR 1=1")) }},
	"edge":            {patient.Or(patient.HasAccountWith(func(s *sql.Selector) { s.Or().Where(sql.ExprP("1=1 OR 1=1")) }), patient.IDGT(0))},
}

// modifiers are Modify functions that try the same, after the predicates.
var modifiers = map[string]func(*sql.Selector){
	"set":       func(s *sql.Selector) { s.SetP(nil) },
	"set text":  func(s *sql.Selector) { s.SetP(sql.ExprP("1=1 OR 1=1")) },
	"or":        func(s *sql.Selector) { s.Or().Where(sql.ExprP("1=1")) },
	"where":     func(s *sql.Selector) { s.Where(sql.ExprP("1=0 OR 1=1")) },
	"collect":   func(s *sql.Selector) { s.SetP(nil).CollectPredicates() },
	"or behind": func(s *sql.Selector) { s.Or() },
}

// callers are the whole practice and one site of it.
func callers(t *testing.T, e *harness.Env) map[string]context.Context {
	t.Helper()
	ctx := e.As(t, "demo")
	c := *principal.Must(ctx)
	site, err := e.DB.Ent.Site.Query().FirstID(ctx)
	if err != nil {
		t.Fatal(err)
	}
	c.SiteID = &site
	return map[string]context.Context{"practice": ctx, "site": principal.With(ctx, &c)}
}

// TestQueriesStayConfined: no predicate, modifier, order or aggregate leaves the
// caller's practice and site.
func TestQueriesStayConfined(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		for who, ctx := range callers(t, e) {
			seen, err := e.DB.Ent.Patient.Query().IDs(ctx)
			if err != nil || len(seen) == 0 {
				t.Fatal(len(seen), err)
			}
			checkConfined(t, ctx, who, e.DB.Ent, seen)
		}
	})
}

// checkConfined runs queries that try to escape, and checks that they return no other
// patients than seen.
func checkConfined(t *testing.T, ctx context.Context, who string, client *ent.Client, seen []int64) {
	t.Helper()
	slices.Sort(seen)
	check := func(about string, got []int64, err error) {
		t.Helper()
		if err != nil {
			t.Errorf("%s, %s: %v", who, about, err)
		}
		for _, id := range got {
			if _, ok := slices.BinarySearch(seen, id); !ok {
				t.Errorf("%s, %s: patient %d is seen, with %d others", who, about, id, len(got)-1)
				return
			}
		}
	}
	several := func(about string, query func() *ent.PatientQuery) {
		t.Helper()
		ids, err := query().IDs(ctx)
		check(about+": ids", ids, err)
		rows, err := query().WithAccount().All(ctx)
		ids = nil
		for _, p := range rows {
			ids = append(ids, p.ID)
		}
		check(about+": rows", ids, err)
		if n, err := query().Count(ctx); n > len(seen) || err != nil {
			t.Errorf("%s, %s: %d are counted, %v", who, about, n, err)
		}
		var counts []struct{ Count int }
		err = query().Aggregate(func(s *sql.Selector) string { s.SetP(nil); return "COUNT(*) AS count" }).Scan(ctx, &counts)
		if err != nil || counts[0].Count > len(seen) {
			t.Errorf("%s, %s: %v in sum, %v", who, about, counts, err)
		}
		err = query().GroupBy(patient.FieldPracticeID).Aggregate(ent.Count(), func(s *sql.Selector) string {
			s.Or().Where(sql.ExprP("1=1")).Having(sql.ExprP("1=0 OR 1=1"))
			return "1 AS one"
		}).Scan(ctx, new([]struct {
			PracticeID string `sql:"practice_id"`
			Count      int
			One        int
		}))
		if err != nil {
			t.Errorf("%s, %s: %v", who, about, err)
		}
		ids, err = query().QueryAccount().QueryPatient().IDs(ctx)
		check(about+": path", ids, err)
		found, err := query().Rows(ctx, `"patients"."id"`)
		if err != nil {
			t.Errorf("%s, %s: %v", who, about, err)
			return
		}
		ids = nil
		err = rowscan.ForEach(found, 1, func(r *rowscan.Scanner) { ids = append(ids, r.Int64(0)) })
		check(about+": columns", ids, err)
	}
	for name, where := range escapes {
		several(name, func() *ent.PatientQuery { return client.Patient.Query().Where(where...) })
		ids, err := client.Account.Query().Where(account.HasPatientWith(where...)).QueryPatient().IDs(ctx)
		check("behind accounts, "+name, ids, err)
	}
	for name, modify := range modifiers {
		several("modified, "+name, func() *ent.PatientQuery {
			q := client.Patient.Query().Where(patient.Active(true))
			q.Modify(modify)
			return q
		})
	}
	several("order", func() *ent.PatientQuery {
		return client.Patient.Query().Order(func(s *sql.Selector) { s.Or().Where(sql.ExprP("1=1")) })
	})
}

// TestWritesStayConfined: updates and deletes do not reach rows of another practice or
// site.
func TestWritesStayConfined(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		for who, ctx := range callers(t, e) {
			mine, err := e.DB.Ent.Patient.Query().IDs(ctx)
			if err != nil {
				t.Fatal(err)
			}
			foreign, err := e.DB.Ent.Patient.Query().Where(patient.IDNotIn(mine...)).IDs(principal.AsSystem(t.Context()))
			if err != nil || len(foreign) == 0 {
				t.Fatal(len(foreign), err)
			}
			refused := func(about string, write func(tx *ent.Client) error) {
				t.Helper()
				if err := e.DB.Tx(ctx, write); !ent.IsNotFound(err) {
					t.Errorf("%s, %s: %v", who, about, err)
				}
			}
			theirs := foreign[len(foreign)-1]
			for name, where := range escapes {
				refused("update, "+name, func(tx *ent.Client) error {
					return tx.Patient.UpdateOneID(theirs).Where(where...).SetPreferredName("written").Exec(ctx)
				})
				refused("change, "+name, func(tx *ent.Client) error {
					rows, err := tx.Patient.UpdateOneID(theirs).Where(where...).SetPreferredName("written").Rows(ctx, `"patients"."id"`)
					if err != nil {
						return err
					}
					n := 0
					if err := rowscan.ForEach(rows, 1, func(*rowscan.Scanner) { n++ }); err != nil || n > 0 {
						return fmt.Errorf("%d rows are written: %w", n, err)
					}
					return &ent.NotFoundError{}
				})
				// A condition that drops the id matches the caller's own rows, which other
				// rows reference.
				err := e.DB.Tx(ctx, func(tx *ent.Client) error { return tx.Patient.DeleteOneID(theirs).Where(where...).Exec(ctx) })
				if err == nil {
					t.Errorf("%s, delete, %s: rows are deleted", who, name)
				}
				_ = e.DB.Tx(ctx, func(tx *ent.Client) error { // refused, or confined
					_, err := tx.Patient.Update().Where(where...).SetPreferredName("written").Save(ctx)
					return err
				})
			}
			err = e.DB.Tx(ctx, func(tx *ent.Client) error {
				return tx.Patient.UpdateOneID(mine[0]).Modify(func(u *sql.UpdateBuilder) { u.Where(sql.ExprP("1=1 OR 1=1")) }).SetPreferredName("written").Exec(ctx)
			})
			if err == nil {
				t.Errorf("%s: a modified update is written", who)
			}
			err = e.DB.Tx(ctx, func(tx *ent.Client) error {
				id, err := tx.Account.Query().FirstID(ctx)
				if err != nil {
					t.Error(err)
				}
				return tx.Account.UpdateOneID(id).AddInvoiceIDs(1).Exec(ctx)
			})
			if err == nil {
				t.Errorf("%s: a row of another table is written through an edge", who)
			}
			n, err := e.DB.Ent.Patient.Query().Where(patient.IDIn(foreign...), patient.PreferredName("written")).Count(principal.AsSystem(t.Context()))
			if n != 0 || err != nil {
				t.Errorf("%s: %d foreign patients are written, %v", who, n, err)
			}
		}
	})
}

// escapingSQL is SQL text that would leave the practice or write, and the error for it.
var escapingSQL = map[string]error{
	"(SELECT COUNT(*) FROM main.patients) > 0":             question.ErrSchemaNamed,
	"(SELECT COUNT(*) FROM public.patients) > 0":           question.ErrSchemaNamed,
	`(SELECT COUNT(*) FROM "public" . "patients") > 0`:     question.ErrSchemaNamed,
	"(SELECT COUNT(*) FROM [main].patients) > 0":           question.ErrSchemaNamed,
	"(SELECT COUNT(*) FROM `main`.`patients`) > 0":         question.ErrSchemaNamed,
	"(SELECT COUNT(*) FROM main/**/.patients) > 0":         question.ErrSchemaNamed,
	"(SELECT COUNT(*) FROM public--\n.patients) > 0":       question.ErrSchemaNamed,
	"'it''s' <> (SELECT MAX(title) FROM public.patients)":  question.ErrSchemaNamed,
	`E'\'' <> (SELECT MAX(title) FROM public.patients)`:    question.ErrSchemaNamed,
	`(SELECT COUNT(*) FROM U&"p\0075blic".patients) > 0`:   question.ErrUnreadable,
	"$$'$$ <> (SELECT MAX(title) FROM public.patients)":    question.ErrUnreadable,
	`(SELECT COUNT(*) AS "it's" FROM public.patients) > 0`: question.ErrSchemaNamed,
	"1 = 1; DELETE FROM patients":                          question.ErrSeveralStatements,
	"1 = 1); COMMIT; DELETE FROM patients; SELECT (1":      question.ErrSeveralStatements,
	"1 = 1; PRAGMA query_only = OFF":                       question.ErrSeveralStatements,
}

// TestQuestionsStayInThePractice: SQL text in a question reads only one practice's rows,
// and writes nothing.
func TestQuestionsStayInThePractice(t *testing.T) {
	for name, url := range map[string]func(testing.TB) string{"sqlite": harness.SQLite, "postgres": harness.Postgres} {
		t.Run(name, func(t *testing.T) {
			address := url(t)
			e := harness.Start(t, address)
			ids, err := e.DB.Ent.Patient.Query().IDs(e.As(t, "second"))
			if err != nil {
				t.Fatal(err)
			}
			p, err := question.Open(t.Context(), address, "second")
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			view := func(work func(ctx context.Context, client *ent.Client) error) {
				t.Helper()
				if err := p.View(t.Context(), work); err != nil {
					t.Error(err)
				}
			}
			view(func(ctx context.Context, client *ent.Client) error {
				checkConfined(t, ctx, "question", client, ids)
				for about, modify := range map[string]func(*sql.Selector){
					"union": func(s *sql.Selector) {
						s.Select(s.C("id")).UnionAll(sql.Dialect(s.Dialect()).Select("id").From(sql.Table("patients")))
					},
					"sub-query": func(s *sql.Selector) { s.SelectExpr(sql.Raw("(SELECT MAX(id) FROM patients)")) },
					"join": func(s *sql.Selector) {
						s.SelectExpr(sql.Raw("(SELECT MAX(o.id) FROM patients AS p CROSS JOIN patients AS o)"))
					},
					"with": func(s *sql.Selector) {
						s.Prefix(sql.With("x").As(sql.Dialect(s.Dialect()).Select("id").From(sql.Table("patients"))))
						s.SelectExpr(sql.Raw("(SELECT MAX(id) FROM x)"))
					},
				} {
					var got []int64
					err := client.Patient.Query().Modify(modify).Scan(ctx, &got)
					for _, id := range got {
						if !slices.Contains(ids, id) {
							t.Errorf("%s: patient %d is seen", about, id)
						}
					}
					if err != nil || len(got) == 0 {
						t.Errorf("%s: %d rows, %v", about, len(got), err)
					}
				}
				for text, want := range escapingSQL {
					_, err := client.Patient.Query().Where(func(s *sql.Selector) { s.Where(sql.ExprP(text)) }).Count(ctx)
					if !errors.Is(err, want) {
						t.Errorf("%s: %v", text, err)
					}
				}
				for _, text := range []string{`'a;b' <> 'public.patients'`, `"patients"."id" > 0 -- ; main.patients`, `'it''s; main.patients' <> ''`} {
					if n, err := client.Patient.Query().Where(func(s *sql.Selector) { s.Where(sql.ExprP(text + "\n")) }).Count(ctx); n != len(ids) || err != nil {
						t.Errorf("%s: %d, %v", text, n, err)
					}
				}
				if n, err := client.Practice.Query().Count(ctx); n != 1 || err != nil {
					t.Errorf("%d practices, %v", n, err)
				}
				for about, write := range map[string]func() error{
					"update": func() error { return client.Patient.Update().SetActive(false).Exec(ctx) },
					"delete": func() error { _, err := client.Patient.Delete().Exec(ctx); return err },
					"create": func() error { return client.Patient.Create().SetFirstName("A").Exec(ctx) },
					"begin":  func() error { _, err := client.Tx(ctx); return err },
				} {
					if err := write(); !errors.Is(err, question.ErrReadOnly) {
						t.Errorf("%s: %v", about, err)
					}
				}
				return nil
			})
		})
	}
}
