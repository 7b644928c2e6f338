package web

import (
	"html/template"
	"net/http"
	"strings"

	"chairside/ent"
	"chairside/internal/fault"
	"chairside/internal/report"
	"chairside/internal/signin"
)

// reportRows is how many rows of a table a page shows. Browsers are slow with
// more, and nobody reads them; the files hold all.
const reportRows = 1000

// reportView is a report, or what is wrong with what was asked for.
type reportView struct {
	*report.Report
	Question      string
	Choices       choices
	Periods       []period
	Answer        *report.Answer // nil where the form is wrong
	Fragment      template.HTML
	CSV, JSON     string // addresses of the files
	Earliest, End string // of what the form takes, YYYY-MM-DD
}

// fileFormats are the endings under which a report is a file.
var fileFormats = []report.Format{report.AsCSV, report.AsJSON}

// report shows a report, or sends it as a file. All that is read, names for
// the form included, is one state of the database.
func (s *Site) report(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	found, file, err := pathReport(r)
	if err != nil {
		return err
	}
	q, err := askedOf(r, found)
	if err != nil {
		return err
	}
	var answer *report.Answer
	var offered choices
	err = s.DB.View(ctx, func(client *ent.Client) (err error) {
		if len(q.form.wrong) == 0 {
			if answer, err = found.Ask(ctx, client, q.filter); !q.addRefusal(err) && err != nil {
				return err
			}
		}
		if answer == nil || file == "" {
			offered, err = readChoices(ctx, client, found, q.filter)
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case answer != nil && file != "":
		return sendReport(w, r, answer, file)
	}
	return s.showReport(w, r, found, q, answer, offered)
}

// pathReport is the report that the address names, and the format of the file
// if it is to be one.
func pathReport(r *http.Request) (found *report.Report, file report.Format, err error) {
	name := r.PathValue("name")
	for _, f := range fileFormats {
		if base, ok := strings.CutSuffix(name, "."+string(f)); ok {
			name, file = base, f
			break
		}
	}
	found, err = report.Find(name)
	switch {
	case err != nil:
		return nil, "", fault.NotFound()
	case !mayRead(signin.From(r.Context()), found):
		return nil, "", errReportLevel
	}
	return found, file, nil
}

func (s *Site) showReport(w http.ResponseWriter, r *http.Request, found *report.Report, q *question, answer *report.Answer, offered choices) error {
	page := reportView{
		Report: found, Question: questionOf(found), Choices: offered,
		Periods: q.periods(), Answer: answer, Earliest: earliestDay.String(), End: latestDay.String(),
	}
	status := http.StatusUnprocessableEntity
	if answer != nil {
		status = http.StatusOK
		fragment, err := answer.Fragment(reportRows)
		if err != nil {
			return err
		}
		page.Fragment, page.CSV, page.JSON = fragment, q.address("."+string(report.AsCSV)), q.address("."+string(report.AsJSON))
	}
	s.show(w, r, status, "report", view{Title: found.Title, Here: reportsPath, Form: q.form, Page: page})
	return nil
}

func questionOf(r *report.Report) string {
	for _, group := range reportGroups {
		for _, e := range group.Reports {
			if e.Name == r.Name {
				return e.Question
			}
		}
	}
	return ""
}
