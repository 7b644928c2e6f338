package report_test

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"

	"entgo.io/ent/dialect"

	"chairside/internal/civil"
	"chairside/internal/decimal"
	"chairside/internal/principal"
	"chairside/internal/report"
	"chairside/internal/store/analyst"
)

// analystRows runs a query of the views for analysts (package analyst), with values separated by "|".
func (p practice) analystRows(t testing.TB, query string) []string {
	t.Helper()
	pool, practice := p.SQL, principal.Must(p.ctx)
	if p.Dialect == dialect.Postgres {
		if _, err := pool.ExecContext(t.Context(), "INSERT INTO analysts (practice_id, role, created_at) VALUES ($1, session_user, now()) ON CONFLICT DO NOTHING", practice.PracticeID); err != nil {
			t.Fatal(err)
		}
	} else { // as "chairside sql" opens the file
		var err error
		if pool, err = sql.Open("sqlite", "file:"+p.File+"?mode=ro"); err != nil {
			t.Fatal(err)
		}
		defer pool.Close()
		pool.SetMaxOpenConns(1) // the views belong to the connection
		if _, err := pool.ExecContext(t.Context(), analyst.Script(practice.PracticeID, practice.Zone)); err != nil {
			t.Fatal(err)
		}
		query = strings.ReplaceAll(query, "report.", "report_")
	}
	rows, err := pool.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for rows.Next() {
		cells, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range cells {
			into[i] = &cells[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		line := make([]string, len(cells))
		for i, c := range cells {
			if text, ok := c.([]byte); ok {
				c = string(text)
			}
			line[i] = fmt.Sprint(c)
		}
		all = append(all, strings.Join(line, "|"))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return all
}

// pence is an SQL sum of money of the views, in pence: the databases print decimals in different ways.
func pence(sum string) string { return "CAST(round(100 * coalesce(sum(" + sum + "), 0)) AS bigint)" }

// TestViewsAgreeWithReports compares the income and contract reports, to the penny and the hundredth of
// a unit, and the missed appointments of each local day, with plain queries of the views.
func TestViewsAgreeWithReports(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		f := report.Filter{From: civil.MustParse("2025-07-01"), To: today}
		between := fmt.Sprintf("dated_on BETWEEN '%s' AND '%s'", f.From, f.To)
		month := func(column string) string { return "substr(CAST(" + column + " AS text), 1, 7)" }
		income, err := report.Income(p.ctx, p.Ent, f)
		if err != nil {
			t.Fatal(err)
		}
		type sums struct{ invoiced, paid, outstanding decimal.Decimal }
		months := map[string]*sums{}
		for _, row := range income {
			m := months[row.Month.String()[:7]]
			if m == nil {
				m = &sums{}
				months[row.Month.String()[:7]] = m
			}
			m.invoiced, m.paid, m.outstanding = m.invoiced+row.Invoiced, m.paid+row.Paid, m.outstanding+row.Outstanding
		}
		var invoiced, paid []string
		for m, s := range months {
			invoiced = append(invoiced, fmt.Sprintf("%s|%d|%d", m, s.invoiced, s.outstanding))
			paid = append(paid, fmt.Sprintf("%s|%d", m, s.paid))
		}
		if len(invoiced) < 12 {
			t.Fatalf("only %d months", len(invoiced))
		}
		sameRows(t, "invoiced", invoiced, p.analystRows(t, "SELECT "+month("dated_on")+", "+pence("amount")+", "+pence("amount_outstanding")+
			" FROM report.invoices WHERE status <> 'void' AND "+between+" GROUP BY 1"))
		sameRows(t, "paid", paid, p.analystRows(t, "SELECT "+month("dated_on")+", "+pence("amount")+" FROM report.payments WHERE NOT deleted AND "+between+" GROUP BY 1"))

		performance, err := report.ContractPerformance(p.ctx, p.Ent, f)
		if err != nil {
			t.Fatal(err)
		}
		var claims []string
		for _, row := range performance.Practitioners {
			if row.Expected != 0 || row.Awarded != 0 {
				claims = append(claims, fmt.Sprintf("%s|%d|%d|%d", row.Contract.ContractNumber, row.PractitionerID, row.Expected, row.Awarded))
			}
		}
		if len(claims) == 0 {
			t.Fatal("no claims")
		}
		sameRows(t, "claims", claims, p.analystRows(t, fmt.Sprintf(`SELECT k.contract_number, c.practitioner_id, %s, %s
			FROM report.nhs_claims AS c JOIN report.contracts AS k ON k.id = c.contract_id LEFT JOIN report.treatment_plans AS t ON t.id = c.treatment_plan_id
			WHERE c.claim_status NOT IN ('withdrawn', 'invalid')
			AND CASE WHEN c.ortho THEN coalesce(t.start_date, c.submitted_date, c.created_date) ELSE coalesce(t.completed_date, t.end_date, c.submitted_date, c.created_date) END BETWEEN '%s' AND '%s'
			GROUP BY k.contract_number, c.practitioner_id, c.ortho`, pence("c.expected_uda"), pence("c.awarded_uda"), performance.Start, performance.At)))

		missed := map[string]int{}
		for _, a := range p.Ent.Appointment.Query().AllX(p.ctx) {
			if a.DidNotAttendAt != nil {
				missed[civil.Of(a.StartTime.In(p.zone)).String()]++
			}
		}
		var days []string
		for day, n := range missed {
			days = append(days, fmt.Sprintf("%s|%d", day, n))
		}
		sameRows(t, "missed", days, p.analystRows(t, "SELECT substr(CAST(start_date AS text), 1, 10), count(*) FROM report.appointments WHERE did_not_attend_at IS NOT NULL GROUP BY 1"))
	})
}
