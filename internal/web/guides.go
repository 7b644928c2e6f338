package web

import (
	"html/template"
	"net/http"

	"chairside/internal/apierror"
	"chairside/internal/guides"
)

const guidesPath = "/docs/guides/"

// guides shows the index of the guides.
func (s *Site) guides(w http.ResponseWriter, r *http.Request) error {
	s.show(w, r, http.StatusOK, "guides", view{Title: "Guides", Here: guidesPath, Page: guides.All})
	return nil
}

// guide shows a guide.
func (s *Site) guide(w http.ResponseWriter, r *http.Request) error {
	g, ok := guides.Find(r.PathValue("name"))
	if !ok {
		return apierror.NotFound()
	}
	// The text is ours: package guides embeds it.
	s.show(w, r, http.StatusOK, "guide", view{Title: g.Title, Here: guidesPath, Page: template.HTML(g.HTML)})
	return nil
}
