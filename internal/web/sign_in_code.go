package web

import (
	"errors"
	"net/http"
	"net/url"

	"chairside/internal/signin"
)

// signInCodePage asks for an authentication code.
func (s *Site) signInCodePage(w http.ResponseWriter, r *http.Request) error {
	next := r.URL.Query().Get("next")
	if !s.sessions.Pending(r.Context()) {
		return redirect(w, "/sign-in?next="+url.QueryEscape(local(next)))
	}
	s.showSignInCode(w, r, http.StatusOK, form{}, next)
	return nil
}

func (s *Site) showSignInCode(w http.ResponseWriter, r *http.Request, status int, f form, next string) {
	s.show(w, r, status, "sign_in_code", view{Title: "Two-factor authentication", Form: f, Page: signInView{local(next)}})
}

// signInCode checks the code.
func (s *Site) signInCode(w http.ResponseWriter, r *http.Request) error {
	f, next := submitted(r), r.PostForm.Get("next")
	browser := s.sessions.Identify(r)
	err := s.sessions.Code(r.Context(), f.Value("code"), browser)
	var slow *signin.Throttled
	switch {
	case errors.Is(err, signin.ErrNoPassword):
		return redirect(w, "/sign-in?done=too-late&next="+url.QueryEscape(local(next)))
	case errors.Is(err, signin.ErrDisabled):
		f.add("email", "This account is disabled. Contact your practice's administrator.")
		s.showSignIn(w, r, http.StatusUnprocessableEntity, f, next)
	case errors.Is(err, signin.ErrClosed):
		f.add("email", closedPractice)
		s.showSignIn(w, r, http.StatusUnprocessableEntity, f, next)
	case errors.Is(err, signin.ErrWrong):
		f.add("code", "Incorrect code, or the code was already used. Enter the next one.")
		s.showSignInCode(w, r, http.StatusUnprocessableEntity, f, next)
	case errors.As(err, &slow):
		f.add("code", throttled(w, slow))
		s.showSignInCode(w, r, http.StatusTooManyRequests, f, next)
	case err != nil:
		return err
	default:
		s.sessions.Remember(w, browser)
		return redirect(w, local(next))
	}
	return nil
}
