package web

import (
	"net/http"
	"net/url"
)

// signOut ends the current session. The form's next names the page for the user who
// signs in afterwards.
func (s *Site) signOut(w http.ResponseWriter, r *http.Request) error {
	if err := s.sessions.SignOut(r.Context()); err != nil {
		return err
	}
	if next := r.PostForm.Get("next"); next != "" {
		return redirect(w, "/sign-in?next="+url.QueryEscape(local(next)))
	}
	return redirect(w, "/sign-in?done=signed-out")
}
