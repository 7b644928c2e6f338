package web

import (
	"net/http"
	"strings"

	"chairside/ent"
	"chairside/internal/oauth"
	"chairside/internal/scope"
)

// newApplication shows the form for an application.
func (s *Site) newApplication(w http.ResponseWriter, r *http.Request) error {
	s.showNewApplication(w, r, http.StatusOK, form{values: map[string][]string{"kind": {"confidential"}}})
	return nil
}

func (s *Site) showNewApplication(w http.ResponseWriter, r *http.Request, status int, f form) {
	s.show(w, r, status, "application_new", view{
		Title: "Register an application", Here: applicationsPath, Form: f, Page: struct{ Families []family }{families(f, scope.Everything())},
	})
}

// registerApplication adds an application and shows how to connect it, its
// secret in this answer and never again.
func (s *Site) registerApplication(w http.ResponseWriter, r *http.Request) error {
	ctx, f := r.Context(), filled(r)
	draft := readDraft(f)
	switch f.Value("kind") {
	case "confidential":
	case "public":
		draft.Public = true
	default: // no browser sends it: one of the two is always chosen
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
	case f.addFault(err, draftLabels):
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

// readDraft reads what both forms of an application have.
func readDraft(f form) oauth.Draft {
	return oauth.Draft{
		Name:         f.Value("name"),
		RedirectURIs: strings.Split(strings.ReplaceAll(f.Value("redirect_uris"), "\r\n", "\n"), "\n"),
		Scopes:       f.values["scopes"],
	}
}

// draftLabels begin the messages of package oauth.
var draftLabels = []label{
	{"name", "The name", "Enter a name, by which users will know the application."},
	{"redirect_uris", "The redirect addresses", "Enter at least one address."},
	{"scopes", "The permissions", "Choose at least one thing that the application may ask for."},
}
