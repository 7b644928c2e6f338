package web

import (
	"net/http"

	"chairside/internal/oauth"
)

const authorizationsPath = "/settings/authorizations"

// authorizations lists the applications that may act for the visitor.
func (s *Site) authorizations(w http.ResponseWriter, r *http.Request) error {
	all, err := oauth.Authorizations(r.Context(), s.DB.Ent)
	if err != nil {
		return err
	}
	s.show(w, r, http.StatusOK, "authorizations", view{Title: "Authorised applications", Here: authorizationsPath, Page: all})
	return nil
}
