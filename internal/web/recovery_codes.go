package web

import (
	"net/http"

	"chairside/internal/signin"
)

// renewRecoveryCodes replaces the recovery codes and shows the new ones, in this
// response only. It needs the password and a code.
func (s *Site) renewRecoveryCodes(w http.ResponseWriter, r *http.Request) error {
	if signin.From(r.Context()).User.TotpSecret.IsNull() {
		return redirect(w, securityPath)
	}
	f := submitted(r)
	codes, err := s.sessions.NewRecoveryCodes(r.Context(), f.Value("password"), f.Value("code"), signin.BrowserOf(r))
	if ok, err := s.confirmedBoth(w, r, f, "codes", err); !ok {
		return err
	}
	s.showRecoveryCodes(w, r, "New recovery codes", recoveryCodesView{codes, securityPath})
	return nil
}
