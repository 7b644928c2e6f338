package report_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"chairside/internal/civil"
	"chairside/internal/report"
	"chairside/schema"
)

// workingHours is SQL for all practitioners' weekly hours, in minutes after midnight. The
// hours of practitioners without sessions are the opening hours of the seeded practice.
const workingHours = `
	SELECT w.practitioner_id, w.site_id, w.weekday, w.start_minute, w.finish_minute
	FROM working_sessions w WHERE w.practice_id = {demo}
	UNION ALL
	SELECT p.id, p.site_id, o.weekday, o.start_minute, o.finish_minute
	FROM practitioners p
	CROSS JOIN (
		SELECT 0 AS weekday, 540 AS start_minute, 780 AS finish_minute UNION ALL SELECT 1, 540, 1020
		UNION ALL SELECT 2, 510, 960 UNION ALL SELECT 3, 540, 1050 UNION ALL SELECT 4, 510, 960 UNION ALL SELECT 5, 540, 1020
		UNION ALL SELECT 6, 540, 780) o
	WHERE p.practice_id = {demo} AND NOT EXISTS (SELECT 1 FROM working_sessions w WHERE w.practitioner_id = p.id)`

// TestDiaryMinutesMatchSQL compares the report with SQL that counts, minute by minute, when
// each practitioner is in a session and when booked.
func TestDiaryMinutesMatchSQL(t *testing.T) {
	for _, c := range []struct{ name, from, to, start, end string }{
		{"over the end of a month", "2026-06-24", "2026-07-04", "2026-06-23 23:00", "2026-07-04 23:00"},
		{"over the spring change", "2026-03-26", "2026-04-01", "2026-03-26 00:00", "2026-04-01 23:00"},
		{"over the autumn change", "2026-10-23", "2026-10-27", "2026-10-22 23:00", "2026-10-28 00:00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			each(t, func(t *testing.T, p practice) {
				high := p.site(t, "High Street Dental").ID
				owl := p.hire(t, high, schema.RoleDentist, worked{high, time.Sunday, 30, 240}, worked{high, time.Saturday, 1380, 1440}, worked{high, time.Sunday, 0, 10})
				p.book(t, owl,
					booked{from: "2026-03-29T00:15Z", to: "2026-03-29T01:45Z"}, booked{from: "2026-03-29T01:30Z", to: "2026-03-29T02:00Z", noPatient: true},
					booked{from: "2026-10-25T00:10Z", to: "2026-10-25T01:50Z"}, booked{from: "2026-10-25T03:30Z", to: "2026-10-25T06:00Z"},
					booked{from: "2026-06-27T22:30Z", to: "2026-06-27T23:20Z"},
				)
				seconds := func(at string) string {
					if p.Dialect == "postgres" {
						return "CAST(EXTRACT(EPOCH FROM TIMESTAMPTZ '" + at + "Z') AS bigint)"
					}
					return "unixepoch('" + at + "')"
				}
				want := facts(t, p, `
					WITH RECURSIVE minute(at) AS (
						SELECT `+seconds(c.start)+` UNION ALL SELECT at + 60 FROM minute WHERE at + 60 < `+seconds(c.end)+`
					), clock AS (
						SELECT at, {weekday at} AS weekday, {minute at} AS minute, {month at} AS month FROM minute
					), hours AS (`+workingHours+`
					), worked AS (
						SELECT DISTINCT h.practitioner_id, h.site_id, c.month, c.at
						FROM clock c JOIN hours h ON h.weekday = c.weekday AND h.start_minute <= c.minute AND c.minute < h.finish_minute
					), booked AS (
						SELECT a.practitioner_id, a.patient_id, {seconds a.start_time} AS start, {seconds a.finish_time} AS finish
						FROM appointments a WHERE a.practice_id = {demo} AND a.state NOT IN ('Cancelled', 'Did not attend')
						AND {seconds a.finish_time} > `+seconds(c.start)+` AND {seconds a.start_time} < `+seconds(c.end)+`
					), taken AS (
						SELECT DISTINCT b.practitioner_id, m.at FROM booked b JOIN minute m ON b.start <= m.at AND m.at < b.finish WHERE b.patient_id IS NOT NULL
					), blocked AS (
						SELECT DISTINCT b.practitioner_id, m.at FROM booked b JOIN minute m ON b.start <= m.at AND m.at < b.finish WHERE b.patient_id IS NULL
					)
					SELECT w.practitioner_id, w.site_id, w.month,
						count(CASE WHEN s.at IS NULL THEN 1 END), count(CASE WHEN s.at IS NULL THEN t.at END), count(s.at)
					FROM worked w
					JOIN practitioners p ON p.id = w.practitioner_id AND p.active
					LEFT JOIN taken t ON t.practitioner_id = w.practitioner_id AND t.at = w.at
					LEFT JOIN blocked s ON s.practitioner_id = w.practitioner_id AND s.at = w.at
					GROUP BY w.practitioner_id, w.site_id, w.month`)
				var got []string
				for _, row := range read(t, p, report.Diary, period(c.from, c.to)) {
					if row.Free+row.Booked != row.Session {
						t.Errorf("%+v does not add up", row)
					}
					if row.Session+row.Blocked > 0 {
						got = append(got, line(row.PractitionerID, row.SiteID, row.Month.String()[:7], row.Session, row.Booked, row.Blocked))
					}
				}
				sameRows(t, "rows", got, want)
			})
		})
	}
}

// TestDiaryCountsMatchSQL compares the numbers of appointments with SQL that counts the
// appointments of a whole year.
func TestDiaryCountsMatchSQL(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		want := facts(t, p, `
			WITH hours AS (`+workingHours+`
			), dated AS (
				SELECT a.*, {seconds a.start_time} AS at, {seconds a.cancelled_at} AS cancelled
				FROM appointments a WHERE a.practice_id = {demo} AND a.patient_id IS NOT NULL
			), placed AS (
				SELECT d.practitioner_id, d.state, d.duration, d.at, d.cancelled,
					COALESCE((SELECT h.site_id FROM hours h
						WHERE h.practitioner_id = d.practitioner_id AND h.weekday = {weekday d.at} AND h.start_minute <= {minute d.at} AND {minute d.at} < h.finish_minute), p.site_id) AS site_id
				FROM dated d JOIN practitioners p ON p.id = d.practitioner_id
				WHERE {day d.at} BETWEEN '2025-07-01' AND '2026-06-30'
			)
			SELECT practitioner_id, site_id, {month at},
				count(CASE WHEN state <> 'Cancelled' THEN 1 END),
				count(CASE WHEN state = 'Cancelled' THEN 1 END),
				count(CASE WHEN state = 'Cancelled' AND cancelled > at - 86400 THEN 1 END),
				count(CASE WHEN state = 'Did not attend' THEN 1 END),
				COALESCE(sum(CASE WHEN state = 'Did not attend' OR state = 'Cancelled' AND cancelled > at - 86400 THEN duration END), 0)
			FROM placed GROUP BY practitioner_id, site_id, {month at}`)
		var got []string
		for _, row := range read(t, p, report.Diary, period("2025-07-01", "2026-06-30")) {
			if row.Due+row.Cancelled > 0 {
				got = append(got, line(row.PractitionerID, row.SiteID, row.Month.String()[:7], row.Due, row.Cancelled, row.ShortNotice, row.DidNotAttend, row.Lost))
			}
		}
		sameRows(t, "rows", got, want)
	})
}

func TestDiaryRows(t *testing.T) {
	const mon, tue = time.Monday, time.Tuesday
	for _, c := range []struct {
		name     string
		sessions []worked // at High Street, or at Riverside if site is uuid.Max
		booked   []booked
		inactive bool // the practitioner can no longer be booked
		from, to string
		want     []string // month|site|session|blocked|booked|free|outside|due|cancelled|short notice|did not attend|lost
	}{
		{"spring: an hour is skipped", []worked{{weekday: time.Sunday, start: 30, finish: 240}}, nil, false, "2026-03-29", "2026-03-29", []string{
			"2026-03|High Street Dental|150|0|0|150|0|0|0|0|0|0"}},
		{"autumn: an hour is repeated", []worked{{weekday: time.Sunday, start: 30, finish: 240}}, []booked{{from: "2026-10-25T00:00Z", to: "2026-10-25T02:00Z"}}, false, "2026-10-25", "2026-10-25", []string{
			"2026-10|High Street Dental|270|0|120|150|0|1|0|0|0|0"}},
		{"over midnight at the end of a month", []worked{{weekday: tue, start: 1380, finish: 1440}, {weekday: time.Wednesday, start: 0, finish: 60}},
			[]booked{{from: "2026-06-30T22:30Z", to: "2026-06-30T23:30Z"}}, false, "2026-06-30", "2026-07-01", []string{
				"2026-06|High Street Dental|60|0|30|30|0|1|0|0|0|0", "2026-07|High Street Dental|60|0|30|30|0|0|0|0|0|0"}},
		{"appointment that started before the period", []worked{{weekday: time.Wednesday, start: 0, finish: 60}}, []booked{{from: "2026-06-30T22:30Z", to: "2026-06-30T23:30Z"}}, false, "2026-07-01", "2026-07-01", []string{
			"2026-07|High Street Dental|60|0|30|30|0|0|0|0|0|0"}},
		{"double-booked, and outside sessions", []worked{{weekday: mon, start: 540, finish: 600}},
			[]booked{{from: "2026-07-06T08:00Z", to: "2026-07-06T08:30Z"}, {from: "2026-07-06T08:15Z", to: "2026-07-06T08:40Z", noPatient: true}, {from: "2026-07-06T08:50Z", to: "2026-07-06T09:20Z"}, {from: "2026-07-06T09:10Z", to: "2026-07-06T09:30Z"}}, false,
			"2026-07-06", "2026-07-06", []string{"2026-07|High Street Dental|35|25|25|10|45|3|0|0|0|0"}},
		{"a closed day is not full", []worked{{weekday: mon, start: 540, finish: 600}}, []booked{{from: "2026-07-06T08:00Z", to: "2026-07-06T09:00Z", noPatient: true}}, false,
			"2026-07-06", "2026-07-06", []string{"2026-07|High Street Dental|0|60|0|0|0|0|0|0|0|0"}},
		{"a patient on a closed day is outside sessions", []worked{{weekday: mon, start: 540, finish: 600}},
			[]booked{{from: "2026-07-06T07:50Z", to: "2026-07-06T09:00Z", noPatient: true}, {from: "2026-07-06T08:30Z", to: "2026-07-06T08:45Z"}}, false,
			"2026-07-06", "2026-07-06", []string{"2026-07|High Street Dental|0|60|0|0|15|1|0|0|0|0"}},
		{"a meeting after work blocks nothing", []worked{{weekday: mon, start: 540, finish: 600}}, []booked{{from: "2026-07-06T08:50Z", to: "2026-07-06T10:00Z", noPatient: true}}, false,
			"2026-07-06", "2026-07-06", []string{"2026-07|High Street Dental|50|10|0|50|0|0|0|0|0|0"}},
		{"cancelled and missed", []worked{{weekday: mon, start: 540, finish: 600}}, []booked{
			{from: "2026-07-06T08:00Z", to: "2026-07-06T08:30Z", state: schema.Cancelled, cancelled: "2026-07-05T08:00Z"}, // exactly 24 hours before: not short notice
			{from: "2026-07-06T08:00Z", to: "2026-07-06T08:20Z", state: schema.Cancelled, cancelled: "2026-07-05T08:01Z"},
			{from: "2026-07-06T08:00Z", to: "2026-07-06T08:10Z", state: schema.Cancelled, cancelled: "2026-07-06T09:00Z"},
			{from: "2026-07-06T08:00Z", to: "2026-07-06T08:10Z", state: schema.Cancelled, cancelled: "2026-07-06T09:00Z", noPatient: true},
			{from: "2026-07-06T08:30Z", to: "2026-07-06T08:45Z", state: schema.DidNotAttend},
			{from: "2026-07-06T08:30Z", to: "2026-07-06T08:45Z"},
		}, false, "2026-07-06", "2026-07-06", []string{"2026-07|High Street Dental|60|0|15|45|0|2|3|2|1|45"}},
		{"two sites", []worked{{weekday: mon, start: 540, finish: 600}, {site: uuid.Max, weekday: mon, start: 660, finish: 720}},
			[]booked{{from: "2026-07-06T08:45Z", to: "2026-07-06T10:15Z"}, {from: "2026-07-06T10:30Z", to: "2026-07-06T10:50Z"}, {from: "2026-07-06T12:00Z", to: "2026-07-06T12:10Z"}}, false,
			"2026-07-06", "2026-07-06", []string{"2026-07|High Street Dental|60|0|15|45|70|2|0|0|0|0", "2026-07|Riverside Dental|60|0|35|25|0|1|0|0|0|0"}},
		{"inactive practitioner has sessions in months with bookings", []worked{{weekday: mon, start: 540, finish: 600}}, []booked{{from: "2026-06-29T08:00Z", to: "2026-06-29T08:15Z"}}, true,
			"2026-06-01", "2026-07-31", []string{"2026-06|High Street Dental|300|0|15|285|0|1|0|0|0|0"}},
		{"opening hours", nil, []booked{{from: "2026-07-04T12:00Z", to: "2026-07-04T13:00Z"}}, false, "2026-07-03", "2026-07-05", []string{"2026-07|High Street Dental|960|0|0|960|60|1|0|0|0|0"}},
		{"no session in the period", []worked{{weekday: mon, start: 540, finish: 600}}, nil, false, "2026-07-07", "2026-07-12", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			each(t, func(t *testing.T, p practice) {
				high, river := p.site(t, "High Street Dental").ID, p.site(t, "Riverside Dental").ID
				sessions := slices.Clone(c.sessions)
				for i := range sessions {
					if sessions[i].site == uuid.Max {
						sessions[i].site = river
					} else {
						sessions[i].site = high
					}
				}
				by := p.hire(t, high, schema.RoleDentist, sessions...)
				p.book(t, by, c.booked...)
				if c.inactive {
					p.dismiss(t, by)
				}
				f := period(c.from, c.to)
				f.PractitionerID = &by
				var got []string
				for _, r := range read(t, p, report.Diary, f) {
					got = append(got, line(r.Month.String()[:7], r.Site, r.Session, r.Blocked, r.Booked, r.Free, r.Outside, r.Due, r.Cancelled, r.ShortNotice, r.DidNotAttend, r.Lost))
				}
				if !slices.Equal(got, c.want) {
					t.Errorf("got %q, want %q", got, c.want)
				}
			})
		})
	}
}

// TestDiaryMatchesMinuteCount makes random bookings and sessions around a clock change, and
// compares the report with a count of minutes.
func TestDiaryMatchesMinuteCount(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		high := p.site(t, "High Street Dental").ID
		random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same each time
		first := time.Date(2026, 10, 23, 0, 0, 0, 0, time.UTC)
		for range 12 {
			var sessions []worked
			for range random.IntN(6) {
				start := 5 * random.IntN(270)
				sessions = append(sessions, worked{high, []time.Weekday{time.Friday, time.Saturday, time.Sunday, time.Monday}[random.IntN(4)], start, min(start+5*(1+random.IntN(80)), 1440)})
			}
			if len(sessions) == 0 {
				sessions = append(sessions, worked{high, time.Wednesday, 0, 1440})
			}
			by := p.hire(t, high, schema.RoleDentist, sessions...)
			var all []booked
			for range random.IntN(25) {
				from := first.Add(time.Duration(random.IntN(4*24*60)) * time.Minute)
				all = append(all, booked{
					from: from.Format("2006-01-02T15:04Z07:00"), to: from.Add(time.Duration(1+random.IntN(120)) * time.Minute).Format("2006-01-02T15:04Z07:00"),
					state:     []schema.AppointmentState{schema.Pending, schema.Completed, schema.Cancelled, schema.DidNotAttend}[random.IntN(4)],
					noPatient: random.IntN(4) == 0,
				})
			}
			p.book(t, by, all...)
			f := period("2026-10-23", "2026-10-26")
			f.PractitionerID = &by
			want := countMinutes(t, sessions, all, f)
			var sum report.DiaryRow
			for _, row := range read(t, p, report.Diary, f) {
				if row.Free+row.Booked != row.Session || row.Free < 0 || row.Booked < 0 {
					t.Errorf("%+v does not add up", row)
				}
				sum.Session += row.Session
				sum.Blocked += row.Blocked
				sum.Booked += row.Booked
				sum.Outside += row.Outside
			}
			if got := line(sum.Session, sum.Blocked, sum.Booked, sum.Outside); got != line(want.Session, want.Blocked, want.Booked, want.Outside) {
				t.Errorf("session, blocked, booked and outside are %s, want %+v, with %v and %v", got, want, sessions, all)
			}
		}
	})
}

// countMinutes counts the minutes of a period one by one. A session that touches an hour
// repeated by a clock change lasts from the first occurrence of its start to the second
// occurrence of its end.
func countMinutes(t *testing.T, sessions []worked, all []booked, f report.Filter) (sum report.DiaryRow) {
	t.Helper()
	zone, err := time.LoadLocation("Europe/London")
	if err != nil {
		t.Fatal(err)
	}
	type stretch struct{ from, to time.Time }
	var work, busy, blocked []stretch
	for day := f.From; !f.To.Before(day); day = day.AddDays(1) {
		for _, s := range sessions {
			if s.weekday == day.Weekday() {
				work = append(work, stretch{day.FirstAt(s.start, zone), day.LastAt(s.finish, zone)})
			}
		}
	}
	for _, b := range all {
		switch {
		case !b.state.Blocks():
		case b.noPatient:
			blocked = append(blocked, stretch{instant(t, b.from), instant(t, b.to)})
		default:
			busy = append(busy, stretch{instant(t, b.from), instant(t, b.to)})
		}
	}
	in := func(list []stretch, at time.Time) bool {
		return slices.ContainsFunc(list, func(s stretch) bool { return !at.Before(s.from) && at.Before(s.to) })
	}
	for at := f.From.In(zone); at.Before(f.To.AddDays(1).In(zone)); at = at.Add(time.Minute) {
		works, shut, booked := in(work, at), in(blocked, at), in(busy, at)
		if works && shut {
			sum.Blocked++
		}
		switch works = works && !shut; {
		case works && booked:
			sum.Session++
			sum.Booked++
		case works:
			sum.Session++
		case booked:
			sum.Outside++
		}
	}
	return sum
}

func TestDiaryIsConfinedToCallersSite(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		high := p.site(t, "High Street Dental").ID
		f := period("2026-05-01", "2026-06-30")
		all := read(t, p, report.Diary, f)
		limited := read(t, p.limited(p.site(t, "High Street Dental")), report.Diary, f)
		if len(limited) == 0 || len(limited) >= len(all) {
			t.Fatalf("%d rows of %d", len(limited), len(all))
		}
		for _, row := range limited {
			if row.SiteID != high || !slices.Contains(all, row) {
				t.Errorf("%+v does not belong to the site", row)
			}
		}
		f.SiteID = &high
		asked := read(t, p, report.Diary, f)
		visitors := 0 // practitioners of another site, whom the confined caller must not see
		for _, row := range asked {
			if row.SiteID != high {
				t.Errorf("%+v belongs to another site", row)
			}
			if !slices.Contains(limited, row) {
				visitors++
			}
		}
		if len(asked) != len(limited)+visitors || visitors == 0 {
			t.Errorf("%d rows for the site, %d of them of visiting practitioners, and %d for its caller", len(asked), visitors, len(limited))
		}
	})
}

func TestDiaryExcludesOtherPractices(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		f := period("2026-06-01", "2026-06-30")
		ours, theirs := read(t, p, report.Diary, f), read(t, p.as(t, "second"), report.Diary, f)
		seen := map[int64]bool{}
		for _, row := range ours {
			seen[row.PractitionerID] = true
		}
		for _, row := range theirs {
			if seen[row.PractitionerID] {
				t.Errorf("%+v belongs to both practices", row)
			}
		}
		if len(theirs) != 3 {
			t.Errorf("%d rows of the second practice, want 3", len(theirs))
		}
	})
}

func TestDiaryOfLongPeriodEqualsItsMonths(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		f := period("2024-03-15", "2026-12-20")
		whole := read(t, p, report.Diary, f)
		sum := func(rows []report.DiaryRow) (s report.DiaryRow) {
			for _, r := range rows {
				s.Session, s.Booked, s.Outside, s.Due, s.Cancelled = s.Session+r.Session, s.Booked+r.Booked, s.Outside+r.Outside, s.Due+r.Due, s.Cancelled+r.Cancelled
			}
			return s
		}
		var parts []report.DiaryRow
		for from := f.From; !f.To.Before(from); {
			to := civil.Date{Year: from.Year, Month: from.Month, Day: 1}.AddMonths(1).AddDays(-1)
			if f.To.Before(to) {
				to = f.To
			}
			parts = append(parts, read(t, p, report.Diary, report.Filter{From: from, To: to})...)
			from = to.AddDays(1)
		}
		if sum(whole) != sum(parts) || len(whole) != len(parts) {
			t.Errorf("%+v at once, %+v month by month", sum(whole), sum(parts))
		}
	})
}
