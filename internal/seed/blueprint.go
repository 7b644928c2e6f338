package seed

import "chairside/schema"

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
}

// groupPatients fills three sites with a dozen practitioners.
const groupPatients = 20_000

// demoPractice describes the main practice. It has one group of sites for every 20,000
// patients.
func demoPractice(patients int) blueprint {
	return blueprint{
		slug: DemoSlug, name: "Demo", practiceNumber: 1,
		patients: patients, patientsPerGroup: groupPatients,
		groups:        max(1, (patients+groupPatients/2)/groupPatients),
		sitesPerGroup: 3,
		siteNames: []string{
			"High Street", "Riverside", "Station Road", "Market Place", "Mill Lane", "Queensway", "Castle Hill", "Parkside", "Old Chapel",
			"Orchard House", "The Crescent", "Bridge Street", "Harbour View", "Meadow Court", "Victoria Square", "Beacon Hill", "Abbey Gate", "Woodland",
		},
		posts: []post{
			{role: schema.RoleDentist, site: 0, rota: fullTime},
			{role: schema.RoleHygienist, site: 0, rota: fullTime},
			{role: schema.RoleDentist, site: 1, rota: earlyStarts},
			{role: schema.RoleDentist, site: 2, rota: threeDays, orthodontist: true},
			{role: schema.RoleDentist, site: 0, second: 1, rota: twoSites},
			{role: schema.RoleTherapist, site: 0, rota: fullTime},
			{role: schema.RoleDentist, site: 0, rota: weekends},
			{role: schema.RoleHygienist, site: 1, rota: lateWeek},
			{role: schema.RoleDentist, site: 1, rota: openingHours},
			{role: schema.RoleDentist, site: 1, rota: fullTime, left: true},
			{role: schema.RoleHygienist, site: 2, rota: saturdays},
			{role: schema.RoleDentist, site: 2, rota: evenings},
		},
	}
}

// secondPractice describes a small practice, whose data no user of the other may see.
func secondPractice() blueprint {
	return blueprint{
		slug: SecondSlug, name: "Second", practiceNumber: 2,
		patients: secondPatients, patientsPerGroup: groupPatients / 4,
		groups: 1, sitesPerGroup: 1,
		siteNames: []string{"Church Lane"},
		posts: []post{
			{role: schema.RoleDentist, rota: fullTime},
			{role: schema.RoleHygienist, rota: threeDays},
			{role: schema.RoleDentist, rota: weekends},
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
	fullTime     = rota{{weekdays: "MTWTF..", start: 9 * hour, finish: 13 * hour}, {weekdays: "MTWTF..", start: 14 * hour, finish: 17*hour + 30}}
	earlyStarts  = rota{{weekdays: "MTWT...", start: 8 * hour, finish: 12*hour + 30}, {weekdays: "MTWT...", start: 13*hour + 15, finish: 17 * hour}, {weekdays: "....F..", start: 8 * hour, finish: 13 * hour}}
	threeDays    = rota{{weekdays: "MT.T...", start: 9 * hour, finish: 12*hour + 45}, {weekdays: "MT.T...", start: 13*hour + 30, finish: 17 * hour}}
	twoSites     = rota{{weekdays: "MTW....", start: 8*hour + 30, finish: 13 * hour}, {weekdays: "MTW....", start: 14 * hour, finish: 17*hour + 30}, {weekdays: "...TF..", start: 9 * hour, finish: 13 * hour, second: true}, {weekdays: "...TF..", start: 13*hour + 45, finish: 17 * hour, second: true}}
	weekends     = rota{{weekdays: ".TWTF..", start: 9 * hour, finish: 13 * hour}, {weekdays: ".TW.F..", start: 14 * hour, finish: 17*hour + 30}, {weekdays: ".....S.", start: 9 * hour, finish: 13*hour + 30}, {weekdays: "......S", start: 9 * hour, finish: 13 * hour}}
	lateWeek     = rota{{weekdays: "..WTF..", start: 8*hour + 30, finish: 12*hour + 30}, {weekdays: "..WTF..", start: 13*hour + 30, finish: 17*hour + 30}}
	saturdays    = rota{{weekdays: "MTW.F..", start: 9 * hour, finish: 13 * hour}, {weekdays: "MTW.F..", start: 14 * hour, finish: 17 * hour}, {weekdays: ".....S.", start: 9 * hour, finish: 13 * hour}}
	evenings     = rota{{weekdays: "MTWT...", start: 11*hour + 30, finish: 15*hour + 30}, {weekdays: "MTWT...", start: 16 * hour, finish: 20 * hour}, {weekdays: "....F..", start: 9 * hour, finish: 13 * hour}}
	openingHours rota
)

// on reports whether the shift is worked on a weekday, 0 is Sunday.
func (s shift) on(weekday int) bool { return s.weekdays[(weekday+6)%7] != '.' }
