package web

import (
	"errors"
	"net/http"
	"net/url"

	"chairside/internal/signin"
)

// signInView is the data of the sign-in pages.
type signInView struct {
	Next   string
	Origin string        // where passkeys work; "" if nowhere
	Proofs signin.Proofs // that complete the sign-in after the password
	Demo   *DemoUser     // nil on a live server
}

// signInPage asks for e-mail address and password, or a passkey. A signed-in visitor can sign in
// as another user.
func (s *Site) signInPage(w http.ResponseWriter, r *http.Request) error {
	s.showSignIn(w, r, http.StatusOK, form{}, r.URL.Query().Get("next"))
	return nil
}

func (s *Site) showSignIn(w http.ResponseWriter, r *http.Request, status int, f form, next string) {
	s.show(w, r, status, "sign_in", view{Title: "Sign in", Form: f, Page: signInView{Next: local(next), Origin: s.sessions.PasskeyOrigin(), Demo: s.Demo}})
}

// closedPractice is the refusal of users of a closed practice.
const closedPractice = "Your practice is closed on this server."

// signIn checks the e-mail address and password, or the passkey.
func (s *Site) signIn(w http.ResponseWriter, r *http.Request) error {
	f, next := submitted(r), r.PostForm.Get("next")
	if f.has(passkeyField) {
		return s.signInPasskey(w, r, f, next)
	}
	if f.Value("email") == "" {
		f.add("email", "Enter your e-mail address.")
	}
	if f.Value("password") == "" {
		f.add("password", "Enter your password.")
	}
	if len(f.Wrong()) > 0 {
		s.showSignIn(w, r, http.StatusUnprocessableEntity, f, next)
		return nil
	}
	browser := s.sessions.Identify(r)
	needsFactor, err := s.sessions.Password(r.Context(), f.Value("email"), f.Value("password"), browser)
	var slow *signin.Throttled
	switch {
	case errors.Is(err, signin.ErrWrong):
		f.add("password", "Incorrect e-mail address or password.")
	case errors.Is(err, signin.ErrDisabled):
		f.add("email", "This account is disabled. Contact your practice’s administrator.")
	case errors.Is(err, signin.ErrClosed):
		f.add("email", closedPractice)
	case errors.As(err, &slow):
		f.add("password", throttled(w, slow))
		s.showSignIn(w, r, http.StatusTooManyRequests, f, next)
		return nil
	case err != nil:
		return err
	case needsFactor:
		return redirect(w, "/sign-in/code?next="+url.QueryEscape(local(next)))
	default:
		s.sessions.Remember(w, browser)
		return redirect(w, local(next))
	}
	s.showSignIn(w, r, http.StatusUnprocessableEntity, f, next)
	return nil
}

// signInPasskey checks the passkey, which replaces the password and the code.
func (s *Site) signInPasskey(w http.ResponseWriter, r *http.Request, f form, next string) error {
	browser, status := s.sessions.Identify(r), http.StatusUnprocessableEntity
	err := s.sessions.Passkey(r.Context(), s.sessions.PasskeyResponse(r, passkeyField), browser)
	var slow *signin.Throttled
	switch {
	case errors.Is(err, signin.ErrWrong):
		f.add("", wrongPasskey)
	case errors.Is(err, signin.ErrDisabled):
		f.add("", "This account is disabled. Contact your practice’s administrator.")
	case errors.Is(err, signin.ErrClosed):
		f.add("", closedPractice)
	case errors.As(err, &slow):
		f.add("", throttled(w, slow))
		status = http.StatusTooManyRequests
	case err != nil:
		return err
	default:
		s.sessions.Remember(w, browser)
		return redirect(w, local(next))
	}
	s.showSignIn(w, r, status, f, next)
	return nil
}
