package web

import (
	"net/http"
	"slices"

	"chairside/ent"
	"chairside/internal/apierror"
)

// endSession revokes one of the visitor's sessions.
func (s *Site) endSession(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r)
	if err != nil {
		return err
	}
	all, err := s.sessions.List(r.Context())
	switch {
	case err != nil:
		return err
	case !slices.ContainsFunc(all, func(row *ent.Session) bool { return row.ID == id }):
		return apierror.NotFound()
	}
	if err := s.sessions.End(r.Context(), id); err != nil {
		return err
	}
	return redirect(w, sessionsPath+"?done=session-ended")
}
