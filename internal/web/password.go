package web

import (
	"errors"
	"net/http"
	"strings"

	"chairside/internal/signin"
)

// changePassword changes the visitor's password and ends their other sessions, and
// on request their tokens and authorised applications.
func (s *Site) changePassword(w http.ResponseWriter, r *http.Request) error {
	f := submitted(r)
	if f.Value("current") == "" {
		f.add("current", "Enter your current password.")
	}
	if f.Value("password") == "" {
		f.add("password", "Enter a new password.")
	} else if f.Value("password") != f.Value("again") {
		f.add("again", "The passwords do not match.")
	}
	if len(f.Wrong()) > 0 {
		return s.showSecurity(w, r, http.StatusUnprocessableEntity, f)
	}
	endTokens := f.Chosen("tokens", "revoke")
	err := s.sessions.ChangePassword(r.Context(), f.Value("current"), f.Value("password"), endTokens, signin.BrowserOf(r))
	var unsuitable *signin.Unsuitable
	if errors.As(err, &unsuitable) {
		reason := unsuitable.Error()
		f.add("password", strings.ToUpper(reason[:1])+reason[1:]+".")
		return s.showSecurity(w, r, http.StatusUnprocessableEntity, f)
	}
	if ok, err := s.confirmed(w, r, f, "current", err); !ok {
		return err
	}
	if endTokens {
		return redirect(w, securityPath+"?done=password-changed-tokens")
	}
	return redirect(w, securityPath+"?done=password-changed")
}
