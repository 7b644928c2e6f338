package web

import (
	"errors"
	"net/http"
	"net/url"

	"chairside/internal/signin"
)

// signInCodePage asks for an authentication code or a passkey.
func (s *Site) signInCodePage(w http.ResponseWriter, r *http.Request) error {
	return s.showSignInCode(w, r, http.StatusOK, form{}, r.URL.Query().Get("next"))
}

func (s *Site) showSignInCode(w http.ResponseWriter, r *http.Request, status int, f form, next string) error {
	proofs, err := s.sessions.PendingProofs(r.Context())
	switch {
	case errors.Is(err, signin.ErrNoPassword), errors.Is(err, signin.ErrDisabled):
		return redirect(w, "/sign-in?next="+url.QueryEscape(local(next)))
	case err != nil:
		return err
	}
	s.show(w, r, status, "sign_in_code", view{Title: "Two-factor authentication", Form: f, Page: signInView{Next: local(next), Origin: s.sessions.PasskeyOrigin(), Proofs: proofs}})
	return nil
}

// signInCode checks the code or the passkey.
func (s *Site) signInCode(w http.ResponseWriter, r *http.Request) error {
	f, next := submitted(r), r.PostForm.Get("next")
	browser := s.sessions.Identify(r)
	var err error
	field, wrong := "code", "Incorrect code, or the code was already used. Enter the next one."
	if f.has(passkeyField) {
		field, wrong = "", wrongPasskey
		err = s.sessions.PasskeyCode(r.Context(), s.sessions.PasskeyResponse(r, passkeyField), browser)
	} else {
		err = s.sessions.Code(r.Context(), f.Value("code"), browser)
	}
	var slow *signin.Throttled
	switch {
	case errors.Is(err, signin.ErrNoPassword):
		return redirect(w, "/sign-in?done=too-late&next="+url.QueryEscape(local(next)))
	case errors.Is(err, signin.ErrDisabled):
		f.add("email", "This account is disabled. Contact your practice’s administrator.")
		s.showSignIn(w, r, http.StatusUnprocessableEntity, f, next)
	case errors.Is(err, signin.ErrClosed):
		f.add("email", closedPractice)
		s.showSignIn(w, r, http.StatusUnprocessableEntity, f, next)
	case errors.Is(err, signin.ErrWrong):
		f.add(field, wrong)
		return s.showSignInCode(w, r, http.StatusUnprocessableEntity, f, next)
	case errors.As(err, &slow):
		f.add(field, throttled(w, slow))
		return s.showSignInCode(w, r, http.StatusTooManyRequests, f, next)
	case err != nil:
		return err
	default:
		s.sessions.Remember(w, browser)
		return redirect(w, local(next))
	}
	return nil
}
