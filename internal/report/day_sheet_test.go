package report_test

import (
	"encoding/csv"
	"slices"
	"strings"
	"testing"
	"time"

	"chairside/ent"
	"chairside/ent/patient"
	"chairside/internal/civil"
	"chairside/internal/report"
	"chairside/internal/report/render"
	"chairside/internal/seal"
	"chairside/schema"
)

// TestDaySheetMatchesSQL compares the appointments of some days with a SQL query, and the
// gaps with a count of the free minutes in the sessions.
func TestDaySheetMatchesSQL(t *testing.T) {
	for _, date := range []string{"2026-07-01", "2026-06-30", "2026-03-30", "2026-10-25"} {
		t.Run(date, func(t *testing.T) {
			each(t, func(t *testing.T, p practice) {
				sheet := read(t, p, report.DaySheet, report.Filter{To: civil.MustParse(date)})
				placed := `
					SELECT a.*, {seconds a.start_time} AS start, {seconds a.finish_time} AS finish,
						COALESCE((SELECT h.site_id FROM (` + workingHours + `) h
							WHERE h.practitioner_id = a.practitioner_id AND h.weekday = {weekday {seconds a.start_time}}
							AND h.start_minute <= {minute {seconds a.start_time}} AND {minute {seconds a.start_time}} < h.finish_minute), w.site_id) AS site_id
					FROM appointments a JOIN practitioners w ON w.id = a.practitioner_id
					WHERE a.practice_id = {demo} AND a.state NOT IN ('Cancelled', 'Did not attend') AND {day {seconds a.start_time}} = '` + date + `'`
				want := facts(t, p, `
					SELECT a.id, s.name, a.practitioner_id, u.first_name || ' ' || u.last_name, a.start, a.finish, a.state, a.reason, COALESCE(a.notes, ''), COALESCE(r.name, ''),
						COALESCE(b.first_name || ' ' || b.last_name, ''), {seconds a.arrived_at},
						CASE WHEN b.medical_alert THEN 'alert' ELSE '' END
					FROM (`+placed+`) a
					JOIN sites s ON s.id = a.site_id
					JOIN practitioners w ON w.id = a.practitioner_id JOIN users u ON u.id = w.user_id
					LEFT JOIN patients b ON b.id = a.patient_id LEFT JOIN rooms r ON r.id = a.room_id`)
				var got, gaps []string
				free := map[string]int{}
				for i, e := range sheet.Entries {
					if i > 0 {
						before := sheet.Entries[i-1]
						if before.Site > e.Site || before.PractitionerID == e.PractitionerID && before.SiteID == e.SiteID && e.Start.Before(before.Start) {
							t.Errorf("%+v comes after %+v", e, before)
						}
					}
					if e.Kind == report.Gap {
						free[line(e.PractitionerID, e.SiteID)] += e.Minutes
						if e.Minutes < 1 || e.Minutes != int(e.Finish.Sub(e.Start)/time.Minute) {
							t.Errorf("%+v: Minutes does not match its times", e)
						}
						continue
					}
					arrived := any("")
					if e.Arrived != nil {
						arrived = e.Arrived.Unix()
					}
					if (e.Kind == report.Visit) != (e.PatientID != 0) {
						t.Errorf("%+v: wrong kind", e)
					}
					if e.Alert != "" { // its text is sealed: see TestDaySheetShowsMedicalAlerts
						e.Alert = "alert"
					}
					got = append(got, line(e.AppointmentID, e.Site, e.PractitionerID, e.Practitioner, e.Start.Unix(), e.Finish.Unix(), e.State, e.Reason, e.Notes, e.Room, e.Patient, arrived, e.Alert))
				}
				sameRows(t, "appointments", got, want)
				for key, minutes := range free {
					gaps = append(gaps, key+"|"+line(minutes))
				}
				day := civil.MustParse(date)
				first := day.In(p.zone).Unix()
				sameRows(t, "free minutes", gaps, facts(t, p, `
					WITH RECURSIVE minute(at) AS (
						SELECT CAST(`+line(first)+` AS bigint) UNION ALL SELECT at + 60 FROM minute WHERE at + 60 < `+line(day.AddDays(1).In(p.zone).Unix())+`
					), taken AS (
						SELECT DISTINCT a.practitioner_id, m.at FROM (`+placed+`) a JOIN minute m ON a.start <= m.at AND m.at < a.finish
					)
					SELECT h.practitioner_id, h.site_id, count(*)
					FROM minute m
					JOIN (`+workingHours+`) h ON h.weekday = {weekday m.at} AND h.start_minute <= {minute m.at} AND {minute m.at} < h.finish_minute
					JOIN practitioners w ON w.id = h.practitioner_id AND w.active
					LEFT JOIN taken t ON t.practitioner_id = h.practitioner_id AND t.at = m.at
					WHERE t.at IS NULL
					GROUP BY h.practitioner_id, h.site_id`))
				lost := facts(t, p, `
					SELECT count(CASE WHEN state = 'Cancelled' THEN 1 END), count(CASE WHEN state = 'Did not attend' THEN 1 END)
					FROM appointments a WHERE a.practice_id = {demo} AND a.patient_id IS NOT NULL AND {day {seconds a.start_time}} = '`+date+`'`)
				if got := line(sheet.Cancelled, sheet.DidNotAttend); got != lost[0] {
					t.Errorf("cancelled and not attended %s, want %s", got, lost[0])
				}
				if date == "2026-07-01" && (len(want) < 10 || len(gaps) < 2 || !slices.ContainsFunc(want, func(s string) bool { return !strings.HasSuffix(s, "|") })) {
					t.Errorf("%d appointments, %d with gaps: too few to test anything", len(want), len(gaps))
				}
			})
		})
	}
}

func TestDaySheetEntries(t *testing.T) {
	for _, c := range []struct {
		name, date string
		sessions   []worked
		booked     []booked
		inactive   bool     // the practitioner can no longer be booked
		want       []string // kind from-to, in the practice's time
	}{
		{"gaps around appointments", "2026-07-06", []worked{{weekday: time.Monday, start: 540, finish: 600}, {weekday: time.Monday, start: 660, finish: 690}},
			[]booked{{from: "2026-07-06T08:10Z", to: "2026-07-06T08:20Z"}, {from: "2026-07-06T08:15Z", to: "2026-07-06T08:40Z", noPatient: true}},
			false, []string{"Free 09:00-09:10", "Visit 09:10-09:20", "Other 09:15-09:40", "Free 09:40-10:00", "Free 11:00-11:30"}},
		{"cancelled and missed leave gaps", "2026-07-06", []worked{{weekday: time.Monday, start: 540, finish: 600}},
			[]booked{{from: "2026-07-06T08:00Z", to: "2026-07-06T08:20Z", state: schema.Cancelled}, {from: "2026-07-06T08:20Z", to: "2026-07-06T08:40Z", state: schema.DidNotAttend}},
			false, []string{"Free 09:00-10:00"}},
		{"appointments outside sessions and from the previous day", "2026-07-06", []worked{{weekday: time.Monday, start: 0, finish: 60}},
			[]booked{{from: "2026-07-05T22:30Z", to: "2026-07-05T23:20Z"}, {from: "2026-07-06T18:00Z", to: "2026-07-06T18:30Z"}},
			false, []string{"Visit 23:30-00:20", "Free 00:20-01:00", "Visit 19:00-19:30"}},
		{"inactive practitioner has no gaps", "2026-07-06", []worked{{weekday: time.Monday, start: 540, finish: 600}},
			[]booked{{from: "2026-07-06T08:10Z", to: "2026-07-06T08:20Z"}}, true, []string{"Visit 09:10-09:20"}},
		{"repeated hour in autumn", "2026-10-25", []worked{{weekday: time.Sunday, start: 30, finish: 180}},
			[]booked{{from: "2026-10-25T00:30Z", to: "2026-10-25T01:30Z"}}, false, []string{"Free 00:30-01:30", "Visit 01:30-01:30", "Free 01:30-03:00"}},
		{"skipped hour in spring", "2026-03-29", []worked{{weekday: time.Sunday, start: 30, finish: 180}}, nil, false, []string{"Free 00:30-03:00"}},
		{"day off", "2026-07-07", []worked{{weekday: time.Monday, start: 540, finish: 600}}, nil, false, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			each(t, func(t *testing.T, p practice) {
				at := p.site(t, "High Street Dental").ID
				sessions := slices.Clone(c.sessions)
				for i := range sessions {
					sessions[i].site = at
				}
				by := p.hire(t, at, schema.RoleDentist, sessions...)
				p.book(t, by, c.booked...)
				if c.inactive {
					p.dismiss(t, by)
				}
				var got []string
				for _, e := range read(t, p, report.DaySheet, report.Filter{To: civil.MustParse(c.date), PractitionerID: &by}).Entries {
					got = append(got, string(e.Kind)+" "+e.Start.Format("15:04")+"-"+e.Finish.Format("15:04"))
				}
				if !slices.Equal(got, c.want) {
					t.Errorf("got %q, want %q", got, c.want)
				}
			})
		})
	}
}

// TestDaySheetListsSessionsAtTheirSite: a practitioner's session at another site is listed
// at that site, and a caller confined to a site sees only its entries.
func TestDaySheetListsSessionsAtTheirSite(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		high, river := p.site(t, "High Street Dental"), p.site(t, "Riverside Dental")
		by := p.hire(t, high.ID, schema.RoleDentist, worked{river.ID, time.Monday, 540, 600}, worked{high.ID, time.Monday, 660, 720})
		p.book(t, by, booked{from: "2026-07-06T08:10Z", to: "2026-07-06T08:20Z"}, booked{from: "2026-07-06T12:00Z", to: "2026-07-06T12:10Z"})
		f := report.Filter{To: civil.MustParse("2026-07-06")}
		times := func(p practice, f report.Filter) (list []string) {
			for _, e := range read(t, p, report.DaySheet, f).Entries {
				if e.PractitionerID == by {
					list = append(list, e.Site+" "+e.Start.Format("15:04"))
				}
			}
			return list
		}
		atHigh, atRiver := []string{"High Street Dental 11:00", "High Street Dental 13:00"}, []string{"Riverside Dental 09:00", "Riverside Dental 09:10", "Riverside Dental 09:20"}
		if got := times(p, f); !slices.Equal(got, slices.Concat(atHigh, atRiver)) {
			t.Errorf("at all sites: %q", got)
		}
		for site, want := range map[*ent.Site][]string{high: atHigh, river: atRiver} {
			one := f
			one.SiteID = &site.ID
			if got := times(p, one); !slices.Equal(got, want) {
				t.Errorf("at %s: %q", site.Name, got)
			}
		}
		if got := times(p.limited(high), f); !slices.Equal(got, atHigh) {
			t.Errorf("for a caller of the practitioner's own site: %q", got)
		}
		if got := times(p.limited(river), f); len(got) != 0 {
			t.Errorf("for a caller of the other site, who must not see the practitioner: %q", got)
		}
		for _, e := range read(t, p.limited(river), report.DaySheet, f).Entries {
			if e.SiteID != river.ID {
				t.Errorf("a caller of the site sees %+v", e)
			}
		}
		wednesday := f
		wednesday.To = f.To.AddDays(2)
		second := read(t, p.as(t, "second"), report.DaySheet, wednesday)
		if len(second.Entries) == 0 {
			t.Error("the second practice has nothing on a Wednesday")
		}
		for _, e := range second.Entries {
			if strings.Contains(line(times(p, f)), e.Practitioner) || e.Site == high.Name {
				t.Errorf("%+v belongs to the other practice", e)
			}
		}
	})
}

func TestDaySheetShowsMedicalAlerts(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		by := p.hire(t, p.site(t, "High Street Dental").ID, schema.RoleDentist, worked{p.site(t, "High Street Dental").ID, time.Tuesday, 0, 60})
		ids := p.Ent.Patient.Query().Order(patient.ByID()).Limit(3).IDsX(p.ctx)
		p.tx(t, func(tx *ent.Client) error {
			for i, set := range []func(*ent.PatientUpdateOne){
				func(u *ent.PatientUpdateOne) { u.SetMedicalAlert(true).SetMedicalAlertText(seal.Plain("Pacemaker")) },
				func(u *ent.PatientUpdateOne) { u.SetMedicalAlert(true).SetMedicalAlertText(seal.Plain(" ")) },
				func(u *ent.PatientUpdateOne) {
					u.SetMedicalAlert(false).SetMedicalAlertText(seal.Plain("Was pregnant"))
				},
			} {
				u := tx.Patient.UpdateOneID(ids[i])
				set(u)
				if err := u.Exec(p.ctx); err != nil {
					return err
				}
			}
			return nil
		})
		p.book(t, by,
			booked{from: "2026-07-06T08:00Z", to: "2026-07-06T08:10Z", patient: ids[0]},
			booked{from: "2026-07-06T08:10Z", to: "2026-07-06T08:20Z", patient: ids[1], state: schema.Arrived},
			booked{from: "2026-07-06T08:20Z", to: "2026-07-06T08:30Z", patient: ids[2]})
		entries := read(t, p, report.DaySheet, report.Filter{To: civil.MustParse("2026-07-06"), PractitionerID: &by}).Entries
		var alerts []string
		for _, e := range entries {
			alerts = append(alerts, e.Alert)
		}
		if !slices.Equal(alerts, []string{"Pacemaker", "Medical alert", ""}) {
			t.Errorf("alerts %q", alerts)
		}
		if entries[0].Arrived != nil || entries[1].Arrived == nil || entries[1].Arrived.Format("15:04") != "10:15" {
			t.Errorf("arrived %v and %v", entries[0].Arrived, entries[1].Arrived)
		}
	})
}

// TestDaySheetExportsOneTable: the sections of all sites form one table in CSV and JSON.
func TestDaySheetExportsOneTable(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		a := p.ask(t, "day-sheet", report.Filter{To: today.AddDays(-1)}) // both sites are open
		rows := 0
		for _, s := range a.Sections {
			rows += len(s.Rows)
		}
		var text, json strings.Builder
		if err := render.Write(&text, a, render.CSV, render.Options{}); err != nil {
			t.Fatal(err)
		}
		records, err := csv.NewReader(strings.NewReader(text.String())).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		if err := render.Write(&json, a, render.JSON, render.Options{}); err != nil {
			t.Fatal(err)
		}
		if len(a.Sections) < 2 || len(records) != rows+1 || strings.Count(json.String(), `"entries"`) != 1 || strings.Count(json.String(), `"entry"`) != rows {
			t.Errorf("%d sections with %d rows; CSV has %d lines, JSON %d entries", len(a.Sections), rows, len(records), strings.Count(json.String(), `"entry"`))
		}
	})
}

// TestDaySheetCountsAVisitOverMidnightOnce, with its alert: on the day on which it starts. Both days list it.
func TestDaySheetCountsAVisitOverMidnightOnce(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		by := p.hire(t, p.site(t, "High Street Dental").ID, schema.RoleDentist, worked{p.site(t, "High Street Dental").ID, time.Tuesday, 0, 60})
		who := p.Ent.Patient.Query().Order(patient.ByID()).FirstIDX(p.ctx)
		p.tx(t, func(tx *ent.Client) error { return tx.Patient.UpdateOneID(who).SetMedicalAlert(true).Exec(p.ctx) })
		p.book(t, by, booked{from: "2026-07-06T22:50Z", to: "2026-07-06T23:10Z", patient: who}) // 23:50 to 0:10 in summer time
		p.book(t, by, booked{from: "2026-07-06T21:30Z", to: "2026-07-06T22:30Z", patient: who})
		for day, want := range map[string]int64{"2026-07-06": 2, "2026-07-07": 0} {
			f := report.Filter{To: civil.MustParse(day), PractitionerID: &by}
			if !slices.ContainsFunc(read(t, p, report.DaySheet, f).Entries, func(e report.SheetEntry) bool { return e.Minutes == 20 }) {
				t.Errorf("%s does not list it", day)
			}
			a := p.ask(t, "day-sheet", f)
			if visits, alerts := figure(t, a, "visits"), figure(t, a, "alerts"); visits != want || alerts != want {
				t.Errorf("%s: %d visits, %d with an alert, want %d", day, visits, alerts, want)
			}
		}
	})
}
