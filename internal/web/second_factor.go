package web

import (
	"errors"
	"net/http"
	"net/url"

	"chairside/internal/signin"
)

const secondFactorPath = "/settings/second-factor"

// secondFactorView is the data of the set-up page.
type secondFactorView struct {
	signin.Enrolment
	Next   string // page to open afterwards
	Origin string // where passkeys work; "" if nowhere
}

// recoveryCodesView is the data of the page with the recovery codes.
type recoveryCodesView struct {
	Codes []string
	Next  string // page to open afterwards
}

// secondFactor shows how to set up an authenticator app.
func (s *Site) secondFactor(w http.ResponseWriter, r *http.Request) error {
	next := afterSetUp(r.URL.Query())
	if !signin.From(r.Context()).User.TotpSecret.IsNull() {
		return redirect(w, next)
	}
	return s.showSecondFactor(w, r, http.StatusOK, form{}, next)
}

// afterSetUp returns the page to open after the set-up.
func afterSetUp(sent url.Values) string {
	if !sent.Has("next") {
		return securityPath
	}
	return local(sent.Get("next"))
}

func (s *Site) showSecondFactor(w http.ResponseWriter, r *http.Request, status int, f form, next string) error {
	enrolment, err := s.sessions.Enrol(r.Context())
	if err != nil {
		return err
	}
	v := view{Title: "Set up two-factor authentication", Here: securityPath, Form: f, Page: secondFactorView{enrolment, next, s.sessions.PasskeyOrigin()}}
	if signin.From(r.Context()).NeedsFactor() {
		v.Here = "" // the navigation would only lead back
	}
	s.show(w, r, status, "second_factor", v)
	return nil
}

// enableSecondFactor turns two-factor authentication on and shows the recovery
// codes, in this response only. It does not replace a factor that is on: turning that
// off needs the password.
func (s *Site) enableSecondFactor(w http.ResponseWriter, r *http.Request) error {
	next := afterSetUp(r.PostForm)
	if !signin.From(r.Context()).User.TotpSecret.IsNull() {
		return redirect(w, next)
	}
	f := submitted(r)
	codes, err := s.sessions.EnableFactor(r.Context(), f.Value("code"), signin.BrowserOf(r))
	var slow *signin.Throttled
	switch {
	case errors.Is(err, signin.ErrWrong):
		f.add("code", "Incorrect code. Enter the code that your authenticator app shows now.")
		return s.showSecondFactor(w, r, http.StatusUnprocessableEntity, f, next)
	case errors.As(err, &slow):
		f.add("code", throttled(w, slow))
		return s.showSecondFactor(w, r, http.StatusTooManyRequests, f, next)
	case err != nil:
		return err
	}
	s.showRecoveryCodes(w, r, "Two-factor authentication is on", recoveryCodesView{codes, next})
	return nil
}

func (s *Site) showRecoveryCodes(w http.ResponseWriter, r *http.Request, title string, page recoveryCodesView) {
	s.show(w, r, http.StatusOK, "recovery_codes", view{Title: title, Here: securityPath, Page: page})
}
