package api

import (
	"context"
	"slices"
	"time"

	"chairside/ent"
	"chairside/ent/appointment"
	"chairside/ent/invoice"
	"chairside/ent/patient"
	"chairside/ent/payment"
	"chairside/ent/predicate"
	"chairside/internal/apierror"
	"chairside/internal/civil"
	"chairside/internal/clock"
	"chairside/internal/decimal"
	"chairside/internal/entx"
	"chairside/internal/entx/rowscan"
	"chairside/internal/list"
	"chairside/internal/principal"
	"chairside/ogent"
	"chairside/schema"
)

// The standard reasons that are exams, and those that are a scale and polish.
var (
	examReasons   = []string{schema.Reasons[0], schema.Reasons[2]}
	polishReasons = []string{schema.Reasons[1], schema.Reasons[2]}
)

// statsForm reads of a patient what its statistics show.
var statsForm = list.Form[ogent.Patient]{
	Width:   3,
	Columns: rowscan.Columns(patient.Table, patient.FieldID, patient.FieldCreatedAt, patient.FieldUpdatedAt),
	Take: func(x *list.Reader, p *ogent.Patient) {
		p.ID, p.CreatedAt, p.UpdatedAt = x.Int64(0), x.View.Time(x.Time(1)), x.View.Time(x.Time(2))
		x.Log.Note(patient.Table, p.ID)
	},
}

// ListPatientStats returns the statistics of a page of patients, in the order and with the
// filters of the list of patients, or those of the one patient with patient_id.
func (h *Handler) ListPatientStats(ctx context.Context, p ogent.ListPatientStatsParams) (*ogent.PatientStatsList, error) {
	as := p.Patients()
	where, err := h.search(ctx, as.Query.Or(""))
	if err != nil {
		return nil, err
	}
	as.Query.Set = len(where) > 0
	if id, ok := p.PatientID.Get(); ok {
		where = append(where, patient.ID(id))
		if len(as.Ids) == 0 { // so that the patient is found before the list is sorted
			as.Ids = []int64{id}
		}
	}
	patients := ogent.Patients
	patients.Form = statsForm
	rows, meta, _, err := patients.Read(ctx, h.View(ctx), h.Client.Patient.Query(), ogent.PatientsRequest(as), where...)
	if err != nil {
		return nil, err
	}
	stats, err := h.statsOf(ctx, rows)
	if err != nil {
		return nil, err
	}
	return &ogent.PatientStatsList{PatientStats: stats, Meta: ogent.MetaOf(meta)}, nil
}

// GetStatsOfPatient returns the statistics of one patient.
func (h *Handler) GetStatsOfPatient(ctx context.Context, p ogent.GetStatsOfPatientParams) (*ogent.PatientStatsResponse, error) {
	return h.statsOfOne(ctx, p.ID)
}

// GetPatientStats returns statistics by their id, which is the patient's.
func (h *Handler) GetPatientStats(ctx context.Context, p ogent.GetPatientStatsParams) (*ogent.PatientStatsResponse, error) {
	return h.statsOfOne(ctx, p.ID)
}

// statsOfOne returns the statistics of one patient, or apierror.NotFound.
func (h *Handler) statsOfOne(ctx context.Context, id int64) (*ogent.PatientStatsResponse, error) {
	rows, err := list.All(ctx, h.View(ctx), h.Client.Patient.Query().Where(patient.ID(id)), statsForm, 1)
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, apierror.NotFound()
	}
	stats, err := h.statsOf(ctx, rows)
	if err != nil {
		return nil, err
	}
	return &ogent.PatientStatsResponse{PatientStats: stats[0]}, nil
}

// statsOf returns the statistics of patients, in five statements.
func (h *Handler) statsOf(ctx context.Context, patients []ogent.Patient) ([]ogent.PatientStats, error) {
	all := make([]ogent.PatientStats, len(patients))
	for i, p := range patients {
		all[i] = ogent.PatientStats{
			ID: p.ID, PatientID: p.ID, CreatedAt: p.CreatedAt, UpdatedAt: p.UpdatedAt,
			TotalInvoiced: total(nil), TotalPaid: total(nil),
		}
		none(&all[i].FirstAppointmentDate, &all[i].LastAppointmentDate, &all[i].NextAppointmentDate,
			&all[i].FirstExamDate, &all[i].LastExamDate, &all[i].NextExamDate,
			&all[i].FirstScaleAndPolishDate, &all[i].LastScaleAndPolishDate, &all[i].NextScaleAndPolishDate,
			&all[i].LastCancelledAppointmentDate, &all[i].LastFtaAppointmentDate)
	}
	if len(all) == 0 {
		return all, nil
	}
	s := statistics{h: h, zone: principal.Must(ctx).Zone, now: clock.Now(ctx), ids: list.IDs(patients, func(p ogent.Patient) int64 { return p.ID }), all: all}
	s.at = positions(s.ids)
	for _, add := range []func(context.Context) error{s.addPast, s.addNext, s.addFailed, s.addInvoiced, s.addPaid} {
		if err := add(ctx); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// none sets dates to null.
func none(dates ...*ogent.NilDate) {
	for _, d := range dates {
		d.SetToNull()
	}
}

// statistics are those of some patients.
type statistics struct {
	h    *Handler
	zone *time.Location
	now  time.Time
	ids  []int64
	all  []ogent.PatientStats
	at   map[int64]int // position in all by id
}

// visits are the appointments of a patient that have a reason or a state.
type visits struct {
	PatientID   int64 `sql:"patient_id"`
	Reason      string
	State       schema.AppointmentState
	First, Last clock.Stored
	Number      int
}

// read returns the patients' appointments, grouped by patient and by a column.
func (s *statistics) read(ctx context.Context, by string, where ...predicate.Appointment) (groups []visits, err error) {
	err = s.h.Client.Appointment.Query().
		Where(entx.InArray[predicate.Appointment](appointment.FieldPatientID, s.ids)).Where(where...).
		GroupBy(appointment.FieldPatientID, by).
		Aggregate(ent.As(ent.Min(appointment.FieldStartTime), "first"), ent.As(ent.Max(appointment.FieldStartTime), "last"), ent.As(ent.Count(), "number")).
		Scan(ctx, &groups)
	return groups, err
}

// day returns the local day of a stored time.
func (s *statistics) day(t clock.Stored) time.Time { return civil.Of(t.In(s.zone)).Time() }

// first and last set a date unless it is already earlier or later.
func first(d *ogent.NilDate, day time.Time) {
	if d.Null || day.Before(d.Value) {
		d.SetTo(day)
	}
}

func last(d *ogent.NilDate, day time.Time) {
	if d.Null || day.After(d.Value) {
		d.SetTo(day)
	}
}

// kept selects appointments that are neither cancelled nor missed.
var kept = appointment.And(appointment.CancelledAtIsNil(), appointment.DidNotAttendAtIsNil())

// addPast adds the first and last appointments.
func (s *statistics) addPast(ctx context.Context) error {
	groups, err := s.read(ctx, appointment.FieldReason, kept, appointment.StartTimeLTE(s.now))
	for _, g := range groups {
		x := &s.all[s.at[g.PatientID]]
		from, to := s.day(g.First), s.day(g.Last)
		first(&x.FirstAppointmentDate, from)
		last(&x.LastAppointmentDate, to)
		if slices.Contains(examReasons, g.Reason) {
			first(&x.FirstExamDate, from)
			last(&x.LastExamDate, to)
		}
		if slices.Contains(polishReasons, g.Reason) {
			first(&x.FirstScaleAndPolishDate, from)
			last(&x.LastScaleAndPolishDate, to)
		}
	}
	return err
}

// addNext adds the next appointments.
func (s *statistics) addNext(ctx context.Context) error {
	groups, err := s.read(ctx, appointment.FieldReason, kept, appointment.StartTimeGT(s.now))
	for _, g := range groups {
		x := &s.all[s.at[g.PatientID]]
		next := s.day(g.First)
		first(&x.NextAppointmentDate, next)
		if slices.Contains(examReasons, g.Reason) {
			first(&x.NextExamDate, next)
		}
		if slices.Contains(polishReasons, g.Reason) {
			first(&x.NextScaleAndPolishDate, next)
		}
	}
	return err
}

// addFailed adds cancelled and missed appointments. One that is both counts as cancelled.
func (s *statistics) addFailed(ctx context.Context) error {
	groups, err := s.read(ctx, appointment.FieldState, appointment.Or(appointment.CancelledAtNotNil(), appointment.DidNotAttendAtNotNil()))
	for _, g := range groups {
		x := &s.all[s.at[g.PatientID]]
		if g.State == schema.Cancelled {
			last(&x.LastCancelledAppointmentDate, s.day(g.Last))
			continue
		}
		last(&x.LastFtaAppointmentDate, s.day(g.Last))
		x.FailedAppointments += g.Number
	}
	return err
}

// sum is the money of one patient.
type sum struct {
	PatientID int64 `sql:"patient_id"`
	Sum       *decimal.Decimal
}

// addInvoiced adds the sums of invoices.
func (s *statistics) addInvoiced(ctx context.Context) error {
	var sums []sum
	err := s.h.Client.Invoice.Query().
		Where(entx.InArray[predicate.Invoice](invoice.FieldPatientID, s.ids), invoice.StatusNEQ(schema.InvoiceVoid)).
		GroupBy(invoice.FieldPatientID).Aggregate(ent.Sum(invoice.FieldAmount)).Scan(ctx, &sums)
	for _, x := range sums {
		s.all[s.at[x.PatientID]].TotalInvoiced = total(x.Sum)
	}
	return err
}

// addPaid adds the sums of payments.
func (s *statistics) addPaid(ctx context.Context) error {
	var sums []sum
	err := s.h.Client.Payment.Query().
		Where(entx.InArray[predicate.Payment](payment.FieldPatientID, s.ids), payment.Deleted(false)).
		GroupBy(payment.FieldPatientID).Aggregate(ent.Sum(payment.FieldAmount)).Scan(ctx, &sums)
	for _, x := range sums {
		s.all[s.at[x.PatientID]].TotalPaid = total(x.Sum)
	}
	return err
}
