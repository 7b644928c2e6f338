package web

import (
	"net/http"
	"strings"

	"chairside/ent"
	"chairside/internal/oauth"
	"chairside/internal/scope"
)

// newApplication shows the form that registers an application.
func (s *Site) newApplication(w http.ResponseWriter, r *http.Request) error {
	s.showNewApplication(w, r, http.StatusOK, s.restored(r, form{values: map[string][]string{"kind": {"confidential"}}}, applicationsPath))
	return nil
}

func (s *Site) showNewApplication(w http.ResponseWriter, r *http.Request, status int, f form) {
	s.show(w, r, status, "application_new", view{
		Title: "Register an application", Here: applicationsPath, Form: f, Page: struct{ Matrix matrix }{s.matrixOf(f, scope.Everything())},
	})
}

// registerApplication registers an application and shows how to connect it. The
// secret appears in this response only.
func (s *Site) registerApplication(w http.ResponseWriter, r *http.Request) error {
	ctx, f := r.Context(), submitted(r)
	draft := s.readDraft(f)
	switch f.Value("kind") {
	case "confidential":
	case "public":
		draft.Public = true
	default: // no browser sends this: one option is always selected
		f.add("kind", "Choose where the application runs.")
		s.showNewApplication(w, r, http.StatusUnprocessableEntity, f)
		return nil
	}
	var app *ent.Application
	var secret string
	err := s.DB.Tx(ctx, func(tx *ent.Client) (err error) {
		app, secret, err = oauth.Register(ctx, tx, draft)
		return err
	})
	switch {
	case f.addFieldErrors(err, draftLabels):
		s.showNewApplication(w, r, http.StatusUnprocessableEntity, f)
		return nil
	case err != nil:
		return err
	}
	s.show(w, r, http.StatusOK, "application_made", view{
		Title: app.Name + " is registered", Here: applicationsPath, Page: connection{app, secret, s.BaseURL},
	})
	return nil
}

// readDraft reads the fields that the register and edit forms share.
func (s *Site) readDraft(f form) oauth.Draft {
	return oauth.Draft{
		Name:         f.Value("name"),
		RedirectURIs: strings.Split(strings.ReplaceAll(f.Value("redirect_uris"), "\r\n", "\n"), "\n"),
		Scopes:       s.chosenScopes(f, scope.Everything()),

		RefreshTokens: f.Chosen("refresh_tokens", "yes"),
	}
}

// draftLabels turn the field errors of package oauth into sentences.
var draftLabels = []label{
	{"name", "The name", "Enter a name."},
	{"redirect_uris", "Redirect URIs", "Enter at least one redirect URI."},
	{"scopes", "Permissions", "Choose at least one permission."},
}
