package web

import (
	"net/http"

	"chairside/ent"
	"chairside/internal/oauth"
)

// editApplication changes an application's name, redirect URIs, scopes and refresh tokens.
func (s *Site) editApplication(w http.ResponseWriter, r *http.Request) error {
	ctx, f := r.Context(), submitted(r)
	app, err := s.pathApplication(r)
	if err != nil {
		return err
	}
	err = s.DB.Tx(ctx, func(tx *ent.Client) error { return oauth.Edit(ctx, tx, app.ID, s.readDraft(f)) })
	switch {
	case f.addFieldErrors(err, draftLabels):
		s.showApplication(w, r, http.StatusUnprocessableEntity, app, f)
		return nil
	case err != nil:
		return err
	}
	return redirect(w, applicationsPath+"/"+app.ID.String()+"?done=application-saved")
}
