package web

import (
	"errors"
	"net/http"

	"chairside/internal/signin"
)

const securityPath = "/settings/security"

// security shows the forms for the password and two-factor authentication.
func (s *Site) security(w http.ResponseWriter, r *http.Request) error {
	s.showSecurity(w, r, http.StatusOK, form{})
	return nil
}

func (s *Site) showSecurity(w http.ResponseWriter, r *http.Request, status int, f form) {
	s.show(w, r, status, "security", view{Title: "Security", Here: securityPath, Form: f})
}

// confirmedBoth is confirmed for a form that also asks for a code. The ids of its
// fields begin with name.
func (s *Site) confirmedBoth(w http.ResponseWriter, r *http.Request, f form, name string, err error) (bool, error) {
	if errors.Is(err, signin.ErrWrongCode) {
		f.add(name+"-code", "Incorrect code, or the code was already used.")
		s.showSecurity(w, r, http.StatusUnprocessableEntity, f)
		return false, nil
	}
	return s.confirmed(w, r, f, name+"-password", err)
}

// confirmed reports whether err is nil. If the confirming password is incorrect, it
// shows the security page with a message beside the field. It returns other errors.
func (s *Site) confirmed(w http.ResponseWriter, r *http.Request, f form, field string, err error) (bool, error) {
	var slow *signin.Throttled
	switch {
	case errors.Is(err, signin.ErrWrong):
		f.add(field, "Incorrect password.")
		s.showSecurity(w, r, http.StatusUnprocessableEntity, f)
	case errors.As(err, &slow):
		f.add(field, throttled(w, slow))
		s.showSecurity(w, r, http.StatusTooManyRequests, f)
	default:
		return err == nil, err
	}
	return false, nil
}
