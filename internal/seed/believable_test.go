package seed

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/internal/civil"
	"chairside/internal/decimal"
	"chairside/schema"
)

// everybody stands for all practitioners together.
const everybody = 0

// week is a practitioner's week, counted from the one of the last day.
type week struct {
	practitioner int64
	number       int
}

// usedWeeks returns what percentage of their working sessions is booked in the practitioners' and
// everybody's weeks around the last day, as the diary report counts it. It leaves out days on which
// the practice is closed, and practitioners who have left.
func usedWeeks(b *batch, now civil.Date, zone *time.Location, from, to int) map[week]int {
	monday := now.AddDays(-(int(now.Weekday()) + 6) % 7)
	session, booked := map[week]int{}, map[week]int{}
	for number := from; number <= to; number++ {
		for _, s := range b.workingSessions {
			date := monday.AddDays(7*number + (s.Weekday+6)%7)
			if closed(date) == "" && !hasLeft(b, s.PractitionerID) {
				session[week{s.PractitionerID, number}] += s.FinishMinute - s.StartMinute
				session[week{everybody, number}] += s.FinishMinute - s.StartMinute
			}
		}
	}
	for _, a := range b.appointments {
		date := civil.Of(a.StartTime.In(zone))
		number := (days(monday, date)+700)/7 - 100
		if number >= from && number <= to && a.State.Blocks() && closed(date) == "" && !hasLeft(b, a.PractitionerID) {
			booked[week{a.PractitionerID, number}] += a.Duration
			booked[week{everybody, number}] += a.Duration
		}
	}
	used := map[week]int{}
	for w, minutes := range session {
		used[w] = 100 * booked[w] / minutes
	}
	return used
}

// hasLeft reports whether a practitioner has left.
func hasLeft(b *batch, id int64) bool {
	return slices.ContainsFunc(b.practitioners, func(p ent.Practitioner) bool { return p.ID == id && !p.Active })
}

// asOf are days on which a demo may start: of each kind of day of the week, month and year, and
// those on which clocks change.
var asOf = []string{
	"2026-07-01", "2026-11-28", "2026-11-29", "2026-11-30", "2026-12-25", "2026-12-31", "2027-01-01",
	"2027-03-28", "2027-03-31", "2027-04-01", "2026-10-25", "2028-02-29", "2026-08-04", "2026-08-06", "2026-08-07",
}

// TestDiariesAreFullAroundToday checks that working sessions are booked for about 80% from four weeks
// ago to next week, and for less and less after that, and that at ten o'clock of any day on which the
// practice is open a patient is in surgery. A week of one practitioner varies more, when patients miss
// their visits.
func TestDiariesAreFullAroundToday(t *testing.T) {
	for _, day := range asOf {
		t.Run(day, func(t *testing.T) {
			t.Parallel()
			o, zone := demo, london(t)
			o.AsOf = civil.MustParse(day)
			b := generated(t, o)
			for w, percent := range usedWeeks(b, o.AsOf, zone, -4, 1) {
				if least, most := pickIf(w.practitioner == everybody, 75, 50), pickIf(w.practitioner == everybody, 90, 95); percent < least || percent > most {
					t.Errorf("practitioner %d is booked for %d%% of week %d", w.practitioner, percent, w.number)
				}
			}
			for w, percent := range usedWeeks(b, o.AsOf, zone, 12, 20) {
				if percent > 60 {
					t.Errorf("practitioner %d is already booked for %d%% of week %d", w.practitioner, percent, w.number)
				}
			}
			inSurgery := slices.ContainsFunc(b.appointments, func(a ent.Appointment) bool { return a.State == schema.InSurgery })
			if isOpen := closed(o.AsOf) == ""; inSurgery != isOpen {
				t.Errorf("a patient is in surgery: %t; the practice is open: %t", inSurgery, isOpen)
			}
		})
	}
}

// TestEveryPractitionersYearIsBooked checks the booked share of each practitioner's sessions: of the
// year before the last day, or until they left, without the diary's first month, and of the two weeks
// after that day.
func TestEveryPractitionersYearIsBooked(t *testing.T) {
	for _, day := range []string{"2026-07-01", "2026-11-27"} {
		t.Run(day, func(t *testing.T) {
			t.Parallel()
			o, zone := demo, london(t)
			o.AsOf = civil.MustParse(day)
			b := generated(t, o)
			begin := o.AsOf.AddMonths(-11)
			for _, p := range b.practitioners {
				end := o.AsOf
				if !p.Active {
					end = civil.Of(p.UpdatedAt.In(zone))
				}
				past, ahead := usedDays(b, p.ID, zone, begin, end), usedDays(b, p.ID, zone, o.AsOf.AddDays(1), o.AsOf.AddDays(15))
				if past < 70 || past > 95 {
					t.Errorf("practitioner %d was booked for %d%% of the year", p.ID, past)
				}
				if p.Active && (ahead < 70 || ahead > 95) {
					t.Errorf("practitioner %d is booked for %d%% of the coming two weeks", p.ID, ahead)
				}
			}
		})
	}
}

// usedDays returns what percentage of a practitioner's sessions is booked from one date to before
// another. Days on which the practice is closed are left out.
func usedDays(b *batch, practitioner int64, zone *time.Location, from, to civil.Date) int {
	session, booked := 0, 0
	for date := from; date.Before(to); date = date.AddDays(1) {
		for _, s := range b.workingSessions {
			if s.PractitionerID == practitioner && time.Weekday(s.Weekday) == date.Weekday() && closed(date) == "" {
				session += s.FinishMinute - s.StartMinute
			}
		}
	}
	for _, a := range b.appointments {
		date := civil.Of(a.StartTime.In(zone))
		if a.PractitionerID == practitioner && a.State.Blocks() && !date.Before(from) && date.Before(to) && closed(date) == "" {
			booked += a.Duration
		}
	}
	return 100 * booked / session
}

// TestDentistsHaveCrediblePatientsAndIncome checks the numbers of patients of the dentists, their
// gross income of each whole month, which is that of about twenty hours a week, and that targets are about what is delivered.
func TestDentistsHaveCrediblePatientsAndIncome(t *testing.T) {
	b := generated(t, demo)
	void, active := map[int64]bool{}, map[int64]bool{}
	for _, i := range b.invoices {
		void[i.ID] = i.Status == schema.InvoiceVoid
	}
	patients, income := map[int64]int{}, map[string]decimal.Decimal{}
	for _, p := range b.patients {
		patients[*p.DentistID]++
	}
	for _, p := range b.practitioners {
		active[p.ID] = p.Active
		if n := patients[p.ID]; p.Active && p.UdaTarget != nil && (n < 600 || n > 2000) {
			t.Errorf("dentist %d has %d patients", p.ID, n)
		}
	}
	for _, i := range b.invoiceItems {
		if i.PractitionerID != nil && !i.NhsCharge && !void[i.InvoiceID] {
			income[fmt.Sprint(*i.PractitionerID, i.CreatedAt.Format(" 2006-01"))] += i.TotalPrice
		}
	}
	var delivered, due decimal.Decimal // this year
	for _, c := range b.claims {
		income[fmt.Sprint(c.PractitionerID, c.CreatedAt.Format(" 2006-01"))] += *c.DentistCharge
		if active[c.PractitionerID] && c.CreatedAt.After(contractYear(demo.AsOf).Time()) {
			delivered += *c.ExpectedUda
		}
	}
	for _, p := range b.practitioners {
		if !p.Active || p.UdaTarget == nil {
			continue
		}
		due += *p.UdaTarget / 4 // April to June
		for _, month := range []string{"2026-01", "2026-02", "2026-03", "2026-04", "2026-05", "2026-06"} {
			if got := income[fmt.Sprint(p.ID, " ", month)]; got < 8_500_00 || got > 26_000_00 {
				t.Errorf("dentist %d earns £%s in %s", p.ID, got, month)
			}
		}
	}
	if delivered*100/due < 85 || delivered*100/due > 115 {
		t.Errorf("%s units are delivered, %s are due", delivered, due)
	}
}

// TestTargetsAddUpToTheContracts checks, on any day, that the targets of a site's practitioners are
// those of its contract, and that practitioners who have left have none.
func TestTargetsAddUpToTheContracts(t *testing.T) {
	for _, day := range asOf {
		t.Run(day, func(t *testing.T) {
			t.Parallel()
			o := demo
			o.AsOf = civil.MustParse(day)
			b := generated(t, o)
			due, agreed, left := map[string]decimal.Decimal{}, map[string]decimal.Decimal{}, 0
			add := func(sums map[string]decimal.Decimal, site uuid.UUID, unit string, amount *decimal.Decimal) {
				if amount != nil {
					sums[site.String()+" "+unit] += *amount
				}
			}
			for _, p := range b.practitioners {
				if !p.Active {
					left++
				}
				if !p.Active && (p.UdaTarget != nil || p.UoaTarget != nil) {
					t.Errorf("practitioner %d has left with a target", p.ID)
				}
				add(due, p.SiteID, "UDA", p.UdaTarget)
				add(due, p.SiteID, "UOA", p.UoaTarget)
			}
			for _, c := range b.contracts {
				if c.Active {
					add(agreed, c.SiteID, "UDA", c.Target)
					add(agreed, c.SiteID, "UOA", c.UoaTarget)
				}
			}
			if !maps.Equal(due, agreed) || left == 0 || len(due) < 2 {
				t.Errorf("targets %v, contracts %v, %d have left", due, agreed, left)
			}
		})
	}
}

// TestBandsHaveTheirUnitsAndCharges checks every claim.
func TestBandsHaveTheirUnitsAndCharges(t *testing.T) {
	b := generated(t, demo)
	start := map[int64]civil.Date{}
	for _, p := range b.treatmentPlans {
		start[p.ID] = *p.StartDate
	}
	want := map[string]decimal.Decimal{"1": 1_00, "2a": 3_00, "2b": 5_00, "2c": 7_00, "3": 12_00, "urgent": 1_20}
	before := map[string]decimal.Decimal{"1": 27_40, "2a": 75_30, "2b": 75_30, "2c": 75_30, "3": 326_70, "urgent": 27_40}
	since := map[string]decimal.Decimal{"1": 27_90, "2a": 76_60, "2b": 76_60, "2c": 76_60, "3": 332_10, "urgent": 27_90}
	seen := map[string]int{}
	for _, c := range b.claims {
		seen[*c.UdaBand]++
		charge := before[*c.UdaBand]
		if !start[*c.TreatmentPlanID].Before(civil.MustParse("2026-04-01")) {
			charge = since[*c.UdaBand]
		}
		if *c.ExpectedUda != want[*c.UdaBand] || *c.PatientCharge != 0 && *c.PatientCharge != charge {
			t.Errorf("a course of band %s from %s has %s units and costs %s", *c.UdaBand, start[*c.TreatmentPlanID], *c.ExpectedUda, *c.PatientCharge)
		}
	}
	for band := range want {
		if seen[band] < 5 {
			t.Errorf("%d claims of band %s", seen[band], band)
		}
	}
}

// TestRoomsAreUsedOnceAtATime checks that no two appointments that take place share a room.
func TestRoomsAreUsedOnceAtATime(t *testing.T) {
	used := map[string]int64{}
	for _, a := range generated(t, demo).appointments {
		if a.RoomID == nil || !a.State.Blocks() {
			continue
		}
		for at := a.StartTime; at.Before(a.FinishTime); at = at.Add(slotMinutes * time.Minute) {
			key := fmt.Sprint(a.RoomID, at.Unix())
			if other := used[key]; other != 0 {
				t.Errorf("appointments %d and %d share a room", other, a.ID)
			}
			used[key] = a.ID
		}
	}
}

// TestPersonasLiveTheirStories finds each persona by name and checks the point of the story.
func TestPersonasLiveTheirStories(t *testing.T) {
	b := generated(t, demo)
	find := func(name string) (found ent.Patient) {
		for _, p := range b.patients {
			if schema.FullName(p.FirstName, p.LastName) == name {
				return p
			}
		}
		t.Fatalf("no patient %s", name)
		return found
	}
	for _, p := range Personas {
		patient, pinned := find(p.Name), 0
		for _, n := range b.notes {
			if n.PatientID == patient.ID && n.Pinned {
				pinned++
			}
		}
		if pinned == 0 {
			t.Errorf("%s has no pinned note", p.Name)
		}
	}
	missed, open, family := 0, 0, 0
	for _, a := range b.appointments {
		if *cmp.Or(a.PatientID, new(int64)) == find("Norman Ashworth").ID && a.State == schema.DidNotAttend {
			missed++
		}
	}
	for _, a := range b.accounts {
		if a.PatientID == find("Derek Fairclough").ID && a.CurrentBalance > -500_00 {
			t.Errorf("the debtor's balance is %s", a.CurrentBalance)
		}
	}
	for _, i := range b.treatmentItems {
		if i.PatientID == find("Priya Solanki").ID && !i.Completed {
			open++
		}
	}
	helen := find("Helen Marsden")
	for _, p := range b.patients {
		if p.FamilyID != nil && *p.FamilyID == *helen.FamilyID {
			family++
		}
	}
	if missed != 3 || open != 2 || family != 4 || !find("Eleanor Whitworth").MedicalAlert {
		t.Errorf("missed %d, open %d, family of %d", missed, open, family)
	}
}
