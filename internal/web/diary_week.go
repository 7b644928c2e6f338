package web

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"chairside/ent"
	"chairside/internal/civil"
	"chairside/internal/report"
)

// week is the use of the practitioners' time, by day.
type week struct {
	Of, Site string // for paper: "23 November 2026", and the site's name or "All sites"
	Days     []weekDay
	Rows     []weekRow
}

// weekDay is the heading of a day, with a link to it.
type weekDay struct {
	Name, Address string
	Today         bool
}

// weekRow is a practitioner's week; Cells has one cell for each day.
type weekRow struct {
	Practitioner string
	rank         int
	Cells        []weekCell
}

// weekCell is a practitioner's day, at all sites that the page covers.
type weekCell struct {
	Day                               string
	Session, Blocked, Booked, Outside int // minutes
	Visits                            int // patients, as on the page of the day
}

// Share is the booked share of the session time, in percent, or "" without any.
func (c weekCell) Share() string {
	if c.Session == 0 {
		return ""
	}
	return fmt.Sprintf("%d%%", (c.Booked*100+c.Session/2)/c.Session)
}

// Level is the share in tenths, for the colour.
func (c weekCell) Level() int { return c.Booked * 10 / max(1, c.Session) }

// Works reports whether the practitioner works or is booked on the day.
func (c weekCell) Works() bool { return c.Session+c.Outside+c.Visits > 0 }

// Closed reports whether all of the practitioner's sessions of the day are blocked, as on a bank
// holiday.
func (c weekCell) Closed() bool { return !c.Works() && c.Blocked > 0 }

// diaryWeek shows how full each practitioner's days are.
func (s *Site) diaryWeek(w http.ResponseWriter, r *http.Request) error {
	return s.showDiary(w, r, weekPath, "diary", func(ctx context.Context, client *ent.Client, q *question, v *diaryView) error {
		asked := q.filter
		asked.From = monday(asked.To)
		asked.To = asked.From.AddDays(6)
		days, err := report.DiaryDays(ctx, client, asked)
		if err != nil {
			return err
		}
		v.Week = weekOf(days, asked.From, q)
		v.Week.Site = v.Choices.site(q.form.Value("site"))
		return nil
	})
}

// monday returns the first day of the day's week.
func monday(day civil.Date) civil.Date { return day.AddDays(-(int(day.Weekday()) + 6) % 7) }

// weekOf lays out the days from first, a Monday.
func weekOf(days []report.DiaryDay, first civil.Date, q *question) *week {
	w := &week{Of: first.Time().Format("2 January 2006")}
	names := make([]string, 7)
	for i := range names {
		day := first.AddDays(i)
		names[i] = day.Time().Format("Mon 2 Jan")
		values := url.Values{"to": {day.String()}}
		for _, field := range []string{"site", "practitioner"} {
			if value := q.form.Value(field); value != "" {
				values.Set(field, value)
			}
		}
		w.Days = append(w.Days, weekDay{names[i], diaryPath + "?" + values.Encode(), day == q.today})
	}
	rows := map[int64]int{}
	for _, d := range days {
		n, known := rows[d.PractitionerID]
		if !known {
			n = len(w.Rows)
			rows[d.PractitionerID] = n
			row := weekRow{Practitioner: d.Practitioner, rank: d.Rank}
			for _, name := range names {
				row.Cells = append(row.Cells, weekCell{Day: name})
			}
			w.Rows = append(w.Rows, row)
		}
		cell := &w.Rows[n].Cells[int(d.Day.Weekday()+6)%7]
		cell.Session += d.Session
		cell.Blocked += d.Blocked
		cell.Booked += d.Booked
		cell.Outside += d.Outside
		cell.Visits += d.Visits
	}
	slices.SortStableFunc(w.Rows, func(a, b weekRow) int { return cmp.Compare(a.rank, b.rank) })
	return w
}
