package seed

import (
	"slices"
	"testing"
	"time"

	"chairside/internal/civil"
)

// TestBankHolidays compares some years with their calendars.
func TestBankHolidays(t *testing.T) {
	for year, want := range map[int][]string{
		2024: {"2024-01-01", "2024-03-29", "2024-04-01", "2024-05-06", "2024-05-27", "2024-08-26", "2024-12-25", "2024-12-26"},
		2026: {"2026-01-01", "2026-04-03", "2026-04-06", "2026-05-04", "2026-05-25", "2026-08-31", "2026-12-25", "2026-12-26", "2026-12-28"}, // Boxing Day is a Saturday
		2027: {"2027-01-01", "2027-03-26", "2027-03-29", "2027-05-03", "2027-05-31", "2027-08-30", "2027-12-25", "2027-12-26", "2027-12-27", "2027-12-28"},
		2028: {"2028-01-01", "2028-01-03", "2028-04-14", "2028-04-17", "2028-05-01", "2028-05-29", "2028-08-28", "2028-12-25", "2028-12-26"},
		2033: {"2033-01-01", "2033-01-03", "2033-04-15", "2033-04-18", "2033-05-02", "2033-05-30", "2033-08-29", "2033-12-25", "2033-12-26", "2033-12-27"}, // Christmas Day is a Sunday
	} {
		var got []string
		for _, h := range bankHolidays(year) {
			if h.name == "" {
				t.Errorf("%s has no name", h.date)
			}
			got = append(got, h.date.String())
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%d: %v, want %v", year, got, want)
		}
	}
}

func TestEaster(t *testing.T) {
	for _, want := range []string{"2000-04-23", "2008-03-23", "2024-03-31", "2025-04-20", "2026-04-05", "2027-03-28", "2028-04-16", "2038-04-25", "2285-03-22"} {
		if got := easter(civil.MustParse(want).Year); got.String() != want {
			t.Errorf("Easter is on %s, want %s", got, want)
		}
	}
}

func TestWeekendBetweenHolidaysIsClosed(t *testing.T) {
	for date, want := range map[string]bool{
		"2026-12-24": false, "2026-12-26": true, "2026-12-27": true, "2026-12-29": false, // Friday to Monday at Christmas
		"2027-03-25": false, "2027-03-27": true, "2027-03-28": true, "2027-03-30": false, // Easter
		"2026-05-02": false, "2026-05-03": false, // before the Monday of May
		"2027-01-02": false, "2027-01-03": false, // after New Year's Day
	} {
		if got := closed(civil.MustParse(date)) != ""; got != want {
			t.Errorf("%s is closed: %t", date, got)
		}
	}
}

// TestPracticeIsClosedOnHolidays checks that no patient has, had or was to have an appointment on
// such a day, and that the shifts of everybody who works there are blocked.
func TestPracticeIsClosedOnHolidays(t *testing.T) {
	for _, day := range asOf {
		t.Run(day, func(t *testing.T) {
			t.Parallel()
			o, zone := demo, london(t)
			o.AsOf = civil.MustParse(day)
			b := generated(t, o)
			blocked := map[int64]map[civil.Date]int{} // minutes
			for _, a := range b.appointments {
				date := civil.Of(a.StartTime.In(zone))
				switch {
				case closed(date) == "":
				case a.PatientID != nil:
					t.Errorf("%s: appointment %d with practitioner %d", date, a.ID, a.PractitionerID)
				default:
					if blocked[a.PractitionerID] == nil {
						blocked[a.PractitionerID] = map[civil.Date]int{}
					}
					blocked[a.PractitionerID][date] += a.Duration
				}
			}
			for _, i := range b.invoices {
				if closed(i.DatedOn) != "" {
					t.Errorf("%s: invoice %d", i.DatedOn, i.ID)
				}
			}
			for _, p := range b.payments {
				if closed(p.DatedOn) != "" {
					t.Errorf("%s: payment %d", p.DatedOn, p.ID)
				}
			}
			seen := 0
			for date := o.AsOf.AddMonths(-12); date.Before(o.AsOf.AddDays(daysAhead)); date = date.AddDays(1) {
				if closed(date) == "" {
					continue
				}
				seen++
				work := map[int64]int{}
				for _, s := range b.workingSessions {
					if time.Weekday(s.Weekday) == date.Weekday() && !hasLeft(b, s.PractitionerID) {
						work[s.PractitionerID] += s.FinishMinute - s.StartMinute
					}
				}
				for id, minutes := range work {
					if blocked[id][date] != minutes {
						t.Errorf("%s: %d of %d minutes of practitioner %d are blocked", date, blocked[id][date], minutes, id)
					}
				}
			}
			if seen < 10 { // 18 months
				t.Errorf("%d days are closed", seen)
			}
		})
	}
}
