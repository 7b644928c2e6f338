package report_test

import (
	"fmt"
	"strings"
	"testing"

	"chairside/internal/civil"
	"chairside/internal/decimal"
	"chairside/internal/report"
)

func TestPeriodBefore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, from, to, want string }{
		{"income", "2026-06-01", "2026-06-30", "2026-05-01 2026-05-31"}, // months of different length
		{"income", "2026-03-01", "2026-03-31", "2026-02-01 2026-02-28"},
		{"income", "2024-02-01", "2024-02-29", "2024-01-01 2024-01-31"}, // a leap year
		{"income", "2026-04-01", "2026-06-30", "2026-01-01 2026-03-31"}, // a quarter
		{"income", "2026-01-01", "2026-12-31", "2025-01-01 2025-12-31"},
		{"income", "2025-08-01", "2026-07-01", "2024-08-01 2025-07-01"}, // the current month so far
		{"income", "2026-07-01", "2026-07-15", "2026-06-01 2026-06-15"},
		{"income", "2026-03-01", "2026-03-30", "2026-02-01 2026-02-28"},
		{"income", "2026-07-10", "2026-07-16", "2026-07-03 2026-07-09"}, // a week
		{"income", "2026-07-01", "2026-07-01", "2026-06-30 2026-06-30"},
		{"income", "2026-06-15", "2026-07-14", "2026-05-16 2026-06-14"},
		{"aged-debt", "", "2026-07-31", "2026-04-01 2026-06-30"},
		{"aged-debt", "", "2026-07-10", "2026-04-01 2026-06-10"},
		{"contract-performance", "", "2026-07-01", "2025-04-01 2025-07-01"},
		{"contract-performance", "", "2024-02-29", "2022-04-01 2023-02-28"},
		{"day-sheet", "", "2026-07-01", "2026-06-24 2026-06-24"},
		{"recalls", "", "2026-07-01", ""},
		{"recalls", "2026-07-01", "2026-07-31", "2026-06-01 2026-06-30"},
	} {
		r, err := report.Find(c.name)
		if err != nil {
			t.Fatal(err)
		}
		var from civil.Date
		if c.from != "" {
			from = civil.MustParse(c.from)
		}
		first, last, ok := r.PeriodBefore(from, civil.MustParse(c.to))
		if got := fmt.Sprint(first, last); ok != (c.want != "") || ok && got != c.want {
			t.Errorf("%s: before %s to %s is %s (%t), want %s", c.name, c.from, c.to, got, ok, c.want)
		}
	}
}

// TestComparisonHasTotalsOfThePeriodBefore compares the totals of a comparison with those of the
// report on the period before.
func TestComparisonHasTotalsOfThePeriodBefore(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		for i := range report.All {
			r := &report.All[i]
			f := report.Filter{From: today.AddMonths(-2), To: today}
			if r.AsAt {
				f.From, f.To = r.Period(today)
			}
			f.Compare = true
			a := p.ask(t, r.Name, f)
			if a.Before == nil {
				t.Fatalf("%s is not compared", r.Name)
			}
			begins := a.Before.From
			if r.AsAt && !r.Yearly {
				begins = a.Before.To
			}
			if says := strings.Contains(a.NameBefore(), "first appointment"); says != begins.Before(p.firstDay(t)) {
				t.Errorf("%s is compared with %s, but the first appointment was on %s", r.Name, a.NameBefore(), p.firstDay(t))
			}
			was := p.ask(t, r.Name, report.Filter{From: a.Before.From, To: a.Before.To})
			if len(a.Summary) == 0 || len(was.Summary) == 0 {
				t.Errorf("%s has no figures", r.Name)
			}
			for _, f := range was.Summary {
				if got := a.FigureBefore(f); got != f.Value {
					t.Errorf("%s: %s was %v, want %v", r.Name, f.Key, got, f.Value)
				}
			}
			for i := range a.Sections {
				for _, old := range was.Sections {
					if s := &a.Sections[i]; old.Key == s.Key && s.Total != nil {
						for j := range s.Columns {
							if got := a.TotalBefore(s, j); got != old.Total[j] {
								t.Errorf("%s: the total of %s was %v, want %v", r.Name, s.Columns[j].Key, got, old.Total[j])
							}
						}
					}
				}
			}
		}
	})
}

// TestEveryFigureIsTheSumOfItsRecords: each linked value of every report is exactly the sum of
// the records that it leads to.
func TestEveryFigureIsTheSumOfItsRecords(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		high := p.site(t, "High Street Dental")
		who := int64(1)
		for i := range report.All {
			r := &report.All[i]
			filters := []report.Filter{{}, {SiteID: &high.ID}}
			if r.Practitioners {
				filters = append(filters, report.Filter{PractitionerID: &who})
			}
			for n, f := range filters {
				f.From, f.To = today.AddMonths(-5), today.AddDays(-3)
				if r.AsAt {
					f.From, f.To = r.Period(f.To)
				}
				if r.Name == "day-sheet" {
					f.To = busiest(t, p, today.AddMonths(-1), today)
				}
				linked := sumsOfRecords(t, p, r, f)
				if n == 0 && linked < 2 {
					t.Errorf("%s: only %d values lead to records", r.Name, linked)
				}
			}
		}
	})
}

// busiest returns the day of a period on which most time is booked.
func busiest(t *testing.T, p practice, from, to civil.Date) (day civil.Date) {
	t.Helper()
	booked := map[civil.Date]int{}
	for _, d := range read(t, p, report.DiaryDays, report.Filter{From: from, To: to}) {
		booked[d.Day] += d.Booked
		if booked[d.Day] > booked[day] {
			day = d.Day
		}
	}
	return day
}

// sumsOfRecords checks the values of a report and returns how many lead to records. The records
// of a report are read once and selected here, as a list of them is.
func sumsOfRecords(t *testing.T, p practice, r *report.Report, f report.Filter) (linked int) {
	t.Helper()
	a := p.ask(t, r.Name, f)
	records := read(t, p, r.Records.Read, f)
	check := func(what string, value any, b *report.Behind) {
		if b == nil {
			return
		}
		linked++
		if got := r.Records.Sum(records, *b); got != value {
			t.Errorf("%s: %s is %v, and its records add up to %v: %v", r.Name, what, value, got, *b)
		}
		if linked%50 == 1 { // the list itself
			f.Behind = b
			list := p.ask(t, r.Name, f).Sections[0]
			if got := list.Total[len(list.Total)-1]; got != value || len(list.Rows) == 0 {
				t.Errorf("%s: %s is %v, and the list of %d records ends with %v", r.Name, what, value, len(list.Rows), got)
			}
		}
	}
	for _, figure := range a.Summary {
		check(figure.Key, figure.Value, a.BehindFigure(figure))
	}
	for i := range a.Sections {
		s := &a.Sections[i]
		for j, c := range s.Columns {
			for _, row := range s.Rows {
				check(s.Key+"."+c.Key, row[j], a.BehindCell(s, row, j))
			}
			if s.Total != nil {
				check("the total of "+s.Key+"."+c.Key, s.Total[j], a.BehindTotal(s, j))
			}
		}
	}
	return linked
}

func TestTablesAreSorted(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		f := period("2026-01-01", "2026-06-30")
		for _, sort := range []string{"invoiced", "-invoiced", "practitioner"} {
			f.Sort = sort
			s := p.ask(t, "income", f).Sections[1]
			for i := 1; i < len(s.Rows); i++ {
				before, after := s.Rows[i-1], s.Rows[i]
				x, y := before[2].(decimal.Decimal), after[2].(decimal.Decimal)
				switch {
				case sort == "invoiced" && x > y, sort == "-invoiced" && x < y:
					t.Errorf("by %s, %v comes before %v", sort, x, y)
				case sort == "practitioner" && before[1].(string) > after[1].(string):
					t.Errorf("%v comes before %v", before[1], after[1])
				}
			}
		}
		f.Sort = "-utilisation"
		s := p.ask(t, "diary", f).Sections[0]
		missing := false
		for _, row := range s.Rows {
			if row[8] == nil {
				missing = true
			} else if missing {
				t.Error("a row without a value is not last")
			}
		}
		for _, c := range s.Columns {
			if c.Group {
				t.Error("rows are grouped in another order")
			}
		}
	})
}

// firstDay returns the day of the first appointment of a patient.
func (p practice) firstDay(t *testing.T) civil.Date {
	t.Helper()
	return civil.MustParse(facts(t, p, "SELECT {day {seconds min(start_time)}} FROM appointments WHERE practice_id = {demo} AND patient_id IS NOT NULL")[0])
}
