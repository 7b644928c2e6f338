package report_test

import (
	"database/sql"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"entgo.io/ent/dialect"

	"chairside/internal/civil"
	"chairside/internal/decimal"
	"chairside/internal/report"
)

// rows runs a query that does not use the report's code. It returns the rows as sorted
// lines, with values separated by "|" and amounts in hundredths.
func (p practice) rows(t testing.TB, query string) []string {
	t.Helper()
	found, err := p.SQL.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatalf("%v in %s", err, query)
	}
	defer found.Close()
	names, err := found.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for found.Next() {
		cells, into := make([]sql.NullString, len(names)), make([]any, len(names))
		for i := range cells {
			into[i] = &cells[i]
		}
		if err := found.Scan(into...); err != nil {
			t.Fatal(err)
		}
		line := make([]string, len(cells))
		for i, c := range cells {
			line[i] = c.String
		}
		all = append(all, strings.Join(line, "|"))
	}
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return all
}

// day is SQL for a date column as text.
func day(column string) string { return "SUBSTR(CAST(" + column + " AS text), 1, 10)" }

// daysFrom is SQL for the number of days from a date column to a day.
func (p practice) daysFrom(column string, to civil.Date) string {
	if p.Dialect == dialect.Postgres {
		return fmt.Sprintf("(DATE '%s' - %s)", to, column)
	}
	return fmt.Sprintf("CAST(julianday('%s') - julianday(%s) AS integer)", to, column)
}

// sameRows fails the test unless two lists are equal.
func sameRows(t testing.TB, what string, got, want []string) {
	t.Helper()
	slices.Sort(got)
	if slices.Equal(got, want) {
		return
	}
	for _, line := range want {
		if !slices.Contains(got, line) {
			t.Errorf("%s: missing row    %s", what, line)
		}
	}
	for _, line := range got {
		if !slices.Contains(want, line) {
			t.Errorf("%s: unexpected row %s", what, line)
		}
	}
}

// cells returns some columns of a section, formatted as by rows.
func cells(t testing.TB, a *report.Answer, section string, columns ...string) (all []string) {
	t.Helper()
	for _, s := range a.Sections {
		if s.Key != section {
			continue
		}
		for _, row := range s.Rows {
			line := make([]string, len(columns))
			for i, key := range columns {
				at := slices.IndexFunc(s.Columns, func(c report.Column) bool { return c.Key == key })
				if at < 0 {
					t.Fatalf("%s has no column %s", section, key)
				}
				line[i] = cell(s.Columns[at].Kind, row[at])
			}
			all = append(all, strings.Join(line, "|"))
		}
		return all
	}
	t.Fatalf("%s has no section %s", a.Name, section)
	return nil
}

// cell formats a value as rows does.
func cell(k report.Kind, v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case decimal.Decimal:
		return fmt.Sprint(int64(v))
	case civil.Date:
		if k == report.Month {
			return v.String()[:7]
		}
	}
	return fmt.Sprint(v)
}

func TestAgedDebtMatchesSQL(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		for _, at := range []string{"2026-07-01", "2026-06-30", "2026-03-31", "2025-10-26", "2025-01-01", "2023-01-01"} {
			at := civil.MustParse(at)
			a := p.ask(t, "aged-debt", report.Filter{To: at})

			owed := fmt.Sprintf(`SELECT i.patient_id, %s AS age, i.amount - COALESCE((
					SELECT SUM(e.amount) FROM payment_explanations e WHERE e.invoice_id = i.id
					AND EXISTS (SELECT 1 FROM payments p WHERE p.id = e.payment_id AND NOT p.deleted AND p.dated_on <= '%s')), 0) AS owed
				FROM invoices i WHERE i.practice_id = %s AND i.status <> 'void' AND i.dated_on <= '%s'`, p.daysFrom("i.due_on", at), at, ours, at)
			part := func(from, to int) string {
				return fmt.Sprintf("CAST(SUM(CASE WHEN age BETWEEN %d AND %d THEN owed ELSE 0 END) AS bigint)", from, to)
			}
			want := p.rows(t, "SELECT patient_id, "+part(-9999, 30)+", "+part(31, 60)+", "+part(61, 90)+", "+part(91, 9999)+
				", CAST(SUM(owed) AS bigint) FROM ("+owed+") o WHERE owed <> 0 GROUP BY patient_id")
			sameRows(t, at.String(), cells(t, a, "patients", "patient_id", "current", "days_31_60", "days_61_90", "over_90", "total"), want)
			if at == today && len(want) < 20 {
				t.Errorf("only %d patients owe anything: too few to test anything", len(want))
			}

			want = p.rows(t, fmt.Sprintf(`SELECT patient_id, CAST(SUM(rest) AS bigint) FROM (
				SELECT p.patient_id, p.amount - COALESCE((SELECT SUM(e.amount) FROM payment_explanations e, invoices i
					WHERE e.payment_id = p.id AND i.id = e.invoice_id AND i.status <> 'void' AND i.dated_on <= '%[1]s'), 0) AS rest
				FROM payments p WHERE p.practice_id = %[2]s AND NOT p.deleted AND p.dated_on <= '%[1]s') c
				WHERE rest <> 0 GROUP BY patient_id`, at, ours))
			sameRows(t, at.String()+" credit", cells(t, a, "credit", "patient_id", "credit"), want)

			// Invoices less payments is what is owed less credit.
			want = p.rows(t, fmt.Sprintf(`SELECT
				(SELECT CAST(COALESCE(SUM(amount), 0) AS bigint) FROM invoices WHERE practice_id = %[2]s AND status <> 'void' AND dated_on <= '%[1]s') -
				(SELECT CAST(COALESCE(SUM(amount), 0) AS bigint) FROM payments WHERE practice_id = %[2]s AND NOT deleted AND dated_on <= '%[1]s')`, at, ours))
			if net := figure(t, a, "total") - figure(t, a, "credit"); fmt.Sprint(net) != want[0] {
				t.Errorf("%s: owed less credit is %d, invoices less payments are %s", at, net, want[0])
			}
		}
	})
}

// figure returns a number of the summary, in hundredths if it is a decimal.
func figure(t testing.TB, a *report.Answer, key string) int64 {
	t.Helper()
	for _, f := range a.Summary {
		if f.Key != key {
			continue
		}
		switch v := f.Value.(type) {
		case decimal.Decimal:
			return int64(v)
		case int:
			return int64(v)
		}
	}
	t.Fatalf("%s has no figure %s", a.Name, key)
	return 0
}

// claim is a row of nhs_claims as it is stored.
type claim struct {
	id, contract, status string
	practitioner         int64
	date                 civil.Date // of the claims report
	counted              civil.Date // of the contract year
	late                 bool
	ortho                bool
	expected             int64
	awarded              *int64
}

// claims reads all claims of the practice with their dates.
func (p practice) claims(t testing.TB) (all []claim) {
	t.Helper()
	found, err := p.SQL.QueryContext(t.Context(), `SELECT CAST(c.id AS text), CAST(contract_id AS text), claim_status, c.practitioner_id, submitted_date, c.created_at,
		ortho, COALESCE(expected_uda, 0), awarded_uda, t.completed_at, t.start_date, t.end_date
		FROM nhs_claims c LEFT JOIN treatment_plans t ON t.id = c.treatment_plan_id WHERE c.practice_id = `+ours)
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	for found.Next() {
		var c claim
		var submitted, started, ended *civil.Date
		var created, completed sql.NullTime
		if err := found.Scan(&c.id, &c.contract, &c.status, &c.practitioner, &submitted, &created, &c.ortho, &c.expected, &c.awarded, &completed, &started, &ended); err != nil {
			t.Fatal(err)
		}
		if submitted != nil {
			c.date = *submitted
		} else {
			c.date = civil.Of(created.Time.In(p.zone))
		}
		day := civil.Of(completed.Time.In(p.zone))
		switch {
		case c.ortho && started != nil:
			c.counted = *started
		case c.ortho || !completed.Valid && ended == nil:
			c.counted = c.date
		case completed.Valid:
			c.counted = day
		default:
			c.counted = *ended
		}
		if !c.ortho && completed.Valid && c.awarded == nil {
			last := day.AddMonths(2)
			c.late = submitted == nil && last.Before(today) || submitted != nil && last.Before(*submitted)
		}
		all = append(all, c)
	}
	return all
}

func TestClaimsMatchSQL(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		f := report.Filter{From: civil.MustParse("2025-07-02"), To: today}
		a := p.ask(t, "claims", f)
		statuses, awards := map[string][]int64{}, map[string][]int64{}
		attention := 0
		for _, c := range p.claims(t) {
			if c.date.Before(f.From) || f.To.Before(c.date) {
				continue
			}
			s := statuses[c.status]
			if s == nil {
				s = make([]int64, 9)
				statuses[c.status] = s
			}
			s[0]++
			age := int(f.To.Time().Sub(c.date.Time()).Hours()) / 24
			s[1+slices.IndexFunc([]int{30, 60, 90, 99999}, func(most int) bool { return age <= most })]++
			at := 5
			if c.ortho {
				at = 7
			}
			s[at] += c.expected
			if c.awarded != nil {
				s[at+1] += *c.awarded
			}
			if c.status == "error" || c.status == "invalid" || c.status == "queried" {
				attention++
			}
			if c.status == "withdrawn" || c.status == "invalid" {
				continue
			}
			key := c.date.String()[:7] + "|UDA"
			if c.ortho {
				key = c.date.String()[:7] + "|UOA"
			}
			w := awards[key]
			if w == nil {
				w = make([]int64, 5)
				awards[key] = w
			}
			w[0]++
			w[1] += c.expected
			if c.awarded != nil {
				w[2] += *c.awarded
				w[4] += c.expected - *c.awarded
			} else {
				w[3] += c.expected
			}
		}
		sameRows(t, "statuses", cells(t, a, "statuses", "status", "claims", "days_0_30", "days_31_60", "days_61_90", "over_90",
			"expected_uda", "awarded_uda", "expected_uoa", "awarded_uoa"), flat(statuses))
		sameRows(t, "awards", cells(t, a, "awards", "month", "unit", "claims", "expected", "awarded", "awaited", "lost"), flat(awards))
		want := p.rows(t, fmt.Sprintf(`SELECT c.sequence_number, c.claim_status, %s, %s, c.patient_id, COALESCE(c.status_comments, '') FROM nhs_claims c
			WHERE c.practice_id = %s AND c.claim_status IN ('error', 'queried', 'invalid') AND c.submitted_date BETWEEN '%s' AND '%s'`,
			day("c.submitted_date"), p.daysFrom("c.submitted_date", f.To), ours, f.From, f.To))
		sameRows(t, "attention", cells(t, a, "attention", "claim", "status", "date", "age", "patient_id", "comment"), want)
		if attention == 0 || len(want) != attention {
			t.Errorf("%d claims need action, SQL finds %d", attention, len(want))
		}
	})
}

// flat formats sums as rows does.
func flat(sums map[string][]int64) (lines []string) {
	for key, values := range sums {
		for _, v := range values {
			key += fmt.Sprintf("|%d", v)
		}
		lines = append(lines, key)
	}
	slices.Sort(lines)
	return lines
}

func TestContractPerformanceMatchesSQL(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		for _, at := range []string{"2026-07-01", "2026-03-31", "2026-04-01", "2025-12-31", "2025-10-26"} {
			at := civil.MustParse(at)
			start := civil.MustParse(fmt.Sprintf("%d-04-01", at.Year))
			if at.Before(start) {
				start = start.AddMonths(-12)
			}
			a := p.ask(t, "contract-performance", report.Filter{To: at})
			sums := map[string][]int64{}
			for _, c := range p.claims(t) {
				if c.counted.Before(start) || at.Before(c.counted) {
					continue
				}
				unit := "UDA"
				if c.ortho {
					unit = "UOA"
				}
				s := sums[fmt.Sprintf("%s|%d|%s", c.contract, c.practitioner, unit)]
				if s == nil {
					s = make([]int64, 5)
					sums[fmt.Sprintf("%s|%d|%s", c.contract, c.practitioner, unit)] = s
				}
				switch {
				case c.status == "withdrawn" || c.status == "invalid":
					s[2] += c.expected
				case c.awarded != nil:
					s[0], s[1], s[3] = s[0]+c.expected, s[1]+*c.awarded, s[3]+*c.awarded
				case c.late:
					s[0], s[4] = s[0]+c.expected, s[4]+c.expected
				default:
					s[0], s[3] = s[0]+c.expected, s[3]+c.expected
				}
			}
			numbers := map[string]string{} // by id
			for _, c := range p.Ent.Contract.Query().AllX(p.ctx) {
				numbers[c.ID.String()] = c.ContractNumber
			}
			var want []string
			for _, line := range flat(sums) {
				id, rest, _ := strings.Cut(line, "|")
				want = append(want, numbers[id]+"|"+rest)
			}
			slices.Sort(want)
			got := slices.DeleteFunc(cells(t, a, "practitioners", "contract_number", "practitioner_id", "unit", "expected", "awarded", "refused", "delivered", "late"),
				func(line string) bool { return strings.HasSuffix(line, "|0|0|0|0|0") }) // a target, but no claims
			sameRows(t, at.String(), got, slices.DeleteFunc(want, func(line string) bool { return strings.HasSuffix(line, "|0|0|0|0|0") }))

			// Each practitioner's target appears once, and so does each contract's.
			// Inactive practitioners are listed only in years with claims.
			there := func(ortho string) string {
				return fmt.Sprintf(`(active OR EXISTS (SELECT 1 FROM nhs_claims c JOIN contracts k ON k.id = c.contract_id AND k.start_date = '%s'
					WHERE c.practitioner_id = practitioners.id AND %s c.ortho AND c.submitted_date BETWEEN '%s' AND '%s'))`, start, ortho, start, at)
			}
			targets := cells(t, a, "practitioners", "practitioner_id", "unit", "target")
			targets = slices.DeleteFunc(targets, func(line string) bool { return strings.HasSuffix(line, "|") })
			sameRows(t, at.String()+" targets", targets, p.rows(t, `SELECT id, 'UDA', uda_target FROM practitioners WHERE `+there("NOT")+` AND uda_target > 0 AND practice_id = `+ours+`
				UNION ALL SELECT id, 'UOA', uoa_target FROM practitioners WHERE `+there("")+` AND uoa_target > 0 AND practice_id = `+ours))
			sameRows(t, at.String()+" contracts", slices.DeleteFunc(cells(t, a, "contracts", "contract_number", "unit", "target"), func(line string) bool { return strings.HasSuffix(line, "|") }),
				p.rows(t, fmt.Sprintf(`SELECT contract_number, 'UDA', target FROM contracts WHERE target > 0 AND start_date = '%[1]s' AND practice_id = %[2]s
				UNION ALL SELECT contract_number, 'UOA', uoa_target FROM contracts WHERE uoa_target > 0 AND start_date = '%[1]s' AND practice_id = %[2]s`, start, ours)))
			checkMeasures(t, p, a, start, at)
		}
	})
}

// checkMeasures recalculates value, pace, projection and shortfall with fractions.
func checkMeasures(t testing.TB, p practice, a *report.Answer, start, at civil.Date) {
	t.Helper()
	units := map[string]string{}
	for _, line := range p.rows(t, `SELECT contract_number, COALESCE(uda_value, 0), COALESCE(uoa_value, 0) FROM contracts WHERE practice_id = `+ours) {
		parts := strings.Split(line, "|")
		units[parts[0]+"UDA"], units[parts[0]+"UOA"] = parts[1], parts[2]
	}
	number := func(s string) *big.Rat {
		r, ok := new(big.Rat).SetString(s)
		if !ok {
			t.Fatalf("%q is not a number", s)
		}
		return r
	}
	whole := func(r *big.Rat) string { // hundredths, half away from zero
		return strings.TrimSuffix(new(big.Rat).Set(r).FloatString(0), ".")
	}
	year := start.AddMonths(12).Time().Sub(start.Time()).Hours() / 24
	gone := at.Time().Sub(start.Time()).Hours()/24 + 1
	elapsed := new(big.Rat).SetFrac64(int64(gone), int64(year))
	for _, line := range cells(t, a, "practitioners", "contract_number", "unit", "target", "awarded", "delivered", "value", "pace", "projected", "shortfall", "shortfall_value", "carried_forward") {
		v := strings.Split(line, "|")
		unit := number(units[v[0]+v[1]])
		hundredth := big.NewRat(1, 100)
		if want := whole(new(big.Rat).Mul(new(big.Rat).Mul(number(v[3]), unit), hundredth)); v[5] != want {
			t.Errorf("%s: value %s, want %s", line, v[5], want)
		}
		projected := new(big.Rat).Quo(number(v[4]), elapsed)
		if v[7] != "" && v[7] != whole(projected) {
			t.Errorf("%s: projected %s, want %s", line, v[7], whole(projected))
		}
		if v[2] == "" {
			continue
		}
		target := number(v[2])
		pace := new(big.Rat).Quo(new(big.Rat).Mul(number(v[4]), big.NewRat(10000, 1)), new(big.Rat).Mul(target, elapsed))
		if v[6] != whole(pace) {
			t.Errorf("%s: pace %s, want %s", line, v[6], whole(pace))
		}
		short, carried := new(big.Rat), new(big.Rat).Sub(number(v[7]), target)
		if number(v[7]).Cmp(new(big.Rat).Mul(target, big.NewRat(96, 100))) < 0 {
			short.Neg(carried)
			carried.SetInt64(0)
		} else if most := new(big.Rat).Mul(target, big.NewRat(2, 100)); carried.Cmp(most) > 0 {
			carried = most
		}
		if v[10] != whole(carried) {
			t.Errorf("%s: carried forward %s, want %s", line, v[10], whole(carried))
		}
		if v[8] != whole(short) {
			t.Errorf("%s: shortfall %s, want %s", line, v[8], whole(short))
		}
		if cost := whole(new(big.Rat).Mul(new(big.Rat).Mul(number(v[8]), unit), hundredth)); v[9] != cost {
			t.Errorf("%s: shortfall value %s, want %s", line, v[9], cost)
		}
	}
}
