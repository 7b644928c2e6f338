package web

import (
	"net/http"
	"strings"

	"chairside/ent"
	"chairside/internal/oauth"
	"chairside/internal/scope"
)

// application shows one of the practice's applications and the form to edit it.
func (s *Site) application(w http.ResponseWriter, r *http.Request) error {
	app, err := s.pathApplication(r)
	if err != nil {
		return err
	}
	f := form{values: map[string][]string{
		"name": {app.Name}, "redirect_uris": {strings.Join(app.RedirectUris, "\n")}, "scopes": strings.Fields(app.Scopes),
	}}
	if app.RefreshTokens {
		f.values.Set("refresh_tokens", "yes")
	}
	s.showApplication(w, r, http.StatusOK, app, s.restored(r, f, r.URL.Path))
	return nil
}

// pathApplication returns the application whose id is in the path.
func (s *Site) pathApplication(r *http.Request) (*ent.Application, error) {
	id, err := pathID(r)
	if err != nil {
		return nil, err
	}
	return oauth.ApplicationByID(r.Context(), s.DB.Ent, id)
}

func (s *Site) showApplication(w http.ResponseWriter, r *http.Request, status int, app *ent.Application, f form) {
	s.show(w, r, status, "application", view{Title: app.Name, Here: applicationsPath, Form: f, Page: struct {
		connection
		Matrix matrix
	}{connection{app, "", s.BaseURL}, s.matrixOf(f, scope.Everything())}})
}
