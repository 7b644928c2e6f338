package report

import (
	"context"
	"slices"
	"strings"
	"time"

	"chairside/ent"
	"chairside/ent/appointment"
	"chairside/internal/civil"
	"chairside/internal/principal"
)

// Before is the result of the period before that of an answer.
type Before struct {
	From, To civil.Date
	Started  civil.Date // day of the first appointment of a patient here, if the period begins before it
	*Result
}

// findStart sets Started, which tells a reader why a practice that is new here had little before. For a report as at
// a day, the period begins on that day.
func (b *Before) findStart(ctx context.Context, client *ent.Client, r *Report) error {
	var first []struct {
		StartTime time.Time `sql:"start_time"`
	}
	err := client.Appointment.Query().Where(appointment.PatientIDNotNil()).Order(appointment.ByStartTime()).Limit(1).Select(appointment.FieldStartTime).Scan(ctx, &first)
	if err != nil || len(first) == 0 {
		return err
	}
	begins := b.From
	if r.AsAt && !r.Yearly {
		begins = b.To
	}
	if day := civil.Of(first[0].StartTime.In(principal.Must(ctx).Zone)); begins.Before(day) {
		b.Started = day
	}
	return nil
}

// PeriodBefore returns the period before another, to compare the two:
//
//   - of whole months, as many months before;
//   - of whole months and a part of one, the same days as many months before, so that three
//     weeks of a month are compared with three weeks;
//   - of other days, as many days before.
//
// Of a report on the state at the end of a day it is the same day of the month before, of a
// contract year the same day of the year before, and of a single day the same day of the week
// before. Without a first day there is no previous period.
func (r *Report) PeriodBefore(from, to civil.Date) (first, last civil.Date, ok bool) {
	switch {
	case r.OneDay():
		last = to.AddDays(-7)
	case r.AsAt && r.Yearly:
		last = monthsBefore(to, 12)
	case r.AsAt:
		last = monthsBefore(to, 1)
	case from.IsZero():
		return first, last, false
	case from.Day == 1 && from != to:
		n := 12*(to.Year-from.Year) + int(to.Month-from.Month) + 1
		return from.AddMonths(-n), monthsBefore(to, n), true
	default:
		n := days(from, to) + 1
		return from.AddDays(-n), to.AddDays(-n), true
	}
	first, _ = r.Period(last)
	return first, last, true
}

// monthsBefore returns the same day n months before. The end of a month stays one.
func monthsBefore(d civil.Date, n int) civil.Date {
	if next := d.AddDays(1); next.Day == 1 {
		return next.AddMonths(-n).AddDays(-1)
	}
	return d.AddMonths(-n)
}

// FigureBefore returns the value of a figure in the period before.
func (a *Answer) FigureBefore(f Figure) any {
	for _, b := range a.Before.Summary {
		if b.Key == f.Key {
			return b.Value
		}
	}
	return f.Kind.zero() // nothing happened
}

// TotalBefore returns a column's total in the previous period, or nil.
func (a *Answer) TotalBefore(s *Section, column int) any {
	c := s.Columns[column]
	for i := range a.Before.Sections {
		b := &a.Before.Sections[i]
		if at := slices.IndexFunc(b.Columns, func(o Column) bool { return o.Key == c.Key }); b.Key == s.Key && b.Total != nil && at >= 0 {
			return b.Total[at]
		}
	}
	return c.Kind.zero()
}

// mostChange is the largest change with a percentage: 999%, in hundredths. Above it, the value
// before was too small to compare with.
const mostChange = 999_00

// Change describes how a value differs from the one before: "+£120.00 (+12.50%)". Percentages
// differ by points. It is "–" if one of them is missing.
func (l Locale) Change(k Kind, now, before any) string {
	n, isNumber := number64(now)
	b, wasNumber := number64(before)
	switch {
	case !isNumber || !wasNumber:
		return none
	case n == b:
		return "no change"
	case k == Percent:
		return strings.TrimSuffix(l.signed(Percent, n-b), l.percent) + " points"
	case b <= 0: // a share of it means nothing
		return l.signed(k, n-b)
	}
	share := ratio(n-b, 100_00, b)
	if share > mostChange || share < -mostChange {
		return l.signed(k, n-b)
	}
	return l.signed(k, n-b) + " (" + l.signed(Percent, share) + ")"
}

// signed formats a difference with its sign.
func (l Locale) signed(k Kind, v int64) string {
	if v > 0 {
		return "+" + l.Exact(k, v)
	}
	return l.Exact(k, v)
}
