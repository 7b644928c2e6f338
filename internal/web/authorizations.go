package web

import (
	"net/http"

	"chairside/internal/oauth"
	"chairside/internal/signin"
)

const authorizationsPath = "/settings/authorizations"

// authorizations lists the applications that the visitor has authorised.
func (s *Site) authorizations(w http.ResponseWriter, r *http.Request) error {
	all, err := oauth.Authorizations(r.Context(), s.DB.Ent, signin.From(r.Context()).User)
	if err != nil {
		return err
	}
	s.show(w, r, http.StatusOK, "authorizations", view{Title: "Authorised applications", Here: authorizationsPath, Page: all})
	return nil
}
