package web

import (
	"html/template"
	"net/http"

	"chairside/internal/apierror"
	"chairside/internal/guides"
	"chairside/internal/signin"
)

const guidesPath = "/docs/guides/"

// guides shows the index of the guides.
func (s *Site) guides(w http.ResponseWriter, r *http.Request) error {
	s.show(w, r, http.StatusOK, "guides", view{Title: "Guides", Here: besideSections(r), Page: guides.All})
	return nil
}

// guide shows a guide.
func (s *Site) guide(w http.ResponseWriter, r *http.Request) error {
	g, ok := guides.Find(r.PathValue("name"))
	if !ok {
		return apierror.NotFound()
	}
	// The text is ours: package guides embeds it.
	s.show(w, r, http.StatusOK, "guide", view{Title: g.Title, Here: besideSections(r), Page: template.HTML(g.HTML)})
	return nil
}

// besideSections returns the place of the guides in the navigation, which only signed-in
// visitors see.
func besideSections(r *http.Request) string {
	if signin.From(r.Context()) == nil {
		return ""
	}
	return guidesPath
}
