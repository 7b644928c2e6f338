package seed

import (
	"encoding/base64"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"golang.org/x/crypto/argon2"

	"chairside/ent"
	entpractitioner "chairside/ent/practitioner"
	entuser "chairside/ent/user"
	"chairside/ent/workingsession"
	"chairside/internal/civil"
	"chairside/internal/decimal"
	"chairside/schema"
)

// staff are the people who work at the practice.
type staff struct {
	dentists, hygienists, therapists []*practitioner
	left                             []*practitioner // dentists who have left
	shares                           []int           // each dentist's share of the patients
	reception                        []int64         // user ids
}

// practitioner is a practitioner with a diary.
type practitioner struct {
	id      int64
	user    int64
	site    *site
	until   int // day from which they no longer work
	diary   diary
	where   [7]place // per weekday
	minutes [7]int   // of work per weekday
	// orthodontist also provides orthodontics.
	orthodontist bool
	nhs          int // percent of their patients who are treated by the NHS
}

// place is where a practitioner works.
type place struct {
	site *site
	room uuid.UUID
}

// works reports whether a practitioner works on a day.
func (g *generator) works(p *practitioner, day int) bool {
	return g.closures[day] == "" && p.hasShift(day, g.weekday(day))
}

// hasShift reports whether the practitioner has a shift on a day, on which the practice may be closed.
func (p *practitioner) hasShift(day, weekday int) bool {
	return day < p.until && p.diary.work[weekday] != (slots{})
}

// weekly returns their minutes per week.
func (p *practitioner) weekly() (minutes int) {
	for _, n := range p.minutes {
		minutes += n
	}
	return minutes
}

var diaryColours = []string{"#2563eb", "#16a34a", "#db2777", "#9333ea", "#ea580c", "#0891b2", "#ca8a04", "#4f46e5", "#dc2626", "#0d9488", "#7c3aed", "#65a30d"}

// writeStaff creates the users and the practitioners.
func (g *generator) writeStaff(passwordHash string) {
	employ := func(role schema.Role, at *site, active bool) ent.User {
		return g.employ(role, at, active, passwordHash)
	}

	employ(schema.RoleAdministrator, g.sites[0], true)
	employ(schema.RoleManager, nil, true)
	for i, s := range g.sites {
		for range 2 {
			g.staff.reception = append(g.staff.reception, employ(schema.RoleReceptionist, s, true).ID)
		}
		employ(schema.RoleNurse, s, true)
		employ(schema.RoleNurse, s, i%2 == 0)
	}
	for group := range g.groups {
		sites := g.sites[group*g.sitesPerGroup:]
		for i, post := range g.posts {
			post.left = post.left && group == 0 // only some have ever left
			user := employ(post.role, sites[post.site], !post.left)
			p := &practitioner{
				id: g.number(entpractitioner.Table), user: user.ID, site: sites[post.site], until: g.end, orthodontist: post.orthodontist, nhs: post.nhs,
				diary: diary{busy: make([]slots, g.end), booked: make([]int, g.end)},
			}
			if post.left {
				around := g.date(g.today - g.today/3)
				p.until = g.day(civil.Date{Year: around.Year, Month: around.Month, Day: 1}) // reports count whole months
			}
			index := group*len(g.posts) + i
			g.writeSessions(p, post.rota, sites[post.second])
			for weekday := range p.minutes {
				p.minutes[weekday] = p.diary.work[weekday].minutes()
			}
			g.writePractitioner(p, user, post, index)
		}
	}
}

// employ creates a user. The first of a practice is its administrator.
func (g *generator) employ(role schema.Role, at *site, active bool, passwordHash string) ent.User {
	female := g.chance(60)
	first, last := g.staffName(female)
	u := ent.User{
		ID: g.number(entuser.Table), PracticeID: g.practice, CreatedAt: g.opened, UpdatedAt: g.opened,
		Title:     new(title(g.random, female, role == schema.RoleDentist, 0)),
		FirstName: first.text, LastName: last.text, LastNameFolded: schema.Fold(last.text),
		Email: fmt.Sprintf("%s.%s%d@%s.chairside.test", first.latin, last.latin, len(g.out.users), g.slug),
		Role:  role, Active: active, MobilePhone: optional(g.random, 70, fmt.Sprintf("07700 900%03d", g.IntN(1000))),
		PasswordHash: passwordHash,
	}
	if role == schema.RoleAdministrator {
		u.Email = "admin@" + g.slug + ".chairside.test"
	}
	if at != nil {
		u.SiteID = &at.id
	}
	if active && g.chance(85) {
		u.LastLogin = new(g.timeBetween(g.at(g.today-20, 8*hour), g.at(g.today-1, 18*hour)))
	}
	g.out.users = append(g.out.users, u)
	return u
}

// writeSessions creates a practitioner's working sessions and fills in their diary. At each site
// they have a room of their own.
func (g *generator) writeSessions(p *practitioner, week rota, second *site) {
	at := place{p.site, p.site.room()}
	for weekday := range p.where {
		p.where[weekday] = at
	}
	var away place
	if week.hasSecond() {
		away = place{second, second.room()}
	}
	if len(week) == 0 { // no working sessions: the practice's opening hours apply
		for weekday, times := range g.practiceHours() {
			p.diary.work[weekday].fill(times.opens, times.closes)
		}
	}
	for _, shift := range week {
		for weekday := range p.where {
			if !shift.on(weekday) {
				continue
			}
			if shift.second {
				p.where[weekday] = away
			}
			p.diary.work[weekday].fill(shift.start, shift.finish)
			g.out.workingSessions = append(g.out.workingSessions, ent.WorkingSession{
				ID: g.uuid(workingsession.Table), PracticeID: g.practice, CreatedAt: g.opened, UpdatedAt: g.opened,
				PractitionerID: p.id, SiteID: p.where[weekday].site.id, Weekday: weekday, StartMinute: shift.start, FinishMinute: shift.finish,
			})
		}
	}
}

// writePractitioner creates the practitioner's row and adds them to the staff.
func (g *generator) writePractitioner(p *practitioner, u ent.User, post post, index int) {
	row := ent.Practitioner{
		ID: p.id, PracticeID: g.practice, CreatedAt: g.opened, UpdatedAt: g.opened,
		UserID: u.ID, SiteID: p.site.id, Active: !post.left,
		GdcNumber: new(fmt.Sprint(900_000 + index + 1000*g.practiceNumber)),
		Colour:    new(diaryColours[index%len(diaryColours)]),
	}
	if post.left {
		row.UpdatedAt = g.at(p.until, 18*hour)
	}
	switch {
	case post.role == schema.RoleHygienist:
		g.staff.hygienists, p.site.hygienist = append(g.staff.hygienists, p), p
	case post.role == schema.RoleTherapist:
		g.staff.therapists, p.site.therapist = append(g.staff.therapists, p), p
	case post.left:
		g.staff.left = append(g.staff.left, p)
	default:
		g.staff.dentists = append(g.staff.dentists, p)
		g.staff.shares = append(g.staff.shares, p.weekly()*(80+p.nhs))
	}
	if post.role == schema.RoleDentist {
		row.NhsNumber = new(fmt.Sprint(700_000 + index + 1000*g.practiceNumber))
	}
	if post.role == schema.RoleDentist && !post.left { // a target is a share of the contract's, which others have taken over
		row.UdaTarget = new(g.udaTarget(p))
		if p.orthodontist {
			row.UoaTarget = new(max(*row.UdaTarget/20, 10_00))
		}
	}
	g.out.practitioners = append(g.out.practitioners, row)
}

// udaTarget returns a dentist's yearly target: what their NHS patients need in full diaries, or a
// part of it in a practice with fewer patients.
func (g *generator) udaTarget(p *practitioner) decimal.Decimal {
	const (
		weeks          = 52
		minutesPerUnit = 21 // of working time, breaks and gaps included
		round          = 10_00
	)
	units := int(float64(p.weekly()*weeks*p.nhs) * min(1, g.size()) / minutesPerUnit)
	return decimal.Decimal(max(1, units/round) * round)
}

// blockBreaks adds the entries without patients to the diaries.
func (g *generator) blockBreaks() {
	for _, p := range slices.Concat(g.staff.dentists, g.staff.hygienists, g.staff.therapists, g.staff.left) {
		for day := range g.end {
			weekday := g.weekday(day)
			if !p.hasShift(day, weekday) {
				continue
			}
			if reason := g.closures[day]; reason != "" {
				g.blockDay(p, day, reason)
				continue
			}
			breaks := 35 - g.focus/3 // an empty diary needs few
			if day > g.today-10 && day < g.today+10 {
				breaks = 35
			}
			switch {
			case weekday == int(time.Wednesday) && g.date(day).Day <= 7:
				g.blockTime(p, day, 12*hour, 30, staffMeeting, "All welcome, bring cake")
			case weekday >= int(time.Monday) && weekday <= int(time.Friday) && g.chance(breaks):
				g.blockTime(p, day, pick(g.random, []int{10*hour + 45, 11 * hour, 15*hour + 30}), 15, reasonOther, "Break")
			}
		}
	}
}

// blockDay fills a practitioner's shifts on a day when the practice is closed, so that no patient is booked.
func (g *generator) blockDay(p *practitioner, day int, reason string) {
	work := &p.diary.work[g.weekday(day)]
	for from := 0; from < daySlots; from++ {
		to := from
		for to < daySlots && work.has(to) {
			to++
		}
		if to > from {
			g.blockTime(p, day, opensAt+from*slotMinutes, (to-from)*slotMinutes, reasonOther, reason)
			from = to
		}
	}
}

// hashPassword returns the argon2id hash of Password with a salt from r, so that it is
// reproducible.
func hashPassword(r random) string {
	const passes, memory, threads, length = 2, 19 * 1024, 1, 32
	salt := make([]byte, 0, 16)
	for len(salt) < cap(salt) {
		salt = append(salt, byte(r.Uint32()))
	}
	key := argon2.IDKey([]byte(Password), salt, passes, memory, threads, length)
	encode := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, memory, passes, threads, encode(salt), encode(key))
}
