package web

import (
	"net/http"

	"chairside/internal/oauth"
)

// deleteApplication deletes an application and revokes its tokens.
func (s *Site) deleteApplication(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	id, err := pathID(r)
	if err != nil {
		return err
	}
	if err := oauth.DeleteEverywhere(ctx, s.DB, id); err != nil {
		return err
	}
	return redirect(w, applicationsPath+"?done=application-deleted")
}
