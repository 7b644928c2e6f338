package seed

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/schema"
)

// minutes returns an opening hour as a minute of the day.
func minutes(t *testing.T, clock string) int {
	t.Helper()
	at, err := time.Parse("15:04", clock)
	if err != nil {
		t.Fatal(err)
	}
	return at.Hour()*hour + at.Minute()
}

// TestSitesAreOpenWhenTheyAreStaffed checks both practices, and a large one with several groups: every
// shift lies within the opening hours of its site on that weekday, and a site that is open has somebody
// there who has not left, from its opening to its closing, except for at most 75 minutes at lunch. A
// practitioner without shifts works when the practice is open. The practice is open when a site is.
func TestSitesAreOpenWhenTheyAreStaffed(t *testing.T) {
	const lunch = 75
	for _, of := range []blueprint{demoPractice(DefaultPatients), demoPractice(9 * groupPatients), secondPractice()} {
		b := new(batch)
		newGenerator(newRandom(1), newIDs(1, map[string]int64{}), newCalendar(london(t), morning(london(t), demo.AsOf), 1), of, "", b)
		practice, sites, shifts := b.practices[0], map[uuid.UUID]ent.Site{}, map[int64]bool{}
		for _, s := range b.sites {
			sites[s.ID] = s
		}
		type siteDay struct {
			site uuid.UUID
			day  string
		}
		staffed := map[siteDay]*slots{}
		rostered := func(practitioner int64, at siteDay, start, finish int) {
			if hours, isOpen := sites[at.site].OpeningHours[at.day]; !isOpen || start < minutes(t, hours.Open) || finish > minutes(t, hours.Close) {
				t.Errorf("practitioner %d works at %s on %s from %s to %s, which is open %s", practitioner, sites[at.site].Name, at.day, clockTime(start), clockTime(finish), hours)
			}
			if staffed[at] == nil {
				staffed[at] = new(slots)
			}
			if !hasLeft(b, practitioner) {
				staffed[at].fill(start, finish)
			}
		}
		for _, s := range b.workingSessions {
			shifts[s.PractitionerID] = true
			rostered(s.PractitionerID, siteDay{s.SiteID, time.Weekday(s.Weekday).String()}, s.StartMinute, s.FinishMinute)
		}
		for _, p := range b.practitioners {
			for day, hours := range practice.OpeningHours {
				if !shifts[p.ID] {
					rostered(p.ID, siteDay{p.SiteID, day}, minutes(t, hours.Open), minutes(t, hours.Close))
				}
			}
		}
		whole := map[string]schema.Hours{}
		for _, s := range b.sites {
			for day, hours := range s.OpeningHours {
				opens, closes := minutes(t, hours.Open), minutes(t, hours.Close)
				here := staffed[siteDay{s.ID, day}]
				if here == nil {
					t.Errorf("%s is open on %s without staff", s.Name, day)
					continue
				}
				alone := 0
				for at := opens; at < closes; at += slotMinutes {
					if here.has((at - opensAt) / slotMinutes) {
						alone = 0
					} else if alone += slotMinutes; alone > lunch || at == opens || at+slotMinutes == closes {
						t.Errorf("nobody works at %s on %s at %s", s.Name, day, clockTime(at))
						break
					}
				}
				w := whole[day]
				if w.Open == "" || hours.Open < w.Open {
					w.Open = hours.Open
				}
				w.Close = max(w.Close, hours.Close)
				whole[day] = w
			}
		}
		for day := time.Sunday; day <= time.Saturday; day++ {
			if got, want := practice.OpeningHours[day.String()], whole[day.String()]; got != want {
				t.Errorf("%s is open on %s %s, its sites %s", practice.Name, day, got, want)
			}
		}
	}
}
