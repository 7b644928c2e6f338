package api_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"chairside/internal/test/harness"
)

// expectedStats computes a patient's statistics from the lists of appointments, invoices and
// payments.
func expectedStats(t *testing.T, w *world, id string) map[string]string {
	t.Helper()
	now, want := w.Clock.Now(), map[string]string{}
	earliest := func(name, day string) {
		if want[name] == "" || day < want[name] {
			want[name] = day
		}
	}
	latest := func(name, day string) { want[name] = max(want[name], day) }
	failed := 0
	for _, a := range w.all(t, "appointments", "appointments", url.Values{"patient_id": {id}, "cancelled": {"true"}}) {
		starts := instant(text(a["start_time"]))
		day := starts.In(zone).Format("2006-01-02")
		switch {
		case a["state"] == "Cancelled":
			latest("last_cancelled_appointment_date", day)
			continue
		case a["did_not_attend_at"] != nil:
			failed++
			latest("last_fta_appointment_date", day)
			continue
		}
		kinds := []string{"appointment"}
		if reason := text(a["reason"]); reason == "Exam" || reason == "Exam + Scale & Polish" {
			kinds = append(kinds, "exam")
		}
		if reason := text(a["reason"]); strings.HasSuffix(reason, "Scale & Polish") {
			kinds = append(kinds, "scale_and_polish")
		}
		for _, kind := range kinds {
			if starts.After(now) {
				earliest("next_"+kind+"_date", day)
				continue
			}
			earliest("first_"+kind+"_date", day)
			latest("last_"+kind+"_date", day)
		}
	}
	invoiced, paid := int64(0), int64(0)
	for _, i := range w.all(t, "invoices", "invoices", url.Values{"patient_id": {id}}) {
		if i["status"] != "void" {
			invoiced += hundredths(i["amount"])
		}
	}
	for _, p := range w.all(t, "payments", "payments", url.Values{"patient_id": {id}}) {
		if p["deleted"] == false {
			paid += hundredths(p["amount"])
		}
	}
	want["failed_appointments"] = fmt.Sprint(failed)
	want["total_invoiced"] = fmt.Sprintf("%d.%02d", invoiced/100, invoiced%100)
	want["total_paid"] = fmt.Sprintf("%d.%02d", paid/100, paid%100)
	return want
}

var statsNames = []string{
	"first_appointment_date", "last_appointment_date", "next_appointment_date", "first_exam_date", "last_exam_date", "next_exam_date",
	"first_scale_and_polish_date", "last_scale_and_polish_date", "next_scale_and_polish_date", "last_cancelled_appointment_date",
	"last_fta_appointment_date", "failed_appointments", "total_invoiced", "total_paid",
}

func TestPatientStatsAgreeWithTheLists(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w := newWorld(t, e)
		rows := w.all(t, "patient_stats", "patient_stats", nil)
		if len(rows) != len(w.homes) {
			t.Fatalf("statistics of %d patients, want %d", len(rows), len(w.homes))
		}
		seen := map[string]bool{}
		for i := 0; i < len(rows); i += len(rows) / 25 {
			id := text(rows[i]["patient_id"])
			want, one := expectedStats(t, w, id), e.Get(t, "/v1/patients/"+id+"/stats", w.token).Status(t, 200)
			for _, name := range statsNames {
				if got := text(rows[i][name]); got != want[name] {
					t.Errorf("patient %s: %s is %q, want %q", id, name, got, want[name])
				}
				if got := text(one.At(t, "patient_stats."+name)); got != want[name] {
					t.Errorf("patient %s alone: %s is %q, want %q", id, name, got, want[name])
				}
				seen[name] = seen[name] || want[name] != "" && want[name] != "0"
			}
		}
		for _, name := range statsNames {
			if !seen[name] {
				t.Errorf("no patient has a %s", name)
			}
		}
	})
}

// TestPatientStatsOfOnePatient: by their id, which is the patient's, and by patient_id beside the other filters.
func TestPatientStatsOfOnePatient(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w := newWorld(t, e)
		ids := e.Get(t, "/v1/patients?per_page=2&sort_by=last_name", w.token).Status(t, 200).Column(t, "patients", "id")
		id, other := ids[0], ids[1]
		want := fmt.Sprint(e.Get(t, "/v1/patients/"+id+"/stats", w.token).Status(t, 200).At(t, "patient_stats"))
		if got := fmt.Sprint(e.Get(t, "/v1/patient_stats/"+id, w.token).Status(t, 200).At(t, "patient_stats")); got != want {
			t.Errorf("by id %s, want %s", got, want)
		}
		if got := e.Get(t, "/v1/patient_stats/"+id+"?fields=total_paid", w.token).Status(t, 200).At(t, "patient_stats").(row); len(got) != 1 {
			t.Errorf("fields=total_paid gives %v", got)
		}
		for query, rows := range map[string]int{
			"":                                    1,
			"&sort_by=last_name&per_page=1":       1,
			"&ids=" + other + "," + id:            1,
			"&page=2":                             0,
			"&cursor=":                            1,
			"&ids=" + other:                       0,
			"&created_before=1990-01-01":          0,
			"&site_id=" + w.homes[id]:             1,
			"&query=zzyzx":                        0,
			"&updated_since=1990-01-01&ids=" + id: 1,
		} {
			list := e.Get(t, "/v1/patient_stats?patient_id="+id+query, w.token).Status(t, 200)
			if got := list.List(t, "patient_stats"); len(got) != rows || rows > 0 && fmt.Sprint(got[0]) != want {
				t.Errorf("patient_id=%s%s gives %v", id, query, got)
			}
			if total := list.At(t, "meta").(row)["total"]; query == "&page=2" && text(total) != "1" || query != "&page=2" && query != "&cursor=" && text(total) != fmt.Sprint(rows) {
				t.Errorf("patient_id=%s%s: total %v, want %d", id, query, total, rows)
			}
		}
		e.Get(t, "/v1/patient_stats?patient_id=x", w.token).Error(t, 400, "invalid_parameter", "patient_id")
	})
}

func TestPatientStatsTakeTheParametersOfPatients(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w := newWorld(t, e)
		for _, query := range []string{
			"per_page=7&page=2", "sort_by=last_name&sort_direction=desc&per_page=30", "active=false", "query=smith", "query=%20", "updated_since=2026-01-01&sort_by=date_of_birth",
			"site_id=" + w.homes["1"] + "&per_page=100",
		} {
			patients, stats := e.Get(t, "/v1/patients?"+query, w.token).Status(t, 200), e.Get(t, "/v1/patient_stats?"+query, w.token).Status(t, 200)
			if got, want := stats.Column(t, "patient_stats", "patient_id"), patients.Column(t, "patients", "id"); !slices.Equal(got, want) {
				t.Errorf("%s: patients %v, want %v", query, got, want)
			}
			if got, want := fmt.Sprint(stats.At(t, "meta")), fmt.Sprint(patients.At(t, "meta")); got != want {
				t.Errorf("%s: meta %s, want %s", query, got, want)
			}
		}
		for _, query := range []string{"page=0", "sort_by=total_paid", "active=perhaps"} {
			e.Get(t, "/v1/patient_stats?"+query, w.token).Error(t, 400, "invalid_parameter")
		}
	})
}

func TestPatientStatsStayInThePracticeAndSite(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w := newWorld(t, e)
		other := e.TokenOf(t, "admin@second.chairside.test", "patient", nil)
		foreign := e.Get(t, "/v1/patients", other).Status(t, 200).Text(t, "patients.0.id")
		for _, path := range []string{"/v1/patients/%s/stats", "/v1/patient_stats/%s"} {
			for _, id := range []string{foreign, "9223372036854775807", "x"} {
				e.Get(t, fmt.Sprintf(path, id), w.token).Error(t, 404, "not_found")
			}
		}
		if got := e.Get(t, "/v1/patient_stats?patient_id="+foreign, w.token).Status(t, 200).List(t, "patient_stats"); len(got) > 0 {
			t.Errorf("patient_id of the other practice gives %v", got)
		}
		e.Get(t, "/v1/patient_stats", e.Token(t, "appointment")).Error(t, 403, "insufficient_scope")

		site, elsewhere := w.homes["1"], ""
		for id, home := range w.homes {
			if home != site {
				elsewhere = id
			}
		}
		limited := e.TokenOf(t, "admin@demo.chairside.test", "patient", siteID(t, site))
		e.Get(t, "/v1/patients/"+elsewhere+"/stats", limited).Error(t, 404, "not_found")
		e.Get(t, "/v1/patient_stats/"+elsewhere, limited).Error(t, 404, "not_found")
		if got := e.Get(t, "/v1/patient_stats?patient_id="+elsewhere, limited).Status(t, 200).List(t, "patient_stats"); len(got) > 0 {
			t.Errorf("patient_id of another site gives %v", got)
		}
		for _, id := range e.Get(t, "/v1/patient_stats?per_page=100", limited).Status(t, 200).Column(t, "patient_stats", "patient_id") {
			if w.homes[id] != site {
				t.Errorf("patient %s of another site is listed", id)
			}
		}
	})
}

func TestTreatmentPlanTotals(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w := newWorld(t, e)
		sums := map[string]int64{}
		for _, i := range w.all(t, "treatment_plan_items", "treatment_plan_items", nil) {
			sums[text(i["treatment_plan_id"])] += hundredths(i["price"])
		}
		for _, p := range w.all(t, "treatment_plans", "treatment_plans", nil) {
			if got, want := hundredths(p["total_gross"]), sums[text(p["id"])]; got != want {
				t.Errorf("plan %v: total_gross %d, want %d", p["id"], got, want)
			}
		}
	})
}

func TestTreatmentAppointmentsAgreeWithPlansAndAppointments(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w := newWorld(t, e)
		patients, positions, booked, open := map[string]string{}, map[string]int{}, 0, 0
		for _, p := range w.all(t, "treatment_plans", "treatment_plans", nil) {
			patients[text(p["id"])] = text(p["patient_id"])
		}
		for _, v := range w.all(t, "treatment_appointments", "treatment_appointments", nil) {
			plan := text(v["treatment_plan_id"])
			if patients[plan] != text(v["patient_id"]) {
				t.Errorf("visit %v is of patient %v, its plan of %s", v["id"], v["patient_id"], patients[plan])
			}
			if positions[plan]++; text(v["position"]) != fmt.Sprint(positions[plan]) {
				t.Errorf("visit %v has position %v, want %d", v["id"], v["position"], positions[plan])
			}
			if v["appointment_id"] == nil {
				open++
				continue
			}
			if booked++; booked > 40 {
				continue
			}
			a := e.Get(t, "/v1/appointments/"+text(v["appointment_id"]), w.token).Status(t, 200)
			if a.Text(t, "appointment.patient_id") != text(v["patient_id"]) || v["bookable"] != false {
				t.Errorf("visit %v does not agree with its appointment", v)
			}
		}
		if booked == 0 || open == 0 {
			t.Errorf("%d visits are booked and %d are not: want some of both", booked, open)
		}
	})
}

// TestDeletedAppointmentOfAPlan: a visit of a plan does not keep its appointment.
func TestDeletedAppointmentOfAPlan(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w := newWorld(t, e)
		for _, v := range w.all(t, "treatment_appointments", "treatment_appointments", nil) {
			if v["appointment_id"] != nil {
				e.Delete(t, "/v1/appointments/"+text(v["appointment_id"]), w.token).Status(t, 204)
				e.Get(t, "/v1/treatment_appointments/"+text(v["id"]), w.token).Status(t, 200)
				return
			}
		}
	})
}
