package web

import (
	"net/http"

	"chairside/internal/signin"
)

// disableSecondFactor turns the second factor off, for whoever knows the password.
func (s *Site) disableSecondFactor(w http.ResponseWriter, r *http.Request) error {
	f := filled(r)
	err := s.sessions.DisableFactor(r.Context(), f.Value("password"), signin.BrowserOf(r))
	if ok, err := s.confirmed(w, r, f, "off-password", err); !ok {
		return err
	}
	return redirect(w, securityPath+"?done=factor-off")
}
