package web

import (
	"errors"
	"net/http"
	"net/url"

	"chairside/internal/signin"
)

// signInView is what the sign-in pages know besides the form.
type signInView struct{ Next string }

// signInPage asks for e-mail address and password. Somebody who has signed in
// already may do so as another user.
func (s *Site) signInPage(w http.ResponseWriter, r *http.Request) error {
	s.showSignIn(w, r, http.StatusOK, form{}, r.URL.Query().Get("next"))
	return nil
}

func (s *Site) showSignIn(w http.ResponseWriter, r *http.Request, status int, f form, next string) {
	s.show(w, r, status, "sign_in", view{Title: "Sign in", Form: f, Page: signInView{local(next)}})
}

// signIn checks them.
func (s *Site) signIn(w http.ResponseWriter, r *http.Request) error {
	f, next := filled(r), r.PostForm.Get("next")
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
	needsCode, err := s.sessions.Password(r.Context(), f.Value("email"), f.Value("password"), signin.BrowserOf(r))
	var slow *signin.Throttled
	switch {
	case errors.Is(err, signin.ErrWrong):
		f.add("password", "The e-mail address or the password is wrong.")
	case errors.Is(err, signin.ErrDisabled):
		f.add("email", "This user may no longer sign in. Ask an administrator of the practice.")
	case errors.As(err, &slow):
		f.add("password", throttled(w, slow))
		s.showSignIn(w, r, http.StatusTooManyRequests, f, next)
		return nil
	case err != nil:
		return err
	case needsCode:
		return redirect(w, "/sign-in/code?next="+url.QueryEscape(local(next)))
	default:
		return redirect(w, local(next))
	}
	s.showSignIn(w, r, http.StatusUnprocessableEntity, f, next)
	return nil
}
