package report

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"entgo.io/ent/dialect/sql"
	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/invoice"
	"chairside/ent/patient"
	"chairside/ent/payment"
	"chairside/ent/predicate"
	"chairside/internal/civil"
	"chairside/internal/decimal"
	"chairside/internal/entx/rowscan"
	"chairside/internal/principal"
	"chairside/internal/scope"
	"chairside/schema"
	"chairside/schema/ask"
)

var _ = register(Report{
	Name: "sources", Title: "New patients by source",
	Group: GroupPatients, Place: 3, Question: "How new patients found the practice, and the income from their first year.",
	Definitions: []Definition{
		{Term: "New patients", Meaning: "Patients added in the period, including archived ones, by how they found the practice and the month in which they were added."},
		{Term: "First year", Meaning: "The 365 days from the day the patient was added. Patients whose first year is not over count with the amounts so far."},
		{Term: "Invoiced", Meaning: "Invoices dated in the first year, excluding void ones."},
		{Term: "Paid", Meaning: "Payments dated in the first year, excluding deleted ones."},
		{Term: "Share", Meaning: "New patients of the source as a share of all new patients. " + sharesAddUp},
		{Term: "Paid per new patient", Meaning: "The amount paid, divided by the number of new patients."},
		{Term: "Site", Meaning: "The patient's site."},
		{Term: "Practitioner", Meaning: "The patient's usual dentist."},
	},
	Reads: scope.Set{"financials:read", "patient:read", "practice:read"}, Period: twelveMonths, Practitioners: true,
	Records: sourceRecords,
	Run: func(ctx context.Context, client *ent.Client, f Filter) (*Result, error) {
		rows, err := Sources(ctx, client, f)
		if err != nil {
			return nil, err
		}
		return sourcesResult(rows, f), nil
	},
	Layout: func(f Filter, _ Locale) *Result { return sourcesResult(nil, f) },
})

// SourceRow counts the new patients of one month from one acquisition source.
type SourceRow struct {
	SourceID *uuid.UUID // nil for patients without a source
	Source   string     // name, or NoSource
	Month    civil.Date // its first day
	Patients int
	Invoiced decimal.Decimal // in their first year
	Paid     decimal.Decimal // in their first year
}

// key identifies the source; two sources may have the same name.
func (r *SourceRow) key() string {
	if r.SourceID == nil {
		return ""
	}
	return r.SourceID.String()
}

// id returns the source's ID for a cell: nil for none.
func (r *SourceRow) id() any {
	if r.SourceID == nil {
		return nil
	}
	return r.SourceID.String()
}

// NoSource is the name shown for patients without a source.
const NoSource = "Not recorded"

// firstYear is the number of days in a patient's first year, the day they were added
// included.
const firstYear = 365

// Sources counts the patients added in the period by acquisition source and month,
// in order of source (NoSource last) and month. Invoiced and Paid add up their invoices
// and payments, at any site, dated on the day they were added or in the 364 days after
// it. Months and days are those of the practice's time zone. f.SiteID is the patient's
// site, f.PractitionerID the patient's preferred dentist.
func Sources(ctx context.Context, client *ent.Client, f Filter) ([]SourceRow, error) {
	added := newPatients(ctx, f)
	counts, err := ask.Group[struct {
		Source   *uuid.UUID
		Month    civil.Date
		Patients int
	}](ctx, client.Patient.Query().Where(added...), ask.By(patient.FieldAcquisitionSourceID), ask.Month(patient.FieldCreatedAt), ask.Count())
	if err != nil {
		return nil, err
	}
	names, err := sourceNames(ctx, client)
	if err != nil {
		return nil, err
	}
	type group struct {
		source uuid.UUID // zero for none
		month  civil.Date
	}
	groupOf := func(source *uuid.UUID, day civil.Date) group {
		g := group{month: monthStart(day)}
		if source != nil {
			g.source = *source
		}
		return g
	}
	rows, at := make([]SourceRow, len(counts)), map[group]*SourceRow{}
	for i, c := range counts {
		g := groupOf(c.Source, c.Month)
		rows[i] = SourceRow{SourceID: c.Source, Source: names[g.source], Month: c.Month, Patients: c.Patients}
		at[g] = &rows[i]
	}
	var invoiced, paid []firstYearSum
	if err := client.Invoice.Query().Where(invoice.StatusNEQ(schema.InvoiceVoid)).Modify(addFirstYear(ctx, added, invoice.FieldAmount)).Scan(ctx, &invoiced); err != nil {
		return nil, err
	}
	if err := client.Payment.Query().Where(payment.Deleted(false)).Modify(addFirstYear(ctx, added, payment.FieldAmount)).Scan(ctx, &paid); err != nil {
		return nil, err
	}
	for _, s := range invoiced {
		at[groupOf(s.Source, s.Day)].Invoiced += s.Sum
	}
	for _, s := range paid {
		at[groupOf(s.Source, s.Day)].Paid += s.Sum
	}
	slices.SortFunc(rows, compareSourceRows)
	return rows, nil
}

// newPatients matches the patients added in the period.
func newPatients(ctx context.Context, f Filter) []predicate.Patient {
	added := []predicate.Patient{ask.During(principal.Must(ctx).Zone, patient.FieldCreatedAt, f.From, f.To)}
	if f.SiteID != nil {
		added = append(added, patient.SiteID(*f.SiteID))
	}
	if f.PractitionerID != nil {
		added = append(added, patient.DentistID(*f.PractitionerID))
	}
	return added
}

// sourceNames returns the names of the acquisition sources, and NoSource for the zero ID.
func sourceNames(ctx context.Context, client *ent.Client) (map[uuid.UUID]string, error) {
	known, err := client.AcquisitionSource.Query().All(ctx)
	names := map[uuid.UUID]string{uuid.Nil: NoSource}
	for _, s := range known {
		names[s.ID] = s.Name
	}
	return names, err
}

// firstYearMoney queries the invoices and payments that can be in the first year of a patient who
// was added in the period.
func firstYearMoney(client *ent.Client, f Filter) (*ent.InvoiceQuery, *ent.PaymentQuery) {
	end := f.To.AddDays(firstYear) // the first year of patients added on the last day ends before it
	return client.Invoice.Query().Where(invoice.StatusNEQ(schema.InvoiceVoid), invoice.DatedOnGTE(f.From), invoice.DatedOnLT(end)),
		client.Payment.Query().Where(payment.Deleted(false), payment.DatedOnGTE(f.From), payment.DatedOnLT(end))
}

// firstYearSum adds up the money of the patients from one source that were added on one day.
type firstYearSum struct {
	Source *uuid.UUID
	Day    civil.Date
	Sum    decimal.Decimal
}

// addFirstYear adds up the invoices or payments of a query that are dated in the first year of one
// of the patients added, as firstYearSums. These are patients that the caller may see.
//
// The patients are a subquery with a limit, which PostgreSQL reads first: it then looks their few
// records up in the index of patients and days, where a join would read those of all patients.
func addFirstYear(ctx context.Context, added []predicate.Patient, amount string) func(*sql.Selector) {
	caller := principal.Must(ctx)
	return func(s *sql.Selector) {
		p := sql.Table(patient.Table)
		at := p.C(patient.FieldCreatedAt)
		people := sql.Dialect(s.Dialect()).
			Select(p.C(patient.FieldID), sql.As(p.C(patient.FieldAcquisitionSourceID), "source"),
				sql.As(ask.DayOf(s, caller.Zone, at, 0), "day"), sql.As(ask.DayOf(s, caller.Zone, at, firstYear), "until")).
			From(p).Where(sql.EQ(p.C(patient.FieldPracticeID), caller.PracticeID)).Limit(math.MaxInt32)
		for _, match := range added {
			match(people)
		}
		if caller.SiteID != nil {
			people.Where(sql.EQ(p.C(patient.FieldSiteID), *caller.SiteID))
		}
		addedPatients := people.As("added")
		dated, source, day := s.C(payment.FieldDatedOn), addedPatients.C("source"), addedPatients.C("day")
		s.Join(addedPatients).On(s.C(payment.FieldPatientID), addedPatients.C(patient.FieldID))
		s.Where(sql.And(sql.ExprP(dated+" >= "+day), sql.ExprP(dated+" < "+addedPatients.C("until"))))
		s.Select(sql.As(source, "source"), sql.As(day, "day"), sumOf(s.C(amount), "sum")).GroupBy(source, day)
	}
}

// readNewcomers reads the patients added in the period, and a row of each with their money.
func readNewcomers(ctx context.Context, client *ent.Client, f Filter) (map[int64]newcomer, error) {
	zone, added := principal.Must(ctx).Zone, newPatients(ctx, f)
	names, err := sourceNames(ctx, client)
	if err != nil {
		return nil, err
	}
	people, err := client.Patient.Query().Where(added...).
		Rows(ctx, rowscan.Columns(patient.Table, patient.FieldID, patient.FieldCreatedAt, patient.FieldAcquisitionSourceID))
	if err != nil {
		return nil, err
	}
	newcomers := map[int64]newcomer{}
	err = rowscan.ForEach(people, 3, func(r *rowscan.Scanner) {
		day := civil.Of(r.Time(1).In(zone))
		row := &SourceRow{Source: names[r.UUID(2)], Month: monthStart(day), Patients: 1} // no source is the zero UUID
		if !r.Null(2) {
			row.SourceID = new(r.UUID(2))
		}
		newcomers[r.Int64(0)] = newcomer{day, row}
	})
	if err != nil {
		return nil, err
	}
	return newcomers, addMoney(ctx, client, f, added, newcomers)
}

// compareSourceRows orders rows by source and month. Patients without a source come last.
func compareSourceRows(a, b SourceRow) int {
	switch {
	case a.SourceID == nil && b.SourceID != nil:
		return 1
	case a.SourceID != nil && b.SourceID == nil:
		return -1
	}
	return cmp.Or(compareNames(a.Source, b.Source), strings.Compare(a.key(), b.key()), a.Month.Time().Compare(b.Month.Time()))
}

// newcomer is a new patient.
type newcomer struct {
	day civil.Date // when the patient was added, in the practice's time zone
	row *SourceRow // of this patient alone
}

// addMoney adds the invoices and payments of new patients to their rows.
func addMoney(ctx context.Context, client *ent.Client, f Filter, added []predicate.Patient, newcomers map[int64]newcomer) error {
	invoices, payments := firstYearMoney(client, f)
	paid, err := payments.Where(payment.HasPatientWith(added...)).Rows(ctx, rowscan.Columns(payment.Table, payment.FieldPatientID, payment.FieldDatedOn, payment.FieldAmount))
	if err != nil {
		return err
	}
	err = rowscan.ForEach(paid, 3, func(r *rowscan.Scanner) {
		if n := newcomers[r.Int64(0)]; n.inFirstYear(r.Date(1)) {
			n.row.Paid += r.Decimal(2)
		}
	})
	if err != nil {
		return err
	}
	invoiced, err := invoices.Where(invoice.HasPatientWith(added...)).Rows(ctx, rowscan.Columns(invoice.Table, invoice.FieldPatientID, invoice.FieldDatedOn, invoice.FieldAmount))
	if err != nil {
		return err
	}
	return rowscan.ForEach(invoiced, 3, func(r *rowscan.Scanner) {
		if n := newcomers[r.Int64(0)]; n.inFirstYear(r.Date(1)) {
			n.row.Invoiced += r.Decimal(2)
		}
	})
}

// inFirstYear reports whether a day is in the patient's first year.
func (n newcomer) inFirstYear(day civil.Date) bool {
	age := days(n.day, day)
	return age >= 0 && age < firstYear
}

// sourcesResult lays the report out: a table and chart by source and month, and a
// table of totals by source below.
func sourcesResult(rows []SourceRow, f Filter) *Result {
	main := Section{
		Key: "months", Title: "By source and month", Keys: []string{"source_id", "month"},
		Columns: []Column{
			hiddenID("source_id", Text), {Key: "source", Title: "Source"}, {Key: "month", Title: "Added in", Kind: Month}, {Key: "patients", Title: "New patients", Kind: Count},
			{Key: "invoiced", Title: "Invoiced in the first year", Kind: Money}, {Key: "paid", Title: "Paid in the first year", Kind: Money},
		},
		Empty: "No patients were added in this period. The source is chosen when a patient is registered.",
	}
	bySource := Section{
		Key: "sources", Title: "By source", Keys: []string{"source_id"},
		Columns: []Column{
			hiddenID("source_id", Text), {Key: "source", Title: "Source"}, {Key: "patients", Title: "New patients", Kind: Count}, {Key: "share", Title: "Share", Kind: Percent},
			{Key: "invoiced", Title: "Invoiced in the first year", Kind: Money}, {Key: "paid", Title: "Paid in the first year", Kind: Money}, {Key: "paid_per_patient", Title: "Paid per patient", Kind: Money},
		},
		Chart: &Chart{Form: HorizontalBars, Title: "Paid in the first year", Kind: Money, Series: []Series{{Name: "Paid"}}},
		Empty: "No source brought a patient in this period.",
	}
	var all SourceRow
	var each []SourceRow
	months := months(f)
	main.Chart = &Chart{Form: StackedVerticalBars, Title: "New patients by month", Kind: Count}
	for _, m := range months {
		main.Chart.Labels = append(main.Chart.Labels, monthName(m))
	}
	for i := range rows {
		row := &rows[i]
		main.Rows = append(main.Rows, []any{row.id(), row.Source, row.Month, row.Patients, row.Invoiced, row.Paid})
		if i == 0 || rows[i-1].key() != row.key() {
			each = append(each, SourceRow{SourceID: row.SourceID, Source: row.Source})
			main.Chart.Series = append(main.Chart.Series, Series{row.Source, make([]int64, len(months))})
		}
		main.Chart.Series[len(each)-1].Values[slices.Index(months, row.Month)] += int64(row.Patients)
		for _, sum := range []*SourceRow{&each[len(each)-1], &all} {
			sum.Patients += row.Patients
			sum.Invoiced += row.Invoiced
			sum.Paid += row.Paid
		}
	}
	counts := make([]int64, len(each))
	for i := range each {
		counts[i] = int64(each[i].Patients)
	}
	shares := shares(counts)
	for i := range each {
		s := &each[i]
		bySource.Rows = append(bySource.Rows, []any{s.id(), s.Source, s.Patients, shares[i], s.Invoiced, s.Paid, perPatient(s)})
		bySource.Chart.Add(s.Source, int64(s.Paid))
	}
	main.Chart.Series = mergeSmallest(main.Chart.Series)
	if len(rows) > 0 {
		main.Total = []any{nil, "All sources", nil, all.Patients, all.Invoiced, all.Paid}
		bySource.Total = []any{nil, "All sources", all.Patients, percent(1, 1), all.Invoiced, all.Paid, perPatient(&all)}
	}
	return &Result{
		Summary: []Figure{
			{Key: "patients", Label: "New patients", Kind: Count, Value: all.Patients},
			{Key: "paid", Label: "Paid", Kind: Money, Value: all.Paid, Note: "in their first year, so far"},
			{Key: "paid_per_patient", Label: "Paid per new patient", Kind: Money, Value: perPatient(&all)},
		},
		Sections: []Section{main, bySource},
	}
}

// perPatient returns the amount paid per patient, nil for no patients.
func perPatient(row *SourceRow) any {
	if row.Patients == 0 {
		return nil
	}
	return decimal.Decimal(ratio(int64(row.Paid), 1, int64(row.Patients)))
}

// sourcesShown is the most series that the chart by month shows: one per colour.
const sourcesShown = 7

// mergeSmallest keeps the largest series and adds up the rest as "Others", if there are
// more than sourcesShown.
func mergeSmallest(series []Series) []Series {
	if len(series) <= sourcesShown {
		return series
	}
	sum := func(s Series) (n int64) {
		for _, v := range s.Values {
			n += v
		}
		return n
	}
	slices.SortStableFunc(series, func(a, b Series) int { return cmp.Compare(sum(b), sum(a)) })
	others := Series{"Others", make([]int64, len(series[0].Values))}
	for _, s := range series[sourcesShown-1:] {
		for i, v := range s.Values {
			others.Values[i] += v
		}
	}
	return append(series[:sourcesShown-1], others)
}
