package web

import (
	"errors"
	"net/http"

	"chairside/ent"
	"chairside/internal/apierror"
	"chairside/internal/oauth"
)

// rotateSecret replaces an application's secret and shows the new one, in this
// response only.
func (s *Site) rotateSecret(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	app, err := s.pathApplication(r)
	if err != nil {
		return err
	}
	var secret string
	err = s.DB.Tx(ctx, func(tx *ent.Client) (err error) {
		secret, err = oauth.RotateSecret(ctx, tx, app.ID)
		return err
	})
	switch {
	case errors.Is(err, oauth.ErrPublic):
		return apierror.NotFound() // the page of a public application has no such form
	case err != nil:
		return err
	}
	s.show(w, r, http.StatusOK, "application_made", view{
		Title: "New secret for " + app.Name, Here: applicationsPath, Page: connection{app, secret, s.BaseURL},
	})
	return nil
}
