package web

import (
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"chairside/ent"
	"chairside/internal/apierror"
	"chairside/internal/audit"
	"chairside/internal/report"
	"chairside/internal/report/render"
	"chairside/internal/signin"
)

// reportRows is the most rows of a table that a page shows. Browsers are slow with
// more; the files hold all rows.
const reportRows = 1000

// reportView is a report, or the form with its mistakes.
type reportView struct {
	*report.Report
	Question      string
	Choices       choices
	Periods       []period
	Gap           template.HTML  // marks where a streamed page is split
	Answer        *report.Answer // nil if the form is invalid or the report failed
	Failed        *problem       // the error after streaming began
	RequestID     string
	Fragment      template.HTML
	Files         map[string]string // their URLs by format
	Comparison    string            // URL with or without a comparison, "" if there can be none
	Whole         string            // URL of the report if the page lists the records of a figure
	Kept          map[string]string // what the form keeps of the view
	Earliest, End string            // first and last day that the form accepts, YYYY-MM-DD
}

// fileFormats are the formats that a report can be downloaded in.
var fileFormats = []render.Format{render.CSV, render.XLSX, render.JSON}

// report shows a report, or sends it as a file. All reads, including the names for
// the form, see one snapshot of the database.
func (s *Site) report(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	found, file, err := pathReport(r)
	if err != nil {
		return err
	}
	q, err := parseQuestion(r, found)
	if err != nil {
		return err
	}
	q.filter.Keys = s.DB.Keys
	page := reportPage{site: s, reportView: reportView{
		Report: found, Question: found.Question, Periods: q.periods(), Earliest: earliestDay.String(), End: latestDay.String(),
		RequestID: w.Header().Get("X-Request-Id"), Comparison: q.comparison(), Kept: map[string]string{},
	}, w: w, r: r, form: &q.form}
	if q.filter.Behind != nil {
		page.Whole = q.whole()
	} else {
		page.Kept["sort"], page.Kept["compare"] = q.form.Value("sort"), q.form.Value("compare")
	}
	if file == "" && r.Method == http.MethodGet {
		page.notices = s.notices(r, reportsPath)
		ctx = report.WithProgress(ctx, page.step)
	}
	view := s.DB.ViewForReport
	if len(q.form.wrong) > 0 { // only the form is shown
		view = s.DB.View
	}
	err = view(ctx, func(client *ent.Client) (err error) {
		if page.Choices, err = readChoices(ctx, client, found); err != nil || len(q.form.wrong) > 0 {
			return err
		}
		if page.Answer, err = found.Ask(ctx, client, q.filter); q.addFilterError(err) {
			return nil
		}
		return err
	})
	if err == nil && page.Answer != nil {
		event := audit.Event{Action: "report", Record: found.Name}
		if file != "" {
			event = audit.Event{Action: "export", Record: found.Name + "." + string(file)}
		}
		audit.From(ctx).Event(event)
	}
	switch {
	case err == nil && page.Answer != nil && file != "":
		return sendReport(w, r, page.Answer, file, q.table)
	case err == nil && page.Answer != nil:
		page.Files = make(map[string]string, len(fileFormats))
		for _, format := range fileFormats {
			page.Files[string(format)] = q.address("."+string(format), func(url.Values) {})
		}
		page.Fragment, err = render.Fragment(page.Answer, reportRows, q.links())
	}
	switch {
	case page.begun:
		switch {
		case err != nil:
			page.Answer, page.Failed = nil, problemFor(s.Explain(ctx, err))
		case page.Answer == nil: // the form is sent already
			page.Failed = &problem{http.StatusUnprocessableEntity, "The report cannot be shown like this", q.form.wrong[0].Message}
		}
		page.end()
	case err != nil:
		return err
	case page.Answer == nil:
		s.show(w, r, http.StatusUnprocessableEntity, "report", page.view())
	default:
		s.show(w, r, http.StatusOK, "report", page.view())
	}
	return nil
}

// splitFormat splits the name of a file into the report's and the format, "" without one.
func splitFormat(name string) (base string, file render.Format) {
	for _, f := range fileFormats {
		if base, ok := strings.CutSuffix(name, "."+string(f)); ok {
			return base, f
		}
	}
	return name, ""
}

// pathReport returns the report that the path names, and the file format if the path
// has one.
func pathReport(r *http.Request) (found *report.Report, file render.Format, err error) {
	name, file := splitFormat(r.PathValue("name"))
	found, err = report.Find(name)
	switch {
	case err != nil:
		return nil, "", apierror.NotFound()
	case !mayRead(signin.From(r.Context()), found):
		return nil, "", errReportLevel
	}
	return found, file, nil
}
