package seed

import (
	"fmt"
	"slices"
	"time"

	"chairside/schema"
)

// blueprint describes a practice.
type blueprint struct {
	slug, name       string
	patients         int
	siteNames        []string
	sitesPerGroup    int
	open             openingHours // in which posts without a rota work; see siteHours
	groups           int          // how often sites and posts are repeated
	posts            []post       // of a group
	patientsPerGroup int          // patients who fill a group's diaries
	practiceNumber   int          // distinguishes the practices' telephone and contract numbers
}

// post is a practitioner's place in a group.
type post struct {
	role         schema.Role
	site, second int // of the group; second is the site of shifts marked second
	rota         rota
	left         bool // has left the practice
	orthodontist bool
	nhs          int // percent of a dentist's patients who are treated by the NHS
}

// groupPatients fill the diaries of a group: two small sites with two dentists, a hygienist and a
// therapist, who all work part of the week.
const groupPatients = 2_100

// demoPractice describes the main practice. It has one group of sites for every 2,100
// patients. A smaller practice has the same staff with emptier diaries.
func demoPractice(patients int) blueprint {
	return blueprint{
		slug: DemoSlug, name: "Demo", practiceNumber: 1,
		patients: patients, patientsPerGroup: groupPatients,
		groups:        max(1, (patients+groupPatients/2)/groupPatients),
		sitesPerGroup: 2,
		siteNames: []string{
			"High Street", "Riverside", "Station Road", "Market Place", "Mill Lane", "Queensway", "Castle Hill", "Parkside", "Old Chapel",
			"Orchard House", "The Crescent", "Bridge Street", "Harbour View", "Meadow Court", "Victoria Square", "Beacon Hill", "Abbey Gate", "Woodland",
		},
		posts: []post{
			{role: schema.RoleDentist, site: 0, rota: fourDays, nhs: 90},
			{role: schema.RoleHygienist, site: 0, rota: twoDays},
			{role: schema.RoleDentist, site: 1, second: 0, rota: twoSites, orthodontist: true, nhs: 20},
			{role: schema.RoleTherapist, site: 0, rota: mondays},
			{role: schema.RoleDentist, site: 1, rota: thursdays, left: true, nhs: 50},
		},
	}
}

// secondPractice describes a small practice, whose data no user of the other may see.
func secondPractice() blueprint {
	return blueprint{
		slug: SecondSlug, name: "Second", practiceNumber: 2,
		patients: secondPatients, patientsPerGroup: groupPatients / 20,
		groups: 1, sitesPerGroup: 1,
		open:      openingHours{}.with(9*hour, 17*hour, time.Wednesday).with(9*hour, 13*hour, time.Thursday),
		siteNames: []string{"Church Lane"},
		posts: []post{
			{role: schema.RoleDentist, rota: whenOpen, nhs: 70},
			{role: schema.RoleHygienist, rota: oneMorning},
			{role: schema.RoleDentist, rota: oneMorning, nhs: 20},
		},
	}
}

// shift is a period of work on some weekdays ("MTWTFSS" with dots for days off), in
// minutes of the day.
type shift struct {
	weekdays      string
	start, finish int
	second        bool // at the post's second site
}

// rota is a practitioner's week. An empty one means the blueprint's hours.
type rota []shift

// openingHours are the times at which a practice opens and closes on each weekday, in minutes of the
// day; 0 is Sunday. Both are 0 on days on which it stays closed.
type openingHours [7]struct{ opens, closes int }

// with returns the opening hours with other times on some days.
func (h openingHours) with(opens, closes int, days ...time.Weekday) openingHours {
	for _, day := range days {
		h[day].opens, h[day].closes = opens, closes
	}
	return h
}

// row returns the opening hours as they are stored.
func (h openingHours) row() schema.OpeningHours {
	row := schema.OpeningHours{}
	for day, times := range h {
		if times.closes > 0 {
			row[time.Weekday(day).String()] = schema.Hours{Open: clockTime(times.opens), Close: clockTime(times.closes)}
		}
	}
	return row
}

// clockTime formats a minute of the day as "15:04".
func clockTime(minute int) string { return fmt.Sprintf("%02d:%02d", minute/hour, minute%hour) }

// widen returns the opening hours, with those of one day from the earlier opening to the later closing.
func (h openingHours) widen(opens, closes, day int) openingHours {
	if h[day].closes > 0 {
		opens, closes = min(opens, h[day].opens), max(closes, h[day].closes)
	}
	return h.with(opens, closes, time.Weekday(day))
}

// siteHours are the opening hours of a group's site: from the first start to the last finish of the
// shifts there on each weekday. So every shift is within opening hours, and an open site
// is staffed except at lunch.
func (b blueprint) siteHours(site int) openingHours {
	hours := b.open
	for _, p := range b.posts {
		for _, s := range p.rota {
			at := p.site
			if s.second {
				at = p.second
			}
			for day := range hours {
				if at == site && s.on(day) {
					hours = hours.widen(s.start, s.finish, day)
				}
			}
		}
	}
	return hours
}

// practiceHours are the hours in which at least one site is open.
func (b blueprint) practiceHours() openingHours {
	hours := b.open
	for site := range b.sitesPerGroup {
		for day, times := range b.siteHours(site) {
			if times.closes > 0 {
				hours = hours.widen(times.opens, times.closes, day)
			}
		}
	}
	return hours
}

const hour = 60

// The rotas of a group cover its first site on five days of the week and its second one on four.
var (
	fourDays   = rota{{weekdays: "M.WTF..", start: 9 * hour, finish: 12*hour + 30}, {weekdays: "M.WTF..", start: 13*hour + 15, finish: 14*hour + 45}}
	twoSites   = rota{{weekdays: ".T.T...", start: 8*hour + 30, finish: 13 * hour}, {weekdays: "...T...", start: 14 * hour, finish: 16 * hour}, {weekdays: "....F..", start: 14 * hour, finish: 17 * hour, second: true}, {weekdays: ".....SS", start: 9 * hour, finish: 13 * hour}}
	twoDays    = rota{{weekdays: ".T.....", start: 9*hour + 30, finish: 13 * hour}, {weekdays: ".T.....", start: 14 * hour, finish: 16 * hour}, {weekdays: "..W....", start: 11*hour + 30, finish: 13*hour + 30}, {weekdays: "..W....", start: 14 * hour, finish: 17*hour + 30}}
	mondays    = rota{{weekdays: "M......", start: 13 * hour, finish: 17 * hour}}
	thursdays  = rota{{weekdays: "...T...", start: 9 * hour, finish: 13 * hour}, {weekdays: "...T...", start: 14 * hour, finish: 16 * hour}}
	oneMorning = rota{{weekdays: "...T...", start: 9 * hour, finish: 13 * hour}}
	whenOpen   rota
)

// on reports whether the shift is worked on a weekday, 0 is Sunday.
func (s shift) on(weekday int) bool { return s.weekdays[(weekday+6)%7] != '.' }

// hasSecond reports whether part of the week is worked at the post's second site.
func (r rota) hasSecond() bool { return slices.ContainsFunc(r, func(s shift) bool { return s.second }) }
