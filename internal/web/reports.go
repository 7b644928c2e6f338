package web

import (
	"net/http"

	"chairside/internal/report"
	"chairside/internal/signin"
)

const reportsPath = "/reports"

// reportGroup is some reports under one heading.
type reportGroup struct {
	Title   string
	Reports []reportEntry
}

// reportEntry is a report in the list.
type reportEntry struct {
	Name     string
	Question string // what it answers
}

// Title is that of the report.
func (e reportEntry) Title() string { return e.report().Title }

func (e reportEntry) report() *report.Report {
	r, err := report.Find(e.Name)
	if err != nil {
		panic(err) // a name in reportGroups: a mistake of ours
	}
	return r
}

// reportGroups are all reports, as they are listed.
var reportGroups = []reportGroup{
	{"Diary", []reportEntry{
		{"day-sheet", "Who comes on a day, when and to whom, with gaps, arrivals and alerts."},
		{"diary", "How much of the working time is booked, and how much was lost to cancellations and missed appointments."},
	}},
	{"Patients", []reportEntry{
		{"recalls", "Who is due for an exam or a hygiene visit and has not booked one, and how to reach them."},
		{"sources", "How new patients found the practice, and what they brought in during their first year."},
	}},
	{"NHS", []reportEntry{
		{"contract-performance", "Whether contracts and practitioners are on pace to reach their targets by the end of March."},
		{"claims", "Which claims are waiting, which need something done, and what was awarded of what was expected."},
	}},
	{"Money", []reportEntry{
		{"income", "What was invoiced, paid and is outstanding, by month, practitioner, payment plan, NHS and private."},
		{"aged-debt", "Who owes money, how much, and for how long."},
		{"treatments", "Which treatments are done most, and whether they bring the fee that the plan asks."},
	}},
}

// reports lists the reports that the visitor may see.
func (s *Site) reports(w http.ResponseWriter, r *http.Request) error {
	s.show(w, r, http.StatusOK, "reports", view{Title: "Reports", Here: reportsPath, Page: reportsFor(signin.From(r.Context()))})
	return nil
}

func reportsFor(v *signin.Visitor) (groups []reportGroup) {
	for _, group := range reportGroups {
		open := reportGroup{Title: group.Title}
		for _, e := range group.Reports {
			if mayRead(v, e.report()) {
				open.Reports = append(open.Reports, e)
			}
		}
		if len(open.Reports) > 0 {
			groups = append(groups, open)
		}
	}
	return groups
}

func mayRead(v *signin.Visitor, r *report.Report) bool {
	return r.OpenTo(v.User.Role.PermissionLevel())
}
