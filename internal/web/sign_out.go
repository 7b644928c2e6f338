package web

import (
	"net/http"
	"net/url"

	"chairside/internal/audit"
	"chairside/internal/signin"
)

// signOut ends the current session. The form's next names the page for the user who
// signs in afterwards.
func (s *Site) signOut(w http.ResponseWriter, r *http.Request) error {
	event := audit.Event{Action: "sign_out"}
	if v := signin.FromLocked(r.Context()); v != nil {
		event.Practice, event.User, event.Session = v.User.PracticeID, v.User.ID, v.SessionID
	}
	if err := s.sessions.SignOut(r.Context()); err != nil {
		return err
	}
	audit.From(r.Context()).Event(event)
	if next := r.PostForm.Get("next"); next != "" {
		return redirect(w, "/sign-in?next="+url.QueryEscape(local(next)))
	}
	return redirect(w, "/sign-in?done=signed-out")
}
