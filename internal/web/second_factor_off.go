package web

import (
	"net/http"

	"chairside/internal/signin"
)

// disableSecondFactor turns two-factor authentication off. It needs the password and
// a code.
func (s *Site) disableSecondFactor(w http.ResponseWriter, r *http.Request) error {
	if signin.From(r.Context()).User.TotpSecret.IsNull() {
		return redirect(w, securityPath)
	}
	f := submitted(r)
	err := s.sessions.DisableFactor(r.Context(), f.Value("password"), f.Value("code"), signin.BrowserOf(r))
	if ok, err := s.confirmedBoth(w, r, f, "off", err); !ok {
		return err
	}
	return redirect(w, securityPath+"?done=factor-off")
}
