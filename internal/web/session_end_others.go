package web

import "net/http"

// endOtherSessions revokes the visitor's sessions in all other browsers.
func (s *Site) endOtherSessions(w http.ResponseWriter, r *http.Request) error {
	if err := s.sessions.EndOthers(r.Context()); err != nil {
		return err
	}
	return redirect(w, sessionsPath+"?done=others-ended")
}
