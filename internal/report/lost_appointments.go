package report

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"

	"chairside/ent"
	"chairside/ent/appointment"
	"chairside/ent/invoice"
	"chairside/ent/invoiceitem"
	"chairside/internal/civil"
	"chairside/internal/clock"
	"chairside/internal/decimal"
	"chairside/internal/diary"
	"chairside/internal/entx/rowscan"
	"chairside/internal/principal"
	"chairside/internal/scope"
	"chairside/schema"
	"chairside/schema/ask"
)

var _ = register(Report{
	Name: "lost-appointments", Title: "Appointments lost",
	Group: GroupDiary, Place: 4, Question: "What missed appointments and cancellations at short notice cost: the time that stayed empty, and its value.",
	Definitions: []Definition{
		{Term: "Lost", Meaning: "Patients' appointments of the period that the patient missed or cancelled at short notice, counted on the day on which they were to start."},
		{Term: "Did not attend", Meaning: "Lost appointments that the patient missed."},
		{Term: "Cancelled at short notice", Meaning: "Lost appointments that the patient cancelled less than 24 hours before the start, or later."},
		{Term: "Time lost", Meaning: "The length of the lost appointments."},
		{Term: "Filled again", Meaning: "The part of the lost time that other appointments of the practitioner cover, with or without a patient. Time that two lost appointments of the period share counts as empty once, for the one that was to start first."},
		{Term: "Left empty", Meaning: "The rest of the time lost."},
		{Term: "Invoiced per hour", Meaning: "The items of the practitioner on invoices dated in the twelve months up to the end of the period, excluding void ones, per hour of patients' appointments that started in these months, before now, and were neither cancelled nor missed. Blank without such appointments."},
		{Term: "Value", Meaning: "An estimate of the income lost, because an appointment has no price: the time left empty, at the practitioner's amount invoiced per hour, rounded to the penny for each appointment. A practitioner without that amount adds nothing."},
		{Term: "Site", Meaning: "The site of the session in which the appointment was to start, or else the practitioner's own site."},
	},
	Reads: scope.Set{"appointment:read", "financials:read", "patient:read", "practice:read"}, Period: twelveMonths, Practitioners: true,
	Records: lostRecords,
}.adding(readLost, lostResult))

// lostRecords are the appointments lost.
var lostRecords = Records{
	Columns: []Column{
		{Key: "day", Title: "Day", Kind: Date}, {Key: "start", Title: "Start", Kind: Clock}, {Key: "month", Title: "Month", Kind: Month, Minor: true},
		hiddenID("practitioner_id", ID), {Key: "practitioner", Title: "Practitioner"}, hiddenID("site_id", Text), {Key: "site", Title: "Site"},
		{Key: "rate", Title: "Invoiced per hour", Kind: Money, Minor: true}, {Key: "how", Title: "How"}, {Key: "appointment_id", Title: "Appointment no.", Kind: ID, Minor: true},
		{Key: "patient_id", Title: "Patient no.", Kind: ID, Minor: true}, {Key: "patient", Title: "Patient"},
	},
	Measures: []Column{
		{Key: "lost", Title: "Lost", Kind: Count}, {Key: "did_not_attend", Title: "Did not attend", Kind: Count}, {Key: "short_notice_cancellations", Title: "Cancelled at short notice", Kind: Count},
		{Key: "lost_minutes", Title: "Time lost", Kind: Minutes}, {Key: "filled_minutes", Title: "Filled again", Kind: Minutes}, {Key: "empty_minutes", Title: "Left empty", Kind: Minutes},
		{Key: "value", Title: "Value", Kind: Money},
	},
	Read: readLost,
}.namingPatients()

// lostAppointment is an appointment that the patient missed or cancelled at short notice.
type lostAppointment struct {
	id, patient int64
	diary.Period
	missed bool
}

// readLost reads the appointments lost in the period, in order of their start.
func readLost(ctx context.Context, client *ent.Client, f Filter) (records []Record, err error) {
	r, err := readRota(ctx, client, f)
	if err != nil {
		return nil, err
	}
	lost, err := lostBetween(ctx, client, f, r.zone)
	if err != nil {
		return nil, err
	}
	taken, err := takenFrom(ctx, client, f, r.zone)
	if err != nil {
		return nil, err
	}
	earnings, err := readEarnings(ctx, client, f.To)
	if err != nil {
		return nil, err
	}
	for _, w := range r.workers {
		records = append(records, r.lostOf(w, lost[w.id], taken, earnings[w.id])...)
	}
	slices.SortStableFunc(records, func(a, b Record) int { return Clock.compare(a.Cells[1], b.Cells[1]) })
	return records, nil
}

// lostOf returns the worker's appointments lost. taken has the times of other appointments that
// overlap them, by their ID.
func (r *rota) lostOf(w *worker, lost []*lostAppointment, taken map[int64][]diary.Period, e earnings) (records []Record) {
	for i, a := range lost {
		day := civil.Of(a.Start.In(r.zone))
		site := w.siteAt(a.Start, w.shiftsOn(day, r.zone))
		if !r.includes(site) {
			continue
		}
		busy := slices.Clip(taken[a.id])
		for j := i - 1; j >= 0 && a.Start.Sub(lost[j].Start) < schema.LongestAppointment; j-- {
			busy = append(busy, lost[j].Period)
		}
		records = append(records, Record{
			Cells:  []any{day, a.Start.In(r.zone), monthStart(day), w.id, w.name, site.String(), r.sites[site], e.perHour(), a.how(), a.id, a.patient, nil},
			Values: a.values(wholeMinutes(diary.Covered([]diary.Period{a.Period}, busy)), e),
		})
	}
	return records
}

// how says how the appointment was lost.
func (a *lostAppointment) how() string {
	if a.missed {
		return "Did not attend"
	}
	return "Cancelled at short notice"
}

// values returns the measures of an appointment, a part of whose time was filled again.
func (a *lostAppointment) values(filled int, e earnings) []any {
	missed, empty := 0, a.Minutes()-filled
	if a.missed {
		missed = 1
	}
	return []any{1, missed, 1 - missed, a.Minutes(), filled, empty, e.worth(empty)}
}

// appointmentsLost queries the appointments lost in the period.
func appointmentsLost(client *ent.Client, f Filter, zone *time.Location) *ent.AppointmentQuery {
	q := client.Appointment.Query().Where(
		appointment.PatientIDNotNil(), appointment.StateIn(schema.DidNotAttend, schema.Cancelled), ask.During(zone, appointment.FieldStartTime, f.From, f.To),
		func(s *sql.Selector) {
			s.Where(sql.Or(sql.EQ(s.C(appointment.FieldState), string(schema.DidNotAttend)),
				sql.ExprP(s.C(appointment.FieldCancelledAt)+" > "+earlier(s, s.C(appointment.FieldStartTime), shortNotice))))
		},
	)
	if f.PractitionerID != nil {
		q.Where(appointment.PractitionerID(*f.PractitionerID))
	}
	return q
}

// earlier is SQL for a time before that of a column.
func earlier(s *sql.Selector, column string, by time.Duration) string {
	if s.Dialect() == dialect.Postgres {
		return fmt.Sprintf("(%s - interval '%d milliseconds')", column, by.Milliseconds())
	}
	return fmt.Sprintf("(%s - %d)", column, by.Microseconds())
}

// lostBetween reads the appointments lost in the period, by practitioner, in order of their
// start.
func lostBetween(ctx context.Context, client *ent.Client, f Filter, zone *time.Location) (map[int64][]*lostAppointment, error) {
	rows, err := appointmentsLost(client, f, zone).Rows(ctx, rowscan.Columns(appointment.Table, appointment.FieldID, appointment.FieldPractitionerID, appointment.FieldPatientID,
		appointment.FieldStartTime, appointment.FieldFinishTime, appointment.FieldState))
	if err != nil {
		return nil, err
	}
	lost := map[int64][]*lostAppointment{}
	err = rowscan.ForEach(rows, 6, func(r *rowscan.Scanner) {
		a := &lostAppointment{r.Int64(0), r.Int64(2), diary.Period{Start: r.Time(3), Finish: r.Time(4)}, r.Text(5) == string(schema.DidNotAttend)}
		lost[r.Int64(1)] = append(lost[r.Int64(1)], a)
	})
	for _, all := range lost {
		slices.SortFunc(all, func(a, b *lostAppointment) int { return cmp.Or(a.Start.Compare(b.Start), cmp.Compare(a.id, b.id)) })
	}
	return lost, err
}

// takenFrom reads the times of the practitioner's appointments that overlap each appointment lost,
// by its ID. Appointments cancelled or missed do not take time. On both databases a look-up in the
// diary's index finds those of each.
func takenFrom(ctx context.Context, client *ent.Client, f Filter, zone *time.Location) (map[int64][]diary.Period, error) {
	const other = "other"
	q := appointmentsLost(client, f, zone)
	q.Modify(func(s *sql.Selector) {
		o := sql.Table(appointment.Table).As(other)
		s.Join(o).On(s.C(appointment.FieldPractitionerID), o.C(appointment.FieldPractitionerID)).
			OnP(sql.ColumnsEQ(s.C(appointment.FieldPracticeID), o.C(appointment.FieldPracticeID)))
		start, finish := s.C(appointment.FieldStartTime), s.C(appointment.FieldFinishTime)
		s.Where(sql.And(
			sql.ExprP(o.C(appointment.FieldStartTime)+" > "+earlier(s, start, schema.LongestAppointment)),
			sql.ColumnsLT(o.C(appointment.FieldStartTime), finish), sql.ColumnsGT(o.C(appointment.FieldFinishTime), start),
			sql.NotIn(o.C(appointment.FieldState), string(schema.Cancelled), string(schema.DidNotAttend)),
		))
	})
	rows, err := q.Rows(ctx, rowscan.Columns(appointment.Table, appointment.FieldID)+", "+rowscan.Columns(other, appointment.FieldStartTime, appointment.FieldFinishTime))
	if err != nil {
		return nil, err
	}
	taken := map[int64][]diary.Period{}
	return taken, rowscan.ForEach(rows, 3, func(r *rowscan.Scanner) {
		taken[r.Int64(0)] = append(taken[r.Int64(0)], diary.Period{Start: r.Time(1), Finish: r.Time(2)})
	})
}

// earnings are what a practitioner invoiced, and the length of the appointments attended.
type earnings struct {
	invoiced decimal.Decimal
	minutes  int64
}

// worth returns the value of some minutes, nil without appointments.
func (e earnings) worth(minutes int) any {
	if e.minutes == 0 {
		return nil
	}
	return decimal.Decimal(ratio(int64(e.invoiced), int64(minutes), e.minutes))
}

// perHour returns the value of an hour.
func (e earnings) perHour() any { return e.worth(60) }

// readEarnings reads what each practitioner earned in the twelve months up to a day, at all
// sites.
func readEarnings(ctx context.Context, client *ent.Client, to civil.Date) (map[int64]earnings, error) {
	from, zone, practice := to.AddDays(1).AddMonths(-12), principal.Must(ctx).Zone, principal.Must(ctx).PracticeID
	end := to.AddDays(1).In(zone)
	if now := clock.Now(ctx); now.Before(end) {
		end = now
	}
	var items, visits []struct {
		PractitionerID int64 `sql:"practitioner_id"`
		Sum            int64
	}
	err := client.InvoiceItem.Query().Where(invoiceitem.PractitionerIDNotNil()).Modify(func(s *sql.Selector) {
		i := sql.Table(invoice.Table)
		s.Join(i).On(s.C(invoiceitem.FieldInvoiceID), i.C(invoice.FieldID))
		s.Where(sql.And(
			sql.EQ(i.C(invoice.FieldPracticeID), practice), sql.NEQ(i.C(invoice.FieldStatus), schema.InvoiceVoid),
			sql.GTE(i.C(invoice.FieldDatedOn), from), sql.LTE(i.C(invoice.FieldDatedOn), to),
		))
		by := s.C(invoiceitem.FieldPractitionerID)
		s.Select(by, sumOf(s.C(invoiceitem.FieldTotalPrice), "sum")).GroupBy(by)
	}).Scan(ctx, &items)
	if err != nil {
		return nil, err
	}
	err = client.Appointment.Query().Where(
		appointment.PatientIDNotNil(), appointment.StateNotIn(schema.Cancelled, schema.DidNotAttend),
		appointment.StartTimeGTE(from.In(zone).UTC()), appointment.StartTimeLT(end.UTC()),
	).Modify(func(s *sql.Selector) {
		by := s.C(appointment.FieldPractitionerID)
		s.Select(by, sumOf(s.C(appointment.FieldDuration), "sum")).GroupBy(by)
	}).Scan(ctx, &visits)
	all := map[int64]earnings{}
	for _, v := range visits {
		all[v.PractitionerID] = earnings{minutes: v.Sum}
	}
	for _, item := range items {
		e := all[item.PractitionerID]
		e.invoiced = decimal.Decimal(item.Sum)
		all[item.PractitionerID] = e
	}
	return all, err
}

// lostResult lays the report out: by month, and by practitioner and site.
func lostResult(records []Record, f Filter) *Result {
	r, total := &lostRecords, lostRecords.sum(records)
	columns := r.measures("lost", "did_not_attend", "short_notice_cancellations", "lost_minutes", "filled_minutes", "empty_minutes", "value")
	const empty = "No appointment of this period was missed or cancelled at short notice."
	byMonth := r.breakDown(breakdown{key: "months", title: "By month", empty: empty, all: "All months", by: []string{"month"}, columns: columns}, records)
	byMonth.draw(StackedVerticalBars, "Appointments lost by month", "month", months(f), "did_not_attend", "short_notice_cancellations")
	people := r.breakDown(breakdown{
		key: "practitioners", title: "By practitioner and site", empty: empty, all: "All practitioners",
		by: []string{"practitioner_id", "practitioner", "site_id", "site", "rate"}, columns: columns,
	}, records)
	people.draw(HorizontalBars, "Value by practitioner", "practitioner", nil, "value")
	return &Result{
		Summary: []Figure{
			{Key: "lost", Label: "Lost", Kind: Count, Value: total.value("lost")},
			{Key: "did_not_attend", Label: "Did not attend", Kind: Count, Value: total.value("did_not_attend")},
			{Key: "short_notice_cancellations", Label: "Cancelled at short notice", Kind: Count, Value: total.value("short_notice_cancellations")},
			{Key: "empty_minutes", Label: "Left empty", Kind: Minutes, Value: total.value("empty_minutes")},
			{Key: "value", Label: "Value", Kind: Money, Value: total.value("value"), Note: "estimated"},
		},
		Sections: []Section{byMonth, people},
	}
}
