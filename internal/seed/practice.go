package seed

import (
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/practice"
	entroom "chairside/ent/room"
	entsite "chairside/ent/site"
	entwebhook "chairside/ent/webhook"
	"chairside/internal/seal"
)

// generator generates one practice's rows into out.
type generator struct {
	random
	*ids
	*calendar
	blueprint

	out      *batch
	practice uuid.UUID
	opened   time.Time // creation time of the practice's own rows

	sites      []*site
	staff      staff
	catalogue  catalogue
	claims     claims
	sources    []uuid.UUID
	questions  questions
	contracts  []contract
	households households

	squeezed, voided, chargedTwice rarity

	cancellations cancellations
	recalls       recalls
	waiting       waiting
	notes         notes
	referrals     referrals

	remaining int     // patients still to generate
	walkIns   int     // today's emergencies still to come
	focus     float64 // percent by which visits concentrate around today, so that a small demo has full diaries
}

// site is a site with its rooms.
type site struct {
	id        uuid.UUID
	town      *town
	rooms     []uuid.UUID // in use; each is one practitioner's
	taken     int         // rooms that have a practitioner
	hygienist *practitioner
	therapist *practitioner // nil at most sites
}

// newGenerator creates the rows of the practice itself; populate then adds patients.
func newGenerator(r random, i *ids, c *calendar, b blueprint, passwordHash string, out *batch) *generator {
	g := &generator{random: r, ids: i, calendar: c, blueprint: b, out: out, remaining: b.patients}
	g.opened = c.at(-40, 11*hour)
	g.focus = 90 * max(0, 1-g.size())
	g.walkIns = walkIns + int(g.focus/15)
	g.openPractice()
	g.cancellations.random, g.recalls.random, g.waiting.random = stream(g.practice, "cancellations"), stream(g.practice, "recalls"), stream(g.practice, "waiting")
	g.notes.random, g.referrals.random = stream(g.practice, "notes"), stream(g.practice, "referrals")
	g.openSites()
	g.writeCatalogue()
	g.writeStaff(passwordHash)
	g.writeLists()
	g.writeCancellationReasons()
	g.writeQuestions()
	g.agreeContracts()
	g.addWebhook()
	g.blockBreaks()
	return g
}

// size is the number of patients as a share of those who fill the diaries.
func (b blueprint) size() float64 { return float64(b.patients) / float64(b.groups*b.patientsPerGroup) }

// openPractice creates the practice's row.
func (g *generator) openPractice() {
	g.practice = g.uuid(practice.Table)
	home := &towns[0]
	g.out.practices = append(g.out.practices, ent.Practice{
		ID: g.practice, CreatedAt: g.opened, UpdatedAt: g.opened,
		Name: g.name, Slug: g.slug, Country: "GB", TimeZone: practiceTimeZone, Nhs: true, MinimumAppointmentDuration: 15,
		PhoneNumber:              new(home.number(g.practiceNumber)),
		EmailAddress:             new("hello@" + g.slug + ".chairside.test"),
		Website:                  new("https://" + g.slug + ".chairside.test"),
		OpeningHours:             g.practiceHours().row(),
		SearchKey:                seal.Plain(g.searchKey()),
		IdleLockMinutes:          0, // a demo's sessions do not lock
		CustomPatientFieldLabel1: new("Previous dentist"),
		CustomPatientFieldLabel2: new("Parking space"),
		AddressLine1:             new("1 " + g.siteNames[0]),
		Town:                     new(home.name), County: home.countyOrNil(), Postcode: new(home.area + "1 1AA"),
	})
}

// searchKey returns the key of the practice's hashes: like everything else here the same in every
// run, because the data are made up.
func (g *generator) searchKey() string { return "demo " + g.practice.String() }

// addWebhook adds a webhook that is paused, because its address is an example. Its secret is the same in every
// demo. It has no position in the change feed: once resumed, it receives the events from then on.
func (g *generator) addWebhook() {
	secret := make([]byte, 24)
	r := stream(g.practice, "webhook")
	for i := range secret {
		secret[i] = byte(r.IntN(256))
	}
	g.out.webhooks = append(g.out.webhooks, ent.Webhook{
		ID: g.uuid(entwebhook.Table), PracticeID: g.practice, CreatedAt: g.opened, UpdatedAt: g.opened,
		URL: "https://example.com/hooks", Events: []string{"patients.created", "appointments.*"},
		Secret: seal.Plain("whsec_" + base64.StdEncoding.EncodeToString(secret)),
	})
}

// openSites creates the sites, each with a room for everyone who works there and one that is not
// in use.
func (g *generator) openSites() {
	for i := range g.groups * g.sitesPerGroup {
		s := &site{id: g.uuid(entsite.Table), town: &towns[i%nearTowns]}
		name := g.siteNames[i%len(g.siteNames)]
		if round := i / len(g.siteNames); round > 0 {
			name += fmt.Sprintf(" %d", round+1)
		}
		g.out.sites = append(g.out.sites, ent.Site{
			ID: s.id, PracticeID: g.practice, CreatedAt: g.opened, UpdatedAt: g.opened,
			Name: name + " Dental", Nickname: new(strings.Fields(name)[0]), Active: true,
			PhoneNumber: new(s.town.number(100*g.practiceNumber + i%100)), EmailAddress: new(fmt.Sprintf("site%d@%s.chairside.test", i+1, g.slug)),
			OpeningHours: g.siteHours(i % g.sitesPerGroup).row(),
			AddressLine1: new(fmt.Sprintf("%d %s", 10+i, name)), Town: new(s.town.name), County: s.town.countyOrNil(), Postcode: new(s.town.postcode(g.random)),
		})
		inUse := g.workplaces(i % g.sitesPerGroup)
		for n := range inUse + 1 {
			room := ent.Room{ID: g.uuid(entroom.Table), PracticeID: g.practice, CreatedAt: g.opened, UpdatedAt: g.opened, SiteID: s.id, Name: fmt.Sprintf("Surgery %d", n+1), Active: true}
			if n == inUse {
				room.Name, room.Active = "Old X-ray room", false
			} else {
				s.rooms = append(s.rooms, room.ID)
			}
			g.out.rooms = append(g.out.rooms, room)
		}
		g.sites = append(g.sites, s)
	}
}

// workplaces is the number of posts that work at a group's site.
func (b blueprint) workplaces(site int) (n int) {
	for _, p := range b.posts {
		if p.site == site || p.second == site && p.rota.hasSecond() {
			n++
		}
	}
	return n
}

// room takes the site's next room for a practitioner.
func (s *site) room() uuid.UUID {
	s.taken++
	return s.rooms[s.taken-1]
}
