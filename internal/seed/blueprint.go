package seed

import (
	"slices"

	"chairside/schema"
)

// blueprint describes a practice.
type blueprint struct {
	slug, name       string
	patients         int
	siteNames        []string
	sitesPerGroup    int
	groups           int    // how often sites and posts are repeated
	posts            []post // of a group
	patientsPerGroup int    // patients who fill a group's diaries
	practiceNumber   int    // distinguishes the practices' telephone and contract numbers
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
			{role: schema.RoleDentist, site: 1, rota: openingHours, left: true, nhs: 50},
		},
	}
}

// secondPractice describes a small practice, whose data no user of the other may see.
func secondPractice() blueprint {
	return blueprint{
		slug: SecondSlug, name: "Second", practiceNumber: 2,
		patients: secondPatients, patientsPerGroup: groupPatients / 20,
		groups: 1, sitesPerGroup: 1,
		siteNames: []string{"Church Lane"},
		posts: []post{
			{role: schema.RoleDentist, rota: oneDay, nhs: 70},
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

// rota is a practitioner's week. An empty one means the practice's opening hours.
type rota []shift

const hour = 60

var (
	fourDays     = rota{{weekdays: "M.WTF..", start: 9 * hour, finish: 12*hour + 30}, {weekdays: "M.WTF..", start: 13*hour + 15, finish: 14*hour + 45}}
	twoSites     = rota{{weekdays: ".TW....", start: 8*hour + 30, finish: 13 * hour}, {weekdays: ".T.....", start: 14 * hour, finish: 16 * hour}, {weekdays: "....F..", start: 9 * hour, finish: 12 * hour, second: true}, {weekdays: ".....SS", start: 9 * hour, finish: 13 * hour}}
	twoDays      = rota{{weekdays: ".TW....", start: 9 * hour, finish: 13 * hour}, {weekdays: ".TW....", start: 14 * hour, finish: 15*hour + 30}}
	mondays      = rota{{weekdays: "M......", start: 9 * hour, finish: 13 * hour}}
	oneDay       = rota{{weekdays: "..W....", start: 9 * hour, finish: 13 * hour}, {weekdays: "..W....", start: 14 * hour, finish: 17 * hour}}
	oneMorning   = rota{{weekdays: "...T...", start: 9 * hour, finish: 13 * hour}}
	openingHours rota
)

// on reports whether the shift is worked on a weekday, 0 is Sunday.
func (s shift) on(weekday int) bool { return s.weekdays[(weekday+6)%7] != '.' }

// hasSecond reports whether part of the week is worked at the post's second site.
func (r rota) hasSecond() bool { return slices.ContainsFunc(r, func(s shift) bool { return s.second }) }
