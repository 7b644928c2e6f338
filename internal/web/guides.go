package web

import (
	"html/template"
	"net/http"
	"slices"

	"chairside/internal/apierror"
	"chairside/internal/guides"
)

const guidesPath = "/docs/guides/"

// guides shows the index of the guides.
func (s *Site) guides(w http.ResponseWriter, r *http.Request) error {
	s.show(w, r, http.StatusOK, "guides", view{Title: "Guides", Menu: s.menuOf("", guidesPath), Page: guides.Contents()})
	return nil
}

// guidePage is a guide between its neighbours in the order of reading.
type guidePage struct {
	guides.Guide
	Lead, Text     template.HTML
	Previous, Next *guides.Guide
}

// guide shows a guide.
func (s *Site) guide(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("name")
	i := slices.IndexFunc(guides.All(), func(g guides.Guide) bool { return g.Name == name })
	if i < 0 {
		return apierror.NotFound()
	}
	g := guides.All()[i].At(s.BaseURL)
	page := guidePage{Guide: g, Lead: template.HTML(g.Intro), Text: template.HTML(g.HTML)} // ours: package guides embeds it
	if i > 0 {
		page.Previous = &guides.All()[i-1]
	}
	if i+1 < len(guides.All()) {
		page.Next = &guides.All()[i+1]
	}
	s.show(w, r, http.StatusOK, "guide", view{Title: g.Title, Menu: s.menuOf("", guidesPath+name), Page: page})
	return nil
}
