package report_test

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"chairside/ent"
	"chairside/internal/civil"
	"chairside/internal/report"
	"chairside/internal/test/harness"
	"chairside/schema"
)

// TestLostAppointmentsMatchMinutes compares the report with a count of single minutes, and the
// amounts with SQL and fractions.
func TestLostAppointmentsMatchMinutes(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		for _, f := range []report.Filter{period("2025-07-02", "2026-07-01"), period("2026-03-01", "2026-04-05"), period("2025-10-26", "2025-10-26")} {
			a := p.ask(t, "lost-appointments", f)
			got := map[string][]int64{}
			for _, line := range cells(t, a, "practitioners", "practitioner_id", "lost", "did_not_attend", "short_notice_cancellations", "lost_minutes", "filled_minutes", "empty_minutes", "value") {
				parts := strings.Split(line, "|")
				if got[parts[0]] == nil {
					got[parts[0]] = make([]int64, 7)
				}
				for i, text := range parts[1:] { // all sites
					n, _ := strconv.ParseInt(text, 10, 64)
					got[parts[0]][i] += n
				}
			}
			want := p.lost(t, f)
			sameRows(t, f.From.String(), flat(got), flat(want))
			if days := f.To.Time().Sub(f.From.Time()); len(want) == 0 && days > 0 {
				t.Errorf("%s: nothing is lost: too little to test anything", f.From)
			}
			if value := figure(t, a, "value"); value == 0 && len(want) > 0 {
				t.Errorf("%s: nothing has a value", f.From)
			}
		}
	})
}

// lost counts the minutes of the appointments that each practitioner lost.
func (p practice) lost(t *testing.T, f report.Filter) map[string][]int64 {
	t.Helper()
	year := f.To.AddDays(1).AddMonths(-12)
	money := p.numbers(t, fmt.Sprintf(`SELECT it.practitioner_id, CAST(SUM(it.total_price) AS bigint) FROM invoice_items it JOIN invoices i ON i.id = it.invoice_id
		WHERE i.practice_id = %s AND i.status <> 'void' AND it.practitioner_id IS NOT NULL AND i.dated_on BETWEEN '%s' AND '%s' GROUP BY 1`, ours, year, f.To))
	attended := map[int64]int64{}
	var lost []*ent.Appointment
	busy := map[int64]map[int64]bool{}
	inside := func(at time.Time, from civil.Date) bool {
		day := civil.Of(at.In(p.zone))
		return !day.Before(from) && !f.To.Before(day)
	}
	for _, a := range p.Ent.Appointment.Query().AllX(p.ctx) {
		by := a.PractitionerID
		if busy[by] == nil {
			busy[by] = map[int64]bool{}
		}
		switch {
		case a.State != schema.Cancelled && a.State != schema.DidNotAttend:
			for at := a.StartTime.Unix() / 60; at < a.FinishTime.Unix()/60; at++ {
				busy[by][at] = true
			}
			if a.PatientID != nil && inside(a.StartTime, year) && a.StartTime.Before(harness.Now) {
				attended[by] += int64(a.FinishTime.Sub(a.StartTime).Minutes())
			}
		case a.PatientID == nil || !inside(a.StartTime, f.From):
		case a.State == schema.DidNotAttend || a.StartTime.Sub(*a.CancelledAt) < 24*time.Hour:
			lost = append(lost, a)
		}
	}
	slices.SortFunc(lost, func(a, b *ent.Appointment) int {
		if order := a.StartTime.Compare(b.StartTime); order != 0 {
			return order
		}
		return int(a.ID - b.ID)
	})
	sums := map[string][]int64{}
	for _, a := range lost {
		by, v := a.PractitionerID, make([]int64, 7)
		v[0], v[1] = 1, 1
		if a.State == schema.Cancelled {
			v[1], v[2] = 0, 1
		}
		for at := a.StartTime.Unix() / 60; at < a.FinishTime.Unix()/60; at++ {
			v[3]++
			if busy[by][at] {
				v[4]++
			} else {
				v[5]++
			}
			busy[by][at] = true
		}
		if attended[by] > 0 {
			value := big.NewRat(money[by]*v[5], attended[by])
			v[6], _ = strconv.ParseInt(value.FloatString(0), 10, 64)
		}
		key := fmt.Sprint(by)
		if sums[key] == nil {
			sums[key] = make([]int64, 7)
		}
		for i := range v {
			sums[key][i] += v[i]
		}
	}
	return sums
}

// numbers runs a query and returns its second column by its first one.
func (p practice) numbers(t *testing.T, query string) map[int64]int64 {
	t.Helper()
	all := map[int64]int64{}
	for _, line := range p.rows(t, query) {
		var key, value int64
		if _, err := fmt.Sscanf(line, "%d|%d", &key, &value); err != nil {
			t.Fatal(err)
		}
		all[key] = value
	}
	return all
}

func TestLostTimeCountsOnce(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		high := p.site(t, "High Street Dental")
		const late, early = "2026-05-30T10:00Z", "2026-05-30T08:59Z"
		for _, c := range []struct {
			name                 string
			booked               []booked
			lost, filled, vacant int64
		}{
			{"a missed one", []booked{{from: "2026-05-31T09:00Z", to: "2026-05-31T10:00Z", state: schema.DidNotAttend}}, 60, 0, 60},
			{"cancelled exactly a day before", []booked{{from: "2026-05-31T09:00Z", to: "2026-05-31T10:00Z", state: schema.Cancelled, cancelled: "2026-05-30T09:00Z"}}, 0, 0, 0},
			{"cancelled later", []booked{{from: "2026-05-31T09:00Z", to: "2026-05-31T10:00Z", state: schema.Cancelled, cancelled: "2026-05-30T09:01Z"}}, 60, 0, 60},
			{"cancelled earlier", []booked{{from: "2026-05-31T09:00Z", to: "2026-05-31T10:00Z", state: schema.Cancelled, cancelled: early}}, 0, 0, 0},
			{"a break", []booked{{from: "2026-05-31T09:00Z", to: "2026-05-31T10:00Z", state: schema.DidNotAttend, noPatient: true}}, 0, 0, 0},
			{"filled in part", []booked{
				{from: "2026-05-31T09:00Z", to: "2026-05-31T10:00Z", state: schema.Cancelled, cancelled: late},
				{from: "2026-05-31T08:30Z", to: "2026-05-31T09:20Z"}, {from: "2026-05-31T09:10Z", to: "2026-05-31T09:30Z", noPatient: true},
			}, 60, 30, 30},
			{"filled by a patient who does not attend", []booked{
				{from: "2026-05-31T09:00Z", to: "2026-05-31T10:00Z", state: schema.Cancelled, cancelled: late},
				{from: "2026-05-31T09:30Z", to: "2026-05-31T10:30Z", state: schema.DidNotAttend},
			}, 120, 30, 90},
			{"over the end of the month", []booked{
				{from: "2026-05-31T22:30Z", to: "2026-05-31T23:30Z", state: schema.DidNotAttend}, {from: "2026-05-31T23:10Z", to: "2026-05-31T23:40Z"},
			}, 60, 20, 40},
			{"from midnight", []booked{{from: "2026-05-31T23:00Z", to: "2026-06-01T00:00Z", state: schema.DidNotAttend}}, 0, 0, 0},
		} {
			f := period("2026-05-31", "2026-05-31")
			id := p.hire(t, high.ID, schema.RoleDentist)
			p.book(t, id, c.booked...)
			f.PractitionerID = &id
			a := p.ask(t, "lost-appointments", f)
			var lost, filled, vacant int64
			for _, line := range cells(t, a, "months", "lost_minutes", "filled_minutes", "empty_minutes") {
				if _, err := fmt.Sscanf(line, "%d|%d|%d", &lost, &filled, &vacant); err != nil {
					t.Fatal(err)
				}
			}
			if lost != c.lost || filled != c.filled || vacant != c.vacant {
				t.Errorf("%s: lost %d minutes, %d filled again, %d left empty", c.name, lost, filled, vacant)
			}
		}
	})
}
