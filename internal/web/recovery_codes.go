package web

import (
	"net/http"

	"chairside/internal/signin"
)

// renewRecoveryCodes replaces the recovery codes, for whoever knows the
// password, and shows the new ones, in this answer and never again.
func (s *Site) renewRecoveryCodes(w http.ResponseWriter, r *http.Request) error {
	if signin.From(r.Context()).User.TotpSecret == "" {
		return redirect(w, securityPath)
	}
	f := filled(r)
	codes, err := s.sessions.NewRecoveryCodes(r.Context(), f.Value("password"), signin.BrowserOf(r))
	if ok, err := s.confirmed(w, r, f, "codes-password", err); !ok {
		return err
	}
	s.showRecoveryCodes(w, r, "New recovery codes", codes)
	return nil
}
