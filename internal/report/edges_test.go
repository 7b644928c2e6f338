package report_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/contract"
	"chairside/ent/practitioner"
	"chairside/internal/civil"
	"chairside/internal/clock"
	"chairside/internal/decimal"
	"chairside/internal/principal"
	"chairside/internal/report"
	"chairside/internal/report/render"
	"chairside/internal/test/harness"
	"chairside/schema"
)

// course is the course of treatment of a claim; days and times as text, "" for none.
type course struct {
	start, end string // days
	completed  string // a time
}

// claimAt creates a claim of one unit under the contract of a year, and returns it.
func (p practice) claimAt(t *testing.T, year int, ortho bool, created time.Time, submitted *civil.Date, of *course) (id uuid.UUID) {
	t.Helper()
	c := p.Ent.Contract.Query().Where(contract.StartDate(civil.Date{Year: year, Month: time.April, Day: 1})).FirstX(p.ctx)
	who := p.Ent.Practitioner.Query().FirstIDX(p.ctx)
	patient := p.Ent.Patient.Query().FirstIDX(p.ctx)
	p.ctx = clock.With(p.ctx, created)
	p.tx(t, func(tx *ent.Client) error {
		create := tx.NHSClaim.Create().SetContractID(c.ID).SetSiteID(c.SiteID).SetPractitionerID(who).SetPatientID(patient).SetOrtho(ortho).
			SetClaimStatus(schema.ClaimNew).SetSequenceNumber(999).SetExpectedUda(1_00).SetNillableSubmittedDate(submitted)
		if of != nil {
			plan := tx.TreatmentPlan.Create().SetPatientID(patient).SetPractitionerID(who).SetPaymentPlanID(tx.PaymentPlan.Query().FirstIDX(p.ctx))
			if of.start != "" {
				plan.SetStartDate(civil.MustParse(of.start))
			}
			if of.end != "" {
				plan.SetEndDate(civil.MustParse(of.end))
			}
			if of.completed != "" {
				plan.SetCompleted(true).SetCompletedAt(instant(t, of.completed))
			}
			create.SetTreatmentPlanID(plan.SaveX(p.ctx).ID)
		}
		id = create.SaveX(p.ctx).ID
		return nil
	})
	return id
}

// sum adds up a column of the contract performance report on a day, in hundredths.
func (p practice) sum(t *testing.T, at civil.Date, column string) (sum int64) {
	t.Helper()
	for _, line := range cells(t, p.ask(t, "contract-performance", report.Filter{To: at}), "practitioners", column) {
		var n int64
		fmt.Sscan(line, &n)
		sum += n
	}
	return sum
}

func TestClaimCountsInContractYearOfItsCourse(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		last, first := civil.MustParse("2026-03-31"), civil.MustParse("2026-04-01")
		midnight := first.In(p.zone) // 23:00 UTC: the clocks have gone forward
		before, june := midnight.AddDate(0, 0, -9), civil.MustParse("2026-06-01")
		for _, c := range []struct {
			name      string
			year      int
			ortho     bool
			created   time.Time
			submitted *civil.Date
			of        *course
			old, now  int64 // hundredths of a unit by which it increases the expected units of each year
		}{
			{"completed in the last minute, submitted late", 2025, false, before, &june, &course{"2026-03-01", "2026-04-05", "2026-03-31T22:59Z"}, 100, 0},
			{"completed at midnight", 2026, false, before, &last, &course{"2026-03-01", "2026-03-31", "2026-03-31T23:00Z"}, 0, 100},
			{"never completed, last visit on the last day", 2025, false, midnight, &first, &course{"2026-03-01", "2026-03-31", ""}, 100, 0},
			{"never completed, last visit on the first day", 2026, false, before, &last, &course{"2026-03-01", "2026-04-01", ""}, 0, 100},
			{"orthodontic, started on the last day", 2025, true, midnight, &june, &course{"2026-03-31", "", "2026-05-01T09:00Z"}, 100, 0},
			{"orthodontic, started on the first day", 2026, true, before, &last, &course{"2026-04-01", "", ""}, 0, 100},
			{"of a course without days", 2026, false, before, &first, &course{}, 0, 100},
			{"orthodontic, of a course without its first day", 2025, true, before, &last, &course{"", "2026-05-01", "2026-05-01T09:00Z"}, 100, 0},
			{"without a course, created in the last minute", 2025, false, midnight.Add(-time.Minute), nil, nil, 100, 0},
			{"without a course, created at midnight", 2026, false, midnight, nil, nil, 0, 100},
			{"without a course, submitted on the last day", 2025, false, before, &last, nil, 100, 0},
			{"without a course, submitted late under the old contract", 2025, false, before, &first, nil, 0, 100},
		} {
			end := last.AddMonths(12)
			old, now := p.sum(t, last, "expected"), p.sum(t, end, "expected")
			p.claimAt(t, c.year, c.ortho, c.created, c.submitted, c.of)
			if old, now = p.sum(t, last, "expected")-old, p.sum(t, end, "expected")-now; old != c.old || now != c.now {
				t.Errorf("%s: adds %d to the old year and %d to the new one", c.name, old, now)
			}
		}
	})
}

// TestLateClaimIsNotDelivered: a dental claim counts if it is submitted within two months of
// the completion, or if the NHS awards it nevertheless.
func TestLateClaimIsNotDelivered(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		at := civil.MustParse("2026-03-31")
		submit := func(day string) *civil.Date { return new(civil.MustParse(day)) }
		done := &course{"2026-02-01", "2026-02-28", "2026-02-28T10:00Z"}
		for _, c := range []struct {
			name            string
			ortho           bool
			submitted       *civil.Date
			of              *course
			awarded         *decimal.Decimal
			status          schema.ClaimStatus
			delivered, late int64
		}{
			{"on the last day", false, submit("2026-04-28"), done, nil, schema.ClaimSubmitted, 100, 0},
			{"a day late", false, submit("2026-04-29"), done, nil, schema.ClaimSubmitted, 0, 100},
			{"a day late, and awarded", false, submit("2026-04-29"), done, new(decimal.Decimal(80)), schema.ClaimCompleted, 80, 0},
			{"a day late, and disallowed", false, submit("2026-04-29"), done, new(decimal.Decimal), schema.ClaimCompleted, 0, 0},
			{"a day late, and withdrawn", false, submit("2026-04-29"), done, nil, schema.ClaimWithdrawn, 0, 0},
			{"not yet submitted, and too late today", false, nil, done, nil, schema.ClaimNew, 0, 100},
			{"two months end with a short month", false, submit("2026-02-28"), &course{"", "", "2025-12-31T12:00Z"}, nil, schema.ClaimSubmitted, 100, 0},
			{"two months end with a short month, a day late", false, submit("2026-03-01"), &course{"", "", "2025-12-31T12:00Z"}, nil, schema.ClaimSubmitted, 0, 100},
			{"orthodontic", true, submit("2026-06-29"), &course{"2026-02-28", "", "2026-03-01T10:00Z"}, nil, schema.ClaimSubmitted, 100, 0},
			{"incomplete", false, submit("2026-06-29"), &course{"", "2026-02-28", ""}, nil, schema.ClaimSubmitted, 100, 0},
		} {
			delivered, late := p.sum(t, at, "delivered"), p.sum(t, at, "late")
			id := p.claimAt(t, 2025, c.ortho, harness.Now, c.submitted, c.of)
			p.tx(t, func(tx *ent.Client) error {
				return tx.NHSClaim.UpdateOneID(id).SetClaimStatus(c.status).SetNillableAwardedUda(c.awarded).Exec(p.ctx)
			})
			if delivered, late = p.sum(t, at, "delivered")-delivered, p.sum(t, at, "late")-late; delivered != c.delivered || late != c.late {
				t.Errorf("%s: delivers %d, and %d late", c.name, delivered, late)
			}
		}
		if linked := sumsOfRecords(t, p, must(report.Find("contract-performance")), report.Filter{To: at, From: civil.MustParse("2025-04-01")}); linked == 0 {
			t.Error("no figure leads to its claims")
		}
	})
}

func must(r *report.Report, err error) *report.Report {
	if err != nil {
		panic(err)
	}
	return r
}

// TestContractWithinYearUsesItsOwnDays: a contract ends in September, another follows it,
// and an orthodontic contract starts in October.
func TestContractWithinYearUsesItsOwnDays(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		day := civil.MustParse
		old := p.Ent.Contract.Query().Where(contract.StartDate(day("2026-04-01"))).FirstX(p.ctx)
		who := p.Ent.Practitioner.Query().Where(practitioner.SiteID(old.SiteID), practitioner.Active(true)).FirstX(p.ctx)
		next := func(tx *ent.Client, number, start string) *ent.ContractCreate {
			return tx.Contract.Create().SetSiteID(old.SiteID).SetContractNumber(number).SetName(number).SetStartDate(day(start))
		}
		p.ctx = clock.With(p.ctx, day("2026-11-01").In(p.zone))
		p.tx(t, func(tx *ent.Client) error {
			followed := next(tx, "followed", "2026-10-01").SetEndDate(day("2027-03-31")).SetTarget(182_00).SetUdaValue(30_00).SaveX(p.ctx)
			next(tx, "braces", "2026-10-15").SetUoaTarget(10_00).SaveX(p.ctx)
			tx.Contract.UpdateOne(old).SetEndDate(day("2026-09-30")).ExecX(p.ctx)
			tx.Practitioner.UpdateOne(who).SetUdaTarget(364_00).SetUoaTarget(0).ExecX(p.ctx)
			return tx.NHSClaim.Create().SetContractID(followed.ID).SetSiteID(old.SiteID).SetPractitionerID(who.ID).SetPatientID(p.Ent.Patient.Query().FirstIDX(p.ctx)).
				SetClaimStatus(schema.ClaimNew).SetSequenceNumber(999).SetExpectedUda(52_00).Exec(p.ctx)
		})
		found, err := report.ContractPerformance(p.ctx, p.Ent, report.Filter{To: day("2026-11-21")}) // the 52nd of 182 days
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range found.Contracts {
			switch {
			case row.Contract.ID == old.ID && !row.Ortho && *row.Projected != row.Delivered:
				t.Errorf("the ended contract has delivered %s, but is projected to deliver %s", row.Delivered, *row.Projected)
			case row.Contract.Name == "followed" && (*row.Pace != 100_00 || *row.Projected != 182_00 || *row.Shortfall != 0):
				t.Errorf("the following contract: pace %s, projected %s, shortfall %s", *row.Pace, *row.Projected, *row.Shortfall)
			}
		}
		for _, row := range found.Practitioners {
			if row.PractitionerID == who.ID && !row.Ortho && (row.Target != nil) != (row.Contract.Name == "followed") {
				t.Errorf("under %s the target is %v", row.Contract.Name, row.Target)
			}
		}
	})
}

// debts creates a patient, Ada Debt, with all kinds of invoices and payments.
func (p practice) debts(tx *ent.Client) {
	who := tx.Patient.Create().SetTitle("Ms").SetFirstName("Ada").SetLastName("Debt").SetDateOfBirth(civil.MustParse("1980-01-01")).SetGender(false).
		SetEthnicity("99").SetAddressLine1("1 Way").SetPostcode("A1 1AA").SetPaymentPlanID(tx.PaymentPlan.Query().FirstIDX(p.ctx)).
		SetSiteID(tx.Site.Query().FirstIDX(p.ctx)).SaveX(p.ctx)
	account := tx.Account.Create().SetPatientID(who.ID).SaveX(p.ctx)
	charge := func(amount, outstanding decimal.Decimal, dated, due string, status schema.InvoiceStatus) int64 {
		return tx.Invoice.Create().SetAccountID(account.ID).SetPatientID(who.ID).SetSiteID(who.SiteID).SetAmount(amount).SetAmountOutstanding(outstanding).
			SetDatedOn(civil.MustParse(dated)).SetDueOn(civil.MustParse(due)).SetStatus(status).SetPaid(outstanding == 0).SaveX(p.ctx).ID
	}
	pay := func(amount, explained decimal.Decimal, dated string, deleted bool, invoice int64) {
		paid := tx.Payment.Create().SetPatientID(who.ID).SetSiteID(who.SiteID).SetAmount(amount).SetAmountUnexplained(amount - explained).
			SetDatedOn(civil.MustParse(dated)).SetDeleted(deleted).SetMethod("Card").SaveX(p.ctx)
		tx.PaymentExplanation.Create().SetPaymentID(paid.ID).SetInvoiceID(invoice).SetAmount(explained).ExecX(p.ctx)
	}
	part := charge(100_00, 30_00, "2026-01-01", "2026-01-15", schema.InvoicePartPaid)
	pay(40_00, 40_00, "2026-02-01", false, part)
	pay(50_00, 30_00, "2026-03-01", false, part)
	pay(30_00, 30_00, "2026-02-15", true, part)
	whole := charge(70_00, 0, "2026-02-10", "2026-02-24", schema.InvoicePaid)
	pay(70_00, 70_00, "2026-05-05", false, whole)
	back := charge(9_00, 0, "2026-02-10", "2026-02-24", schema.InvoicePaid) // still marked as paid although its payment was deleted
	pay(9_00, 9_00, "2026-02-10", true, back)
	charge(500_00, 500_00, "2026-01-01", "2026-01-15", schema.InvoiceVoid)
}

func TestAgedDebtOnPastDay(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		p.tx(t, func(tx *ent.Client) error { p.debts(tx); return nil })
		for _, c := range []struct{ at, owed, credit string }{
			{"2025-12-31", "", ""},
			{"2026-01-01", "10000|0|0|0", ""},
			{"2026-02-01", "6000|0|0|0", ""}, // 17 days after the due date
			{"2026-02-14", "13900|0|0|0", ""},
			{"2026-02-15", "7900|6000|0|0", ""}, // 31 days; the deleted payment changes nothing
			{"2026-03-01", "7900|3000|0|0", "2000"},
			{"2026-03-16", "7900|3000|0|0", "2000"}, // 60 days
			{"2026-03-17", "7900|0|3000|0", "2000"},
			{"2026-04-15", "0|7900|3000|0", "2000"}, // 90 days
			{"2026-04-16", "0|7900|0|3000", "2000"},
			{"2026-05-05", "0|0|900|3000", "2000"},
		} {
			a := p.ask(t, "aged-debt", report.Filter{To: civil.MustParse(c.at)})
			owed, credit := "", ""
			for _, line := range cells(t, a, "patients", "patient", "current", "days_31_60", "days_61_90", "over_90") {
				if name, rest, _ := strings.Cut(line, "|"); name == "Ada Debt" {
					owed = rest
				}
			}
			for _, line := range cells(t, a, "credit", "patient", "credit") {
				if name, rest, _ := strings.Cut(line, "|"); name == "Ada Debt" {
					credit = rest
				}
			}
			if owed != c.owed || credit != c.credit {
				t.Errorf("%s: owed %s, credit %s; want %s and %s", c.at, owed, credit, c.owed, c.credit)
			}
		}
	})
}

// money maps reports on money and claims to a section and some of its columns.
var money = map[string][]string{
	"contract-performance": {"practitioners", "contract_number", "practitioner_id", "unit", "target", "delivered", "value"},
	"claims":               {"attention", "claim", "patient_id", "practitioner"},
	"aged-debt":            {"patients", "patient_id", "current", "days_31_60", "days_61_90", "over_90", "total"},
	"income":               {"practitioners", "practitioner_id", "invoiced", "outstanding"},
}

func TestReportsAreConfinedToCallersSite(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		f := report.Filter{From: civil.MustParse("2025-07-02"), To: today}
		for _, s := range p.Ent.Site.Query().AllX(p.ctx) {
			inside := p.limited(s)
			at := f
			at.SiteID = &s.ID
			for name, columns := range money {
				got := cells(t, inside.ask(t, name, f), columns[0], columns[1:]...)
				want := cells(t, p.ask(t, name, at), columns[0], columns[1:]...)
				slices.Sort(want)
				sameRows(t, s.Name+" "+name, got, want)
				for _, other := range p.Ent.Site.Query().AllX(p.ctx) {
					at := f
					at.SiteID = &other.ID
					r, _ := report.Find(name)
					if _, err := r.Ask(inside.ctx, p.Ent, at); other.ID != s.ID && !errors.Is(err, report.ErrSite) {
						t.Errorf("%s: a caller of one site asks about another: error %v, want ErrSite", name, err)
					}
				}
			}
		}
	})
}

func TestReportsExcludeOtherPractices(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		f := report.Filter{From: civil.MustParse("2025-07-02"), To: today}
		before := map[string][]string{}
		for name, columns := range money {
			before[name] = cells(t, p.ask(t, name, f), columns[0], columns[1:]...)
			slices.Sort(before[name])
		}
		// Changes in other practices must not change these reports.
		_, err := p.SQL.ExecContext(t.Context(), "UPDATE invoices SET amount = 1000000, amount_outstanding = 1000000, paid = false, paid_on = NULL, sent_at = updated_at, status = 'sent' WHERE practice_id <> "+ours)
		if err != nil {
			t.Fatal(err)
		}
		for name, columns := range money {
			sameRows(t, name, cells(t, p.ask(t, name, f), columns[0], columns[1:]...), before[name])
		}
		r, _ := report.Find("income")
		theirs := p.Ent.Practitioner.Query().FirstIDX(p.as(t, "second").ctx)
		f.PractitionerID = &theirs
		if _, err := r.Ask(p.ctx, p.Ent, f); !errors.Is(err, report.ErrPractitioner) {
			t.Errorf("a practitioner of another practice: %v", err)
		}
	})
}

func TestEmptyPracticeHasEmptyReports(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		var made *ent.Practice
		p.tx(t, func(tx *ent.Client) (err error) {
			made, err = tx.Practice.Create().SetName("Empty").SetSlug("empty").SetCountry("GB").SetTimeZone("Europe/London").Save(principal.AsSystem(t.Context()))
			return err
		})
		full := p
		p.ctx = principal.With(p.ctx, &principal.Principal{PracticeID: made.ID, Zone: p.zone, Country: "GB"})
		for i := range report.All {
			r := &report.All[i]
			f := report.Filter{}
			f.From, f.To = r.Period(today)
			a := p.ask(t, r.Name, f)
			if got, want := jsonKeys(t, a), jsonKeys(t, full.ask(t, r.Name, f)); got != want {
				t.Errorf("%s without rows has the keys %s, want %s", r.Name, got, want)
			}
			for _, s := range a.Sections {
				if len(s.Rows) != 0 {
					t.Errorf("%s: %s of an empty practice has %v", r.Name, s.Key, s.Rows)
				}
				if s.Empty == "" {
					t.Errorf("%s: %s has no text for an empty section", r.Name, s.Key)
				}
			}
			for _, format := range render.Formats() {
				if err := render.Write(&strings.Builder{}, a, format, render.Options{Width: 80}); err != nil {
					t.Errorf("%s as %s: %v", r.Name, format, err)
				}
			}
		}
	})
}

// jsonKeys lists the keys of an answer's JSON and of its summary.
func jsonKeys(t *testing.T, a *report.Answer) string {
	t.Helper()
	var b strings.Builder
	if err := render.Write(&b, a, render.JSON, render.Options{}); err != nil {
		t.Fatal(err)
	}
	var found struct{ Summary map[string]any }
	var top map[string]any
	if err := errors.Join(json.Unmarshal([]byte(b.String()), &found), json.Unmarshal([]byte(b.String()), &top)); err != nil {
		t.Fatal(err)
	}
	if len(found.Summary) == 0 {
		t.Errorf("%s has no summary", a.Name)
	}
	return fmt.Sprint(slices.Sorted(maps.Keys(top)), slices.Sorted(maps.Keys(found.Summary)))
}

// TestTablesOfSharesAddUp: what a table calls shares adds up to 100%.
func TestTablesOfSharesAddUp(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		found := 0
		for i := range report.All {
			r := &report.All[i]
			f := report.Filter{}
			f.From, f.To = r.Period(today)
			for _, s := range p.ask(t, r.Name, f).Sections {
				at := slices.IndexFunc(s.Columns, func(c report.Column) bool { return c.Key == "share" })
				if at < 0 || len(s.Rows) < 3 {
					continue
				}
				found++
				sum := decimal.Decimal(0)
				for _, row := range s.Rows {
					sum += row[at].(decimal.Decimal)
				}
				if sum != 100_00 {
					t.Errorf("%s: the shares of %s add up to %s", r.Name, s.Key, sum)
				}
			}
		}
		if found < 4 {
			t.Errorf("only %d tables of shares", found)
		}
	})
}

// TestUnknownSortIsRefusedBeforeReading: also by a report without rows.
func TestUnknownSortIsRefusedBeforeReading(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		never := civil.MustParse("1950-01-01")
		for i := range report.All {
			r := &report.All[i]
			for _, f := range []report.Filter{
				{From: never, To: never, Sort: "nonsense"},
				{From: never, To: never, Sort: "-nonsense", Behind: &report.Behind{Measure: r.Records.Measures[0].Key}},
			} {
				ctx := report.WithProgress(p.ctx, func(int, int) { t.Errorf("%s has begun", r.Name) })
				if _, err := r.Ask(ctx, p.Ent, f); !errors.Is(err, report.ErrSort) {
					t.Errorf("%s: %v, want ErrSort", r.Name, err)
				}
			}
		}
	})
}

func TestAskRefusesInvalidFilter(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		who := int64(1)
		for name, c := range map[string]struct {
			f    report.Filter
			want error
		}{
			"income":    {report.Filter{From: today, To: today.AddDays(-1)}, report.ErrPeriod},
			"aged-debt": {report.Filter{To: today, PractitionerID: &who}, report.ErrNoPractitioners},
			"recalls":   {report.Filter{To: today, Compare: true}, report.ErrCompare},
			"diary":     {report.Filter{From: today, To: today, Sort: "invoiced"}, report.ErrSort},
			"claims":    {report.Filter{From: today, To: today, Behind: &report.Behind{Measure: "paid"}}, report.ErrBehind},
			"sources":   {report.Filter{From: today, To: today, Behind: &report.Behind{Measure: "paid", Where: []report.Condition{{Column: "x"}}}}, report.ErrBehind},
		} {
			r, err := report.Find(name)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := r.Ask(p.ctx, p.Ent, c.f); !errors.Is(err, c.want) {
				t.Errorf("%s: %v, want %v", name, err, c.want)
			}
		}
		if _, err := report.Find("turnover"); err == nil || !strings.Contains(err.Error(), "income") {
			t.Errorf("an unknown name: %v", err)
		}
	})
}
