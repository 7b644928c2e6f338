package report_test

import (
	"strings"
	"testing"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"

	"chairside/ent"
	"chairside/internal/report"
)

// TestReportsReadIndexes checks that reports use the indexes made for them, without reading the
// table where the index covers the query. It checks only SQLite's plans: PostgreSQL scans small
// tables in full.
func TestReportsReadIndexes(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		if p.Dialect != dialect.SQLite {
			return
		}
		for _, c := range []struct {
			report     string
			of         string // the statements that contain this
			statements int
			read       []string
			alone      bool // no other index leads to a table
		}{
			{"income", "`invoice_items`", 2, []string{"COVERING INDEX invoiceitem_invoice"}, true},
			{"income", "`payment_explanations`", 1, []string{"COVERING INDEX paymentexplanation_payment"}, true},
			{"pay-basis", "`invoice_items`", 2, []string{"COVERING INDEX invoiceitem_invoice"}, true},
			{"pay-basis", "`payment_explanations`", 1, []string{"COVERING INDEX paymentexplanation_payment"}, true},
			{"aged-debt", "`invoices`.`amount_outstanding` = ?", 1, []string{"INDEX payment_deleted", "INDEX payment_days"}, false},
			{"treatments", "`treatment_plan_items`", 1, []string{"COVERING INDEX treatmentplanitem_completed"}, true},
			{"hygiene-recalls", "FROM `patients`", 1, []string{"COVERING INDEX patient_active"}, false},
		} {
			r, err := report.Find(c.report)
			if err != nil {
				t.Fatal(err)
			}
			spy := &spy{Driver: entsql.OpenDB(p.Dialect, p.SQL)}
			if _, err := r.Run(p.ctx, ent.NewClient(ent.Driver(spy)), period("2025-07-02", "2026-07-01")); err != nil {
				t.Fatal(err)
			}
			statements := 0
			for _, q := range spy.queries {
				if !strings.Contains(q.text, c.of) {
					continue
				}
				statements++
				plan := explain(t, p, q)
				for _, index := range c.read {
					if !strings.Contains(plan, index) {
						t.Errorf("%s does not read the %s:\n%s", c.report, index, plan)
					}
				}
				if c.alone && strings.Contains(plan, "USING INDEX") {
					t.Errorf("%s reads rows that an index should have:\n%s", c.report, plan)
				}
			}
			if statements != c.statements {
				t.Errorf("%s has %d statements with %s, want %d", c.report, statements, c.of, c.statements)
			}
		}
	})
}

// explain returns SQLite's plan of a query, a line for each step.
func explain(t *testing.T, p practice, q query) (plan string) {
	t.Helper()
	rows, err := p.SQL.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+q.text, q.args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id, parent, unused int
		var step string
		if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
			t.Fatal(err)
		}
		plan += step + "\n"
	}
	return plan
}
