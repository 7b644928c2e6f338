package web

import (
	"errors"
	"net/http"
	"strings"

	"chairside/internal/signin"
)

// changePassword gives the visitor a new password and ends the other sessions.
func (s *Site) changePassword(w http.ResponseWriter, r *http.Request) error {
	f := filled(r)
	if f.Value("current") == "" {
		f.add("current", "Enter the password that you have now.")
	}
	if f.Value("password") == "" {
		f.add("password", "Enter a new password.")
	} else if f.Value("password") != f.Value("again") {
		f.add("again", "This is not the same as the new password.")
	}
	if len(f.Wrong()) > 0 {
		s.showSecurity(w, r, http.StatusUnprocessableEntity, f)
		return nil
	}
	err := s.sessions.ChangePassword(r.Context(), f.Value("current"), f.Value("password"), signin.BrowserOf(r))
	var unsuitable *signin.Unsuitable
	if errors.As(err, &unsuitable) {
		reason := unsuitable.Error()
		f.add("password", strings.ToUpper(reason[:1])+reason[1:]+".")
		s.showSecurity(w, r, http.StatusUnprocessableEntity, f)
		return nil
	}
	if ok, err := s.confirmed(w, r, f, "current", err); !ok {
		return err
	}
	return redirect(w, securityPath+"?done=password-changed")
}
