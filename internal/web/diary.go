package web

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"chairside/ent"
	"chairside/internal/apierror"
	"chairside/internal/audit"
	"chairside/internal/civil"
	"chairside/internal/report"
	"chairside/internal/signin"
)

const (
	diaryPath = "/diary"
	weekPath  = diaryPath + "/week"

	daySheetName = "day-sheet" // the report that the diary shows as a timeline
	byRoom       = "room"      // value of ?by= for a column per room
)

// diaryView is the diary of a day or a week, or the form with its mistakes.
type diaryView struct {
	Path          string // of the form
	Choices       choices
	Day           string // "Wednesday 1 July 2026"
	ByRoom        bool
	Periods       []period // the days or weeks before and after, and today's
	Views         []period // other views of the same day
	Table         string   // URL of the day sheet with its downloads
	Earliest, End string   // first and last day that the form accepts, YYYY-MM-DD

	Sites                   []timeline // of a day
	Cancelled, DidNotAttend int
	Week                    *week // nil on the page of a day
}

// diaryDay shows the day sheet as a timeline.
func (s *Site) diaryDay(w http.ResponseWriter, r *http.Request) error {
	return s.showDiary(w, r, diaryPath, daySheetName, func(ctx context.Context, client *ent.Client, q *question, v *diaryView) error {
		sheet, err := report.DaySheet(ctx, client, q.filter)
		if err != nil {
			return err
		}
		v.Sites, v.Cancelled, v.DidNotAttend = timelines(sheet, q.filter.To, signin.From(ctx).Zone, v.ByRoom), sheet.Cancelled, sheet.DidNotAttend
		return nil
	})
}

// showDiary checks the visitor's role against the report named, and the form, and shows the
// page with what read adds. It is audited as the report is.
func (s *Site) showDiary(w http.ResponseWriter, r *http.Request, path, name string, read func(context.Context, *ent.Client, *question, *diaryView) error) error {
	found, err := report.Find(daySheetName)
	if err != nil {
		return err
	}
	audited, err := report.Find(name)
	switch {
	case err != nil:
		return apierror.NotFound()
	case !mayRead(signin.From(r.Context()), audited):
		return errReportLevel
	}
	q, err := parseQuestion(r, found)
	if err != nil {
		return err
	}
	q.filter.Keys = s.DB.Keys
	v := diaryView{Path: path, ByRoom: r.URL.Query().Get("by") == byRoom, Earliest: earliestDay.String(), End: latestDay.String()}
	err = s.DB.View(r.Context(), func(client *ent.Client) (err error) {
		if v.Choices, err = readChoices(r.Context(), client, found); err != nil {
			return err
		}
		if q.checkChoices(v.Choices); len(q.form.wrong) > 0 {
			return nil
		}
		return read(r.Context(), client, q, &v)
	})
	if err != nil {
		return err
	}
	status := http.StatusOK
	if len(q.form.wrong) > 0 {
		status = http.StatusUnprocessableEntity
	} else {
		audit.From(r.Context()).Event(audit.Event{Action: "report", Record: name})
	}
	v.addLinks(q)
	title := "Diary"
	if path == weekPath {
		title = "Diary: week"
	}
	s.show(w, r, status, "diary", view{Title: title, Here: diaryPath, Style: "diary.css", Form: q.form, Page: v})
	return nil
}

// checkChoices adds a message for a site or practitioner that the form does not offer.
func (q *question) checkChoices(c choices) {
	offers := func(all []choice, id string) bool {
		return id == "" || slices.ContainsFunc(all, func(c choice) bool { return c.ID == id })
	}
	if q.form.Error("site") == "" && !offers(c.Sites, q.form.Value("site")) {
		q.form.add("site", noSite)
	}
	if q.form.Error("practitioner") == "" && !offers(c.Practitioners, q.form.Value("practitioner")) {
		q.form.add("practitioner", noPractitioner)
	}
}

// addLinks adds the links to other days and views, which keep the site and practitioner.
func (v *diaryView) addLinks(q *question) {
	day := q.filter.To
	v.Day = day.Time().Format("Monday 2 January 2006")
	link := func(name, path string, to civil.Date, rooms, current bool) period {
		values := url.Values{"to": {to.String()}}
		for _, field := range []string{"site", "practitioner"} {
			if value := q.form.Value(field); value != "" && q.form.Error(field) == "" {
				values.Set(field, value)
			}
		}
		if rooms {
			values.Set("by", byRoom)
		}
		return period{name, path + "?" + values.Encode(), current && len(q.form.wrong) == 0}
	}
	unit, step, today := "Day", 1, day == q.today
	if v.Path == weekPath {
		unit, step, today = "Week", 7, monday(day) == monday(q.today)
	}
	this := map[string]string{"Day": "Today", "Week": "This week"}[unit]
	v.Periods = []period{
		link(unit+" before", v.Path, day.AddDays(-step), v.ByRoom, false),
		link(this, v.Path, q.today, v.ByRoom, today),
		link(unit+" after", v.Path, day.AddDays(step), v.ByRoom, false),
	}
	onDay := v.Path == diaryPath
	v.Views = []period{
		link("Practitioners", diaryPath, day, false, onDay && !v.ByRoom),
		link("Rooms", diaryPath, day, true, onDay && v.ByRoom),
		link("Week", weekPath, day, false, !onDay),
	}
	v.Table = link("", reportsPath+"/"+daySheetName, day, false, false).Address
}
