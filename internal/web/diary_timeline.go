package web

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"chairside/internal/civil"
	"chairside/internal/report"
	"chairside/schema"
)

const (
	slotMinutes  = 5                // minutes of a row of the timeline
	slotsPerHour = 60 / slotMinutes // rows of an hour
	longestAxis  = 26               // hours: a day on which the clocks change has more than 24
	mostLanes    = 24               // entries side by side; styles exist for this many
)

// timeline is the day at one site: columns on a clock axis.
type timeline struct {
	Site    string
	ID      string // of the heading
	Hours   int    // length of the axis
	Fine    bool   // rows are twice as high, because an appointment of the day has only one
	Lanes   int    // the most of a column
	Marks   []mark
	Columns []column
	Alerts  []item // patients with a medical alert, in order of time
}

// mark is a full hour on the axis.
type mark struct {
	Row  int
	Time string
}

// column is the day of one practitioner or room.
type column struct {
	Name  string
	Lanes int // the most entries side by side
	Items []item
}

// item is an entry placed in a column.
type item struct {
	report.SheetEntry
	Row, Rows int // on the axis, from 1
	Lane      int // 0 for the whole width
	Clash     bool
	OneLine   bool // no more of its text fits
	Late      bool // near the end of the axis
}

// Class is the item's class, for its colour.
func (i item) Class() string {
	switch i.Kind {
	case report.Gap:
		return "free"
	case report.Other:
		return "other"
	}
	return strings.ReplaceAll(strings.ToLower(string(i.State)), " ", "-")
}

// Facts joins what receptionists need beside the name.
func (i item) Facts() string {
	facts := []string{fmt.Sprintf("age %d", i.Age)}
	if i.Phone != "" {
		facts = append(facts, i.Phone)
	}
	return strings.Join(facts, " · ")
}

// Name says in a few words which entry it is.
func (i item) Name() string { return i.Start.Format("15:04") + " " + cmp.Or(i.Patient, "No patient") }

// Details is what there is to say beside the patient.
func (i item) Details(rooms bool) string {
	parts := []string{i.Reason}
	if i.Kind == report.Other && i.Notes != "" { // why the time is blocked
		parts = append(parts, i.Notes)
	}
	if rooms {
		parts = append(parts, i.Practitioner)
	} else if i.Room != "" {
		parts = append(parts, i.Room)
	}
	return strings.Join(parts, " · ")
}

// Length is the item's length in words.
func (i item) Length() string { return report.English.Format(report.Minutes, i.Minutes) }

// Visits returns the number of patients in the column, as the page of the week counts them.
func (c column) Visits() (n int) {
	for _, i := range c.Items {
		if i.Counts {
			n++
		}
	}
	return n
}

// timelines lays out a day sheet: a timeline per site, in the order of the sheet. Columns are
// practitioners, or rooms, which have no free time of their own.
func timelines(sheet *report.Sheet, day civil.Date, zone *time.Location, rooms bool) (sites []timeline) {
	for rest := sheet.Entries; len(rest) > 0; {
		n := slices.IndexFunc(rest, func(e report.SheetEntry) bool { return e.SiteID != rest[0].SiteID })
		if n < 0 {
			n = len(rest)
		}
		site := timeline{Site: rest[0].Site, ID: fmt.Sprintf("site-%d", len(sites)+1)}
		site.fill(rest[:n], day, zone, rooms)
		if rest = rest[n:]; len(site.Columns) > 0 {
			sites = append(sites, site)
		}
	}
	fine := slices.ContainsFunc(sites, func(t timeline) bool { return t.Fine })
	for i := range sites {
		sites[i].Fine = fine // hours are equally high at all sites
		sites[i].fit()
	}
	return sites
}

// fill places the entries of the site. The axis counts real minutes, so on a day when the
// clocks change an hour is missing or shown twice.
func (t *timeline) fill(entries []report.SheetEntry, day civil.Date, zone *time.Location, rooms bool) {
	dayStart, dayEnd := day.In(zone), day.AddDays(1).In(zone)
	first, last := dayEnd, dayStart
	columns := map[string]int{}
	for _, e := range entries {
		key, name := fmt.Sprint(e.PractitionerID), e.Practitioner
		if rooms {
			if e.Kind == report.Gap {
				continue
			}
			key, name = e.RoomID.String(), cmp.Or(e.Room, "No room")
		}
		n, known := columns[key]
		if !known {
			n = len(t.Columns)
			columns[key] = n
			t.Columns = append(t.Columns, column{Name: name})
		}
		t.Columns[n].Items = append(t.Columns[n].Items, item{SheetEntry: e})
		first, last = earlier(first, e.Start), later(last, e.Finish)
	}
	if len(t.Columns) == 0 {
		return
	}
	if rooms {
		slices.SortStableFunc(t.Columns, func(a, b column) int { return strings.Compare(schema.Fold(a.Name), schema.Fold(b.Name)) })
	}
	first, last = later(first, dayStart), earlier(last, dayEnd)
	first = first.Add(-time.Duration(first.Minute()) * time.Minute)
	t.Hours = min(longestAxis, max(1, int((last.Sub(first)+time.Hour-1)/time.Hour)))
	for hour := range t.Hours {
		t.Marks = append(t.Marks, mark{hour*slotsPerHour + 1, first.Add(time.Duration(hour) * time.Hour).Format("15:04")})
	}
	for i := range t.Columns {
		c := &t.Columns[i]
		c.place(first, t.Hours*slotsPerHour)
		t.Lanes = max(t.Lanes, c.Lanes)
		t.Fine = t.Fine || slices.ContainsFunc(c.Items, func(i item) bool { return i.Kind != report.Gap && i.Rows == 1 })
	}
}

// fit marks the entries with little room for their text, and lists the alerts, which must not depend on it.
func (t *timeline) fit() {
	for _, c := range t.Columns {
		for n := range c.Items {
			i := &c.Items[n]
			i.OneLine = lines(i.Rows, t.Fine) == 1
			i.Late = i.Row+i.Rows > (t.Hours-1)*slotsPerHour
			if i.Alert != "" {
				t.Alerts = append(t.Alerts, *i)
			}
		}
	}
	slices.SortStableFunc(t.Alerts, func(a, b item) int { return a.Start.Compare(b.Start) })
}

// place puts the items of the column on the axis, sorted by time, and overlapping ones into
// lanes. Both ends are rounded alike, so adjacent entries stay adjacent.
func (c *column) place(first time.Time, slots int) {
	slices.SortStableFunc(c.Items, func(a, b item) int { return a.Start.Compare(b.Start) })
	row := func(t time.Time) int {
		return min(slots, max(0, int((t.Sub(first)+slotMinutes*time.Minute/2)/(slotMinutes*time.Minute))))
	}
	c.Lanes = 1
	var group int   // index of the first item of those that overlap
	var until []int // the row at which each lane of the group is free
	closeGroup := func(end int) {
		if len(until) == 1 {
			for i := group; i < end; i++ {
				c.Items[i].Lane = 0
			}
		}
		group, until = end, nil
	}
	for n := range c.Items {
		i := &c.Items[n]
		start := min(row(i.Start), slots-1)
		i.Row, i.Rows = start+1, max(1, row(i.Finish)-start)
		if len(until) > 0 && start >= slices.Max(until) {
			closeGroup(n)
		}
		lane := slices.IndexFunc(until, func(free int) bool { return free <= start })
		if lane < 0 {
			lane = len(until)
			until = append(until, 0)
		}
		until[lane] = start + i.Rows
		i.Lane = min(lane+1, mostLanes)
		c.Lanes = max(c.Lanes, min(len(until), mostLanes))
		for m := range n {
			if o := &c.Items[m]; i.clashes(o) {
				i.Clash, o.Clash = true, true
			}
		}
	}
	closeGroup(len(c.Items))
}

// clashes reports whether two appointments overlap that need the same practitioner or the same room.
func (i *item) clashes(o *item) bool {
	return i.Kind != report.Gap && o.Kind != report.Gap && i.Start.Before(o.Finish) && o.Start.Before(i.Finish) &&
		(i.PractitionerID == o.PractitionerID || i.RoomID != uuid.Nil && i.RoomID == o.RoomID)
}

func earlier(a, b time.Time) time.Time { return slices.MinFunc([]time.Time{a, b}, time.Time.Compare) }

func later(a, b time.Time) time.Time { return slices.MaxFunc([]time.Time{a, b}, time.Time.Compare) }
