package web

import (
	"errors"
	"net/http"

	"chairside/internal/signin"
)

// secondFactor shows how to set up an authenticator app.
func (s *Site) secondFactor(w http.ResponseWriter, r *http.Request) error {
	if signin.From(r.Context()).User.TotpSecret != "" {
		return redirect(w, securityPath)
	}
	return s.showSecondFactor(w, r, http.StatusOK, form{})
}

func (s *Site) showSecondFactor(w http.ResponseWriter, r *http.Request, status int, f form) error {
	enrolment, err := s.sessions.Enrol(r.Context())
	if err != nil {
		return err
	}
	s.show(w, r, status, "second_factor", view{Title: "Set up two-factor authentication", Here: securityPath, Form: f, Page: enrolment})
	return nil
}

// enableSecondFactor turns two-factor authentication on and shows the recovery
// codes, in this response only. It does not replace a factor that is on: turning that
// off needs the password.
func (s *Site) enableSecondFactor(w http.ResponseWriter, r *http.Request) error {
	if signin.From(r.Context()).User.TotpSecret != "" {
		return redirect(w, securityPath)
	}
	f := submitted(r)
	codes, err := s.sessions.EnableFactor(r.Context(), f.Value("code"), signin.BrowserOf(r))
	var slow *signin.Throttled
	switch {
	case errors.Is(err, signin.ErrWrong):
		f.add("code", "Incorrect code. Enter the code that your authenticator app shows now.")
		return s.showSecondFactor(w, r, http.StatusUnprocessableEntity, f)
	case errors.As(err, &slow):
		f.add("code", throttled(w, slow))
		return s.showSecondFactor(w, r, http.StatusTooManyRequests, f)
	case err != nil:
		return err
	}
	s.showRecoveryCodes(w, r, "Two-factor authentication is on", codes)
	return nil
}

func (s *Site) showRecoveryCodes(w http.ResponseWriter, r *http.Request, title string, codes []string) {
	s.show(w, r, http.StatusOK, "recovery_codes", view{Title: title, Here: securityPath, Page: codes})
}
