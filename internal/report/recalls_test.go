package report_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"chairside/ent"
	"chairside/ent/appointment"
	"chairside/ent/patient"
	"chairside/ent/recall"
	"chairside/ent/treatmentappointment"
	"chairside/ent/waitinglist"
	"chairside/internal/audit"
	"chairside/internal/civil"
	"chairside/internal/report"
	"chairside/schema"
)

func TestRecallsMatchSQL(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		p.patient(t, func(u *ent.PatientUpdateOne) { // no contact data
			u.ClearMobilePhone().ClearHomePhone().ClearWorkPhone().ClearEmailAddress().SetRecallMethod(schema.RecallPhone)
		})
		for _, f := range []report.Filter{
			{To: civil.MustParse("2026-08-01")},
			period("2026-06-01", "2026-07-31"),
			period("2027-01-01", "2027-12-31"),
			period("2026-07-01", "2026-07-01"),
		} {
			from := "0001-01-01"
			if !f.From.IsZero() {
				from = f.From.String()
			}
			recall := func(kind, due, by string) string {
				return `SELECT '` + kind + `' AS kind, ` + due + ` AS due, p.*, COALESCE(CAST(` + by + ` AS text), '<nil>') AS preferred,
					` + p.daysFrom(due, today) + ` AS overdue FROM patients p
					WHERE p.practice_id = {demo} AND p.active AND ` + due + ` BETWEEN '` + from + `' AND '` + f.To.String() + `'
					AND NOT EXISTS (
						SELECT 1 FROM appointments a WHERE a.patient_id = p.id
						AND a.state NOT IN ('Cancelled', 'Did not attend') AND {day {seconds a.start_time}} >= '2026-07-01')`
			}
			want := facts(t, p, `SELECT r.kind, `+day("r.due")+`, r.overdue, r.id, r.first_name || ' ' || r.last_name, r.preferred, r.recall_method,
				COALESCE(CASE r.recall_method
					WHEN 'SMS' THEN r.mobile_phone
					WHEN 'Email' THEN r.email_address
					WHEN 'Phone' THEN COALESCE(CASE r.preferred_phone_number WHEN 1 THEN r.home_phone WHEN 2 THEN r.work_phone WHEN 3 THEN r.mobile_phone END, r.mobile_phone, r.home_phone, r.work_phone)
					ELSE r.address_line_1 || COALESCE(', ' || r.address_line_2, '') || COALESCE(', ' || r.town, '') || COALESCE(', ' || r.county, '') || ', ' || r.postcode
				END, ''),
				(SELECT max({day {seconds a.start_time}}) FROM appointments a WHERE a.patient_id = r.id AND a.state = 'Completed')
				FROM (`+recall("Dental", "p.dentist_recall_date", "p.dentist_id")+` UNION ALL `+recall("Hygiene", "p.hygienist_recall_date", "p.hygienist_id")+`) r`)
			rows := read(t, p, report.Recalls, f)
			var got []string
			for _, r := range rows {
				preferred := any("<nil>")
				if r.PractitionerID != nil {
					preferred = *r.PractitionerID
				}
				got = append(got, line(r.Kind, r.Due, r.Overdue, r.PatientID, r.Patient, preferred, r.Method, r.Contact, r.LastSeen))
				if (r.Contact == "") != strings.HasPrefix(r.Note, "no ") {
					t.Errorf("the contact %q has the note %q", r.Contact, r.Note)
				}
			}
			if !slices.IsSortedFunc(rows, func(a, b report.RecallRow) int { return a.Due.Time().Compare(b.Due.Time()) }) {
				t.Error("the rows are not sorted by due date")
			}
			sameRows(t, f.To.String(), got, want)
			if f.From.IsZero() && len(want) < 20 {
				t.Errorf("%d recalls: too few to test anything", len(want))
			}
		}
	})
}

// patient changes the first active patient, who then has no recall records and is due for both
// recalls, and returns the ID.
func (p practice) patient(t *testing.T, change func(*ent.PatientUpdateOne)) (id int64) {
	t.Helper()
	p.tx(t, func(tx *ent.Client) (err error) {
		if id, err = tx.Patient.Query().Where(patient.Active(true)).Order(patient.ByID()).FirstID(p.ctx); err != nil {
			return err
		}
		records, err := tx.Recall.Query().Where(recall.PatientID(id)).IDs(p.ctx)
		if err != nil {
			return err
		}
		for _, r := range records {
			if err := tx.Recall.DeleteOneID(r).Exec(p.ctx); err != nil {
				return err
			}
		}
		u := tx.Patient.UpdateOneID(id).SetDentistRecallDate(civil.MustParse("2026-06-15")).SetHygienistRecallDate(civil.MustParse("2026-07-15"))
		change(u)
		return u.Exec(p.ctx)
	})
	return id
}

// unbook deletes the appointments of a patient, and what refers to them.
func (p practice) unbook(tx *ent.Client, id int64) error {
	for _, table := range []struct {
		rows interface {
			IDs(context.Context) ([]int64, error)
		}
		delete func(id int64) error
	}{
		{tx.TreatmentAppointment.Query().Where(treatmentappointment.PatientID(id)), func(id int64) error { return tx.TreatmentAppointment.DeleteOneID(id).Exec(p.ctx) }},
		{tx.WaitingList.Query().Where(waitinglist.PatientID(id)), func(id int64) error { return tx.WaitingList.DeleteOneID(id).Exec(p.ctx) }},
		{tx.Appointment.Query().Where(appointment.PatientID(id)), func(id int64) error { return tx.Appointment.DeleteOneID(id).Exec(p.ctx) }},
	} {
		ids, err := table.rows.IDs(p.ctx)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if err := table.delete(id); err != nil {
				return err
			}
		}
	}
	return nil
}

func TestRecallsSkipBookedPatients(t *testing.T) {
	both := []string{"Dental", "Hygiene"}
	for _, c := range []struct {
		name   string
		role   schema.Role
		booked booked
		change func(*ent.PatientUpdateOne)
		want   []string
	}{
		{"nothing booked", "", booked{}, nil, both},
		{"with a dentist", schema.RoleDentist, booked{from: "2026-07-08T08:00Z", to: "2026-07-08T08:20Z"}, nil, nil},
		{"with a hygienist", schema.RoleHygienist, booked{from: "2026-07-08T08:00Z", to: "2026-07-08T08:20Z"}, nil, nil},
		{"with a therapist", schema.RoleTherapist, booked{from: "2026-07-08T08:00Z", to: "2026-07-08T08:20Z"}, nil, nil},
		{"cancelled", schema.RoleTherapist, booked{from: "2026-07-08T08:00Z", to: "2026-07-08T08:20Z", state: schema.Cancelled}, nil, both},
		{"missed this morning", schema.RoleTherapist, booked{from: "2026-07-01T08:00Z", to: "2026-07-01T08:20Z", state: schema.DidNotAttend}, nil, both},
		{"the first minute of today", schema.RoleTherapist, booked{from: "2026-06-30T23:00Z", to: "2026-06-30T23:20Z"}, nil, nil},
		{"the last minute of yesterday", schema.RoleTherapist, booked{from: "2026-06-30T22:59Z", to: "2026-06-30T23:20Z"}, nil, both},
		{"archived", "", booked{}, func(u *ent.PatientUpdateOne) { u.SetActive(false) }, nil},
		{"due after the period", "", booked{}, func(u *ent.PatientUpdateOne) { u.SetHygienistRecallDate(civil.MustParse("2026-08-02")) }, []string{"Dental"}},
		{"due on its last day", "", booked{}, func(u *ent.PatientUpdateOne) { u.SetHygienistRecallDate(civil.MustParse("2026-08-01")) }, both},
		{"no hygiene recall", "", booked{}, func(u *ent.PatientUpdateOne) { u.ClearHygienistRecallDate() }, []string{"Dental"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			each(t, func(t *testing.T, p practice) {
				id := p.patient(t, func(u *ent.PatientUpdateOne) {
					if c.change != nil {
						c.change(u)
					}
				})
				p.tx(t, func(tx *ent.Client) error { return p.unbook(tx, id) })
				if c.role != "" {
					booked := c.booked // a copy, because both databases are tested at the same time
					booked.patient = id
					p.book(t, p.hire(t, p.site(t, "High Street Dental").ID, c.role), booked)
				}
				var got []string
				for _, r := range read(t, p, report.Recalls, report.Filter{To: civil.MustParse("2026-08-01")}) {
					if r.PatientID == id {
						got = append(got, string(r.Kind))
					}
				}
				slices.Sort(got)
				if !slices.Equal(got, c.want) {
					t.Errorf("recalled for %v, want %v", got, c.want)
				}
			})
		})
	}
}

func TestRecallsOfOneSiteAndPractitioner(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		f := report.Filter{To: civil.MustParse("2026-08-01")}
		river := p.site(t, "Riverside Dental")
		all := read(t, p, report.Recalls, f)
		key := func(rows []report.RecallRow) (keys []string) {
			for _, r := range rows {
				keys = append(keys, line(r.Kind, r.PatientID))
			}
			slices.Sort(keys)
			return keys
		}
		of := func(keep func(report.RecallRow) bool) []string {
			return key(slices.DeleteFunc(slices.Clone(all), func(r report.RecallRow) bool { return !keep(r) }))
		}
		f.SiteID = &river.ID
		want := of(func(r report.RecallRow) bool { return r.SiteID == river.ID })
		if got := key(read(t, p, report.Recalls, f)); len(got) == 0 || !slices.Equal(got, want) {
			t.Errorf("of the site %v, want %v", got, want)
		}
		for _, r := range read(t, p.limited(river), report.Recalls, report.Filter{To: f.To}) {
			if r.SiteID != river.ID {
				t.Errorf("a caller of the site sees %+v", r)
			}
		}
		by := *all[0].PractitionerID
		want = of(func(r report.RecallRow) bool { return r.PractitionerID != nil && *r.PractitionerID == by })
		if got := key(read(t, p, report.Recalls, report.Filter{To: f.To, PractitionerID: &by})); len(got) == 0 || !slices.Equal(got, want) {
			t.Errorf("of the practitioner %v, want %v", got, want)
		}
		theirs := key(read(t, p.as(t, "second"), report.Recalls, report.Filter{To: f.To}))
		for _, k := range theirs {
			if slices.Contains(key(all), k) {
				t.Errorf("%s belongs to both practices", k)
			}
		}
		if none := read(t, p, report.Recalls, period("1990-01-01", "1990-12-31")); len(none) > 0 {
			t.Errorf("%d recalls of 1990", len(none))
		}
	})
}

// TestRecallsAreInAccessLog: the access log of the request names the patients whose contact
// is shown, and no others.
func TestRecallsAreInAccessLog(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		var accessLog *audit.Log
		p.ctx, accessLog = audit.With(p.ctx)
		rows := read(t, p, report.Recalls, period("2026-07-01", "2026-07-31"))
		ids := map[int64]bool{}
		for _, r := range rows {
			ids[r.PatientID] = true
		}
		for _, a := range accessLog.LogValue().Group() {
			got, err := json.Marshal(a.Value.Any())
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(got), `"`) / 2; a.Key != "patients" || n != len(ids) {
				t.Errorf("%d of %s are logged, %d patients are shown", n, a.Key, len(ids))
			}
		}
		if accessLog.Empty() || len(ids) == 0 {
			t.Errorf("%d patients are shown", len(ids))
		}
	})
}

// TestRecallsUseRecords: an open recall has the due date and the practitioner; a closed one
// settles the date on the patient's record.
func TestRecallsUseRecords(t *testing.T) {
	day := civil.MustParse
	for _, c := range []struct {
		name   string
		record func(*ent.RecallCreate)
		want   []string // of the dental recall
	}{
		{"due earlier", func(r *ent.RecallCreate) { r.SetDueOn(day("2026-05-01")) }, []string{"2026-05-01"}},
		{"due after the period", func(r *ent.RecallCreate) { r.SetDueOn(day("2026-09-01")) }, nil},
		{"booked, but the appointment is gone", func(r *ent.RecallCreate) { r.SetDueOn(day("2026-06-15")).SetStatus(schema.RecallBooked) }, []string{"2026-06-15"}},
		{"completed on that date", func(r *ent.RecallCreate) { r.SetDueOn(day("2026-06-15")).SetStatus(schema.RecallCompleted) }, nil},
		{"cancelled on that date", func(r *ent.RecallCreate) { r.SetDueOn(day("2026-06-15")).SetStatus(schema.RecallCancelled) }, nil},
		{"completed on another date", func(r *ent.RecallCreate) { r.SetDueOn(day("2025-06-15")).SetStatus(schema.RecallCompleted) }, []string{"2026-06-15"}},
		{"of the other kind", func(r *ent.RecallCreate) {
			r.SetDueOn(day("2026-06-15")).SetRecallType(schema.RecallHygiene).SetStatus(schema.RecallCompleted)
		}, []string{"2026-06-15"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			each(t, func(t *testing.T, p practice) {
				id := p.patient(t, func(*ent.PatientUpdateOne) {})
				p.tx(t, func(tx *ent.Client) error {
					if err := p.unbook(tx, id); err != nil {
						return err
					}
					create := tx.Recall.Create().SetPatientID(id).SetRecallType(schema.RecallExam)
					c.record(create)
					return create.Exec(p.ctx)
				})
				var got []string
				for _, r := range read(t, p, report.Recalls, report.Filter{To: day("2026-08-01")}) {
					if r.PatientID == id && r.Kind == report.DentalRecall {
						got = append(got, r.Due.String())
					}
				}
				if !slices.Equal(got, c.want) {
					t.Errorf("due on %v, want %v", got, c.want)
				}
			})
		})
	}
}
