package web

import (
	"net/http"

	"chairside/internal/oauth"
)

const applicationsPath = "/settings/applications"

// applications lists the practice's applications.
func (s *Site) applications(w http.ResponseWriter, r *http.Request) error {
	all, err := oauth.Applications(r.Context(), s.DB.Ent)
	if err != nil {
		return err
	}
	s.show(w, r, http.StatusOK, "applications", view{Title: "Applications", Here: applicationsPath, Page: all})
	return nil
}
