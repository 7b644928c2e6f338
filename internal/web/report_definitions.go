package web

import (
	"html/template"
	"net/http"

	"chairside/internal/apierror"
	"chairside/internal/report"
	"chairside/internal/report/render"
)

// definitionsView lists the definitions of a report.
type definitionsView struct {
	*report.Report
	List template.HTML
}

// reportDefinitions shows what a report counts, with the sources of its rules. It reads no data.
func (s *Site) reportDefinitions(w http.ResponseWriter, r *http.Request) error {
	found, file, err := pathReport(r)
	if err != nil {
		return err
	}
	if file != "" {
		return apierror.NotFound()
	}
	list, err := render.DefinitionList(found)
	if err != nil {
		return err
	}
	s.show(w, r, http.StatusOK, "report_definitions", view{Title: found.Title + ": definitions", Here: reportsPath, Page: definitionsView{found, list}})
	return nil
}
