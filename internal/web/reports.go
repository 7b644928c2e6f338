package web

import (
	"net/http"

	"chairside/internal/report"
	"chairside/internal/signin"
)

const reportsPath = "/reports"

// reportGroup is a heading with its reports.
type reportGroup struct {
	Title   report.Group
	Reports []*report.Report
}

// reports lists the reports that the visitor may open.
func (s *Site) reports(w http.ResponseWriter, r *http.Request) error {
	s.show(w, r, http.StatusOK, "reports", view{Title: "Reports", Here: reportsPath, Page: reportsFor(signin.From(r.Context()))})
	return nil
}

// reportsFor groups the reports that the visitor may open. Reports of a group are
// neighbours in report.All.
func reportsFor(v *signin.Visitor) (groups []reportGroup) {
	for i := range report.All {
		r := &report.All[i]
		if !mayRead(v, r) {
			continue
		}
		if n := len(groups); n == 0 || groups[n-1].Title != r.Group {
			groups = append(groups, reportGroup{Title: r.Group})
		}
		last := &groups[len(groups)-1]
		last.Reports = append(last.Reports, r)
	}
	return groups
}

func mayRead(v *signin.Visitor, r *report.Report) bool {
	return r.OpenTo(v.User.Role.PermissionLevel())
}
