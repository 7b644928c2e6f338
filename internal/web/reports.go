package web

import (
	"net/http"

	"chairside/internal/report"
	"chairside/internal/signin"
)

const reportsPath = "/reports"

// reportGroup is a heading with its reports.
type reportGroup struct {
	Title   string
	Reports []reportEntry
}

// reportEntry is a report in the list.
type reportEntry struct {
	Name     string
	Question string // the question that it answers
}

// Title is the report's title.
func (e reportEntry) Title() string { return e.report().Title }

func (e reportEntry) report() *report.Report {
	r, err := report.Find(e.Name)
	if err != nil {
		panic(err) // reportGroups names a report that does not exist
	}
	return r
}

// reportGroups are all reports, in list order.
var reportGroups = []reportGroup{
	{"Diary", []reportEntry{
		{"day-sheet", "The day's appointments by practitioner, with gaps, arrivals and alerts."},
		{"diary", "How much working time is booked, and how much was lost to cancellations and missed appointments."},
	}},
	{"Patients", []reportEntry{
		{"recalls", "Patients due for an exam or a hygiene visit who have not booked, and how to reach them."},
		{"sources", "How new patients found the practice, and the income from their first year."},
	}},
	{"NHS", []reportEntry{
		{"contract-performance", "Whether contracts and practitioners are on course to meet their targets by the end of March."},
		{"claims", "Claims that are waiting, claims that need action, and units awarded against units expected."},
	}},
	{"Money", []reportEntry{
		{"income", "Invoiced, paid and outstanding amounts by month, practitioner and payment plan, NHS and private."},
		{"aged-debt", "Who owes money, how much and for how long."},
		{"treatments", "The most frequent treatments, and whether they earn the fee that the payment plan sets."},
	}},
}

// reports lists the reports that the visitor may open.
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
