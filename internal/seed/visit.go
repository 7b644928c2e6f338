package seed

import (
	"slices"
	"time"

	"chairside/ent"
	entappointment "chairside/ent/appointment"
	"chairside/schema"
)

// visit is an appointment with its time.
type visit struct {
	id            int64 // of the appointment
	by            *practitioner
	day           int
	begin, finish time.Time
	place         place
	squeezed      bool // beside another patient, in whichever room is free
	state         schema.AppointmentState
	done          []*ent.TreatmentPlanItem // the treatments carried out
}

// attendance is a visit of a patient.
type attendance struct {
	*visit
	reason string
	booked time.Time
}

// visitRequest describes an appointment for which a time is to be found.
type visitRequest struct {
	by          *practitioner
	day         int // or later
	preferred   int // minute of the day; 0 for any
	minutes     int
	reason      string
	description string    // treatment description, once completed
	since       time.Time // earliest booking time
	urgent      bool      // booked at the last minute
}

// daysNotice is how long before a visit patients book at the earliest.
const daysNotice = 110

// longestWait is the number of days after the preferred day in which a time must be free.
const longestWait = 75

// visit books an appointment, sometimes after a cancelled or missed one. It returns nil
// if no time is free.
func (g *generator) visit(p *person, w visitRequest) *visit {
	if !w.urgent && g.chance(pickIf(w.day < g.today, 9.0, 3)) {
		if v := g.find(p, w); v != nil {
			g.writeFailedVisit(p, w, v)
			w.day += g.between(2, 25)
		}
	}
	v := g.find(p, w)
	if v == nil && w.by.until < g.end { // of somebody about to leave: the patient's dentist takes over
		w.by = p.dentist
		v = g.find(p, w)
	}
	if v == nil {
		return nil
	}
	g.reserve(v)
	v.state = g.stateOf(v)
	g.writeAppointment(p, w, v)
	return v
}

// doubleBook double-books an urgent appointment, or returns nil if there is no booking to
// overlap soon.
func (g *generator) doubleBook(p *person, w visitRequest) *visit {
	for day := w.day; day < min(w.day+longestWait, g.today+1, w.by.until); day++ {
		start, ok := w.by.diary.taken(day, w.preferred)
		if !ok || !g.works(w.by, day) || p.visitsOn(day) {
			continue
		}
		v := g.place(w, day, start)
		v.squeezed = true
		g.reserve(v)
		v.state = g.stateOf(v)
		g.writeAppointment(p, w, v)
		return v
	}
	return nil
}

// bookable is the share of a day's working time that is given to patients and breaks. Less is
// booked the further ahead the day is. Emergencies may take more than that.
func (g *generator) bookable(by *practitioner, day int, urgent bool) float64 {
	const (
		full, varies = 0.83, 0.03
		reserve      = 0.05 // for emergencies
		fullAhead    = 14   // days
		emptyAhead   = 130
		least        = 0.06
	)
	share := full + varies*(2*noise(by.id, day)-1)
	if ahead := day - g.today - fullAhead; ahead > 0 {
		share = max(least, share*(1-float64(ahead)/(emptyAhead-fullAhead)))
	}
	if urgent {
		share += reserve
	}
	return share
}

// find finds a free time from the preferred day on, in the time that is bookable, on a day without
// another visit of the patient. Without a preferred time it begins right after another appointment
// if possible, so that gaps are few.
func (g *generator) find(p *person, w visitRequest) *visit {
	preferred := w.preferred
	if preferred == 0 {
		preferred = 8*hour + 30 + 15*g.IntN(35)
	}
	for day := max(w.day, 0); day < min(w.day+longestWait, w.by.until, g.end); day++ {
		weekday := g.weekday(day)
		if !g.works(w.by, day) || p.visitsOn(day) {
			continue
		}
		const overrun = 15 // by which the last visit may exceed the limit, which is then about the average
		if limit := g.bookable(w.by, day, w.urgent) * float64(w.by.minutes[weekday]); float64(w.by.diary.booked[day]+w.minutes-overrun) > limit {
			continue
		}
		if day == g.today && g.focus > 0 && w.preferred == 0 {
			preferred = g.rush - 60 + 15*g.IntN(12)
		}
		if start, ok := w.by.diary.free(day, weekday, preferred, w.minutes); ok {
			if w.preferred == 0 && g.focus == 0 {
				start = w.by.diary.gapStart(day, weekday, start)
			}
			return g.place(w, day, start)
		}
	}
	return nil
}

// visitsOn reports whether the patient has a visit on a day that is neither cancelled nor missed.
func (p *person) visitsOn(day int) bool {
	return slices.ContainsFunc(p.visits, func(v attendance) bool { return v.day == day && v.state.Blocks() })
}

// place is the visit that begins at a minute of a day, at the site and in the room where
// the practitioner works on that weekday.
func (g *generator) place(w visitRequest, day, start int) *visit {
	return &visit{by: w.by, day: day, begin: g.at(day, start), finish: g.at(day, start+w.minutes), place: w.by.where[g.weekday(day)]}
}

// reserve books the visit's time in the diary.
func (g *generator) reserve(v *visit) {
	start := int(v.begin.Sub(g.at(v.day, 0)) / time.Minute)
	v.by.diary.book(v.day, start, start+schema.Minutes(v.begin, v.finish))
}

// reserveUnused keeps the time of a missed visit free. It does not count as booked.
func (g *generator) reserveUnused(v *visit) {
	g.reserve(v)
	v.by.diary.booked[v.day] -= schema.Minutes(v.begin, v.finish)
}

// stateOf returns the current state of a visit that is not cancelled or missed.
func (g *generator) stateOf(v *visit) schema.AppointmentState {
	const early = 35 * time.Minute // patients arrive this long before the visit
	switch {
	case !v.finish.After(g.now):
		return schema.Completed
	case !v.begin.After(g.now):
		return schema.InSurgery
	case v.begin.Before(g.now.Add(early)):
		return schema.Arrived
	case v.day == g.today && g.chance(90), v.day < g.today+7 && g.chance(70), g.chance(25):
		return schema.Confirmed
	}
	return schema.Pending
}

// writeFailedVisit creates a cancelled or missed appointment.
func (g *generator) writeFailedVisit(p *person, w visitRequest, v *visit) {
	v.state = schema.Cancelled
	if v.begin.Add(time.Hour).Before(g.now) && g.chance(42) {
		v.state = schema.DidNotAttend
		g.reserveUnused(v)
	}
	g.writeAppointment(p, w, v)
}

var (
	visitNotes = []phrase{
		{"Comes with a parent", upTo(15)}, {"Nervous patient, allow time", everyone}, {"BSL interpreter booked", everyone}, {"Ring before the visit:\nmay be late", from(16)},
		{"Bring X-rays from the last dentist", from(18)}, {"Ask about the night guard", from(18)}, {"Prefers the ground floor", from(50)},
	}
	campaigns = []string{"spring-recall", "website", "été-2024"}
)

// writeAppointment creates the row of a visit.
func (g *generator) writeAppointment(p *person, w visitRequest, v *visit) {
	v.id = g.number(entappointment.Table)
	row := ent.Appointment{
		ID: v.id, PracticeID: g.practice,
		StartTime: v.begin, FinishTime: v.finish, Duration: schema.Minutes(v.begin, v.finish),
		PractitionerID: v.by.id, PatientID: &p.row.ID, Reason: w.reason, State: v.state,
		Notes: optional(g.random, 8, pickFor(g.random, visitNotes, p.on(g.date(v.day)))), RoomID: &v.place.room,
		UserID: new(pick(g.random, g.staff.reception)), BookedViaAPI: g.chance(12),
	}
	if v.squeezed {
		row.RoomID = nil
	}
	if v.state == schema.Completed && w.description != "" {
		row.TreatmentDescription = &w.description
	}
	if row.BookedViaAPI && g.chance(50) {
		row.Metadata = map[string]string{"source": "online-booking"}
		if g.chance(30) {
			row.Metadata["campaign"] = pick(g.random, campaigns)
		}
	}
	g.setStateTimes(&row, g.bookedAt(w, v))
	if v.state == schema.Cancelled {
		row.AppointmentCancellationReasonID = g.cancellations.reason()
	}
	p.touch(row.UpdatedAt)
	p.visits = append(p.visits, attendance{v, w.reason, row.CreatedAt})
	g.out.appointments = append(g.out.appointments, row)
}

// bookedAt returns the time at which a visit was booked.
func (g *generator) bookedAt(w visitRequest, v *visit) time.Time {
	latest := g.notAfterNow(v.begin.Add(-time.Hour))
	earliest := latest.Add(-daysNotice * 24 * time.Hour)
	if w.urgent {
		earliest = latest.Add(-20 * time.Hour)
	}
	if earliest.Before(w.since) {
		earliest = w.since
	}
	if latest.Before(earliest) {
		return earliest
	}
	return g.daytimeBetween(earliest, latest)
}

// daytimeBetween returns a time between two that is not at night. A time at night moves
// to the next morning, or else to the evening before, or else to the later of the two.
func (g *generator) daytimeBetween(earliest, latest time.Time) time.Time {
	t := g.timeBetween(earliest, latest)
	if t.In(g.zone).Hour() >= 7 {
		return t
	}
	for _, move := range []time.Duration{8 * time.Hour, -8 * time.Hour} {
		if moved := t.Add(move); !moved.Before(earliest) && !moved.After(latest) {
			return moved
		}
	}
	return latest
}

// setStateTimes sets the timestamps of an appointment's states, in order.
func (g *generator) setStateTimes(row *ent.Appointment, booked time.Time) {
	row.CreatedAt, row.PendingAt = booked, &booked
	last := booked
	enter := func(t time.Time) *time.Time {
		if t = g.notAfterNow(t); t.Before(last) {
			t = last
		}
		last = t
		return &t
	}
	confirm := func(percent float64) {
		if g.chance(percent) {
			latest := g.notAfterNow(row.StartTime.Add(-20 * time.Minute))
			row.ConfirmedAt = enter(g.daytimeBetween(booked, latest))
		}
	}
	switch row.State {
	case schema.Confirmed:
		confirm(100)
	case schema.Arrived, schema.InSurgery, schema.Completed:
		confirm(70)
		row.ArrivedAt = enter(g.minutesAfter(row.StartTime, -14, 2))
		if row.State == schema.Arrived {
			break
		}
		row.InSurgeryAt = enter(g.minutesAfter(row.StartTime, 0, 5))
		if row.State == schema.InSurgery {
			break
		}
		row.CompletedAt = enter(g.minutesAfter(row.FinishTime, -5, 4))
	case schema.Cancelled:
		confirm(30)
		row.CancelledAt = enter(g.timeBetween(last, g.notAfterNow(row.StartTime.Add(-10*time.Minute))))
	case schema.DidNotAttend:
		confirm(50)
		row.DidNotAttendAt = enter(g.minutesAfter(row.StartTime, 12, 40))
	}
	row.UpdatedAt = last
}

// blockTime creates an entry without a patient, if its time is free.
func (g *generator) blockTime(by *practitioner, day, start, minutes int, reason, notes string) {
	if from, ok := by.diary.free(day, g.weekday(day), start, minutes); !ok || from != start {
		return
	}
	by.diary.book(day, start, start+minutes)
	v := g.place(visitRequest{by: by, minutes: minutes}, day, start)
	v.id = g.number(entappointment.Table)
	row := ent.Appointment{
		ID: v.id, PracticeID: g.practice,
		StartTime: v.begin, FinishTime: v.finish, Duration: minutes, PractitionerID: by.id, Reason: reason,
		State: schema.Confirmed, Notes: new(notes), RoomID: &v.place.room, UserID: &g.staff.reception[0],
	}
	if !v.finish.After(g.now) {
		row.State = schema.Completed
	}
	const ahead = month * 24 * time.Hour
	booked := v.begin.Add(-ahead)
	for booked.After(g.now) { // entries far ahead were created during the last month
		booked = booked.Add(-ahead)
	}
	row.CreatedAt, row.UpdatedAt, row.PendingAt, row.ConfirmedAt = booked, booked, &booked, &booked
	if row.State == schema.Completed {
		row.CompletedAt, row.UpdatedAt = &row.FinishTime, row.FinishTime
	}
	g.out.appointments = append(g.out.appointments, row)
}
