package web

import (
	"errors"
	"net/http"

	"chairside/internal/signin"
)

const confirmPath = "/sign-in/confirm"

// confirmView is the data of the page that asks for a proof.
type confirmView struct {
	Who    *signin.Visitor // also of a locked session
	Proofs signin.Proofs   // any of which confirms the session
	Next   string
	Origin string // where passkeys work; "" if nowhere
}

// confirmPage asks for the second factor, or for the password of a visitor without one, or for a
// passkey, before a sensitive page or to unlock an idle session.
func (s *Site) confirmPage(w http.ResponseWriter, r *http.Request) error {
	return s.showConfirm(w, r, http.StatusOK, form{}, r.URL.Query().Get("next"))
}

func (s *Site) showConfirm(w http.ResponseWriter, r *http.Request, status int, f form, next string) error {
	proofs, err := s.sessions.ConfirmProofs(r.Context())
	switch {
	case errors.Is(err, signin.ErrEnded):
		return toSignIn(local(next))(w, r)
	case err != nil:
		return err
	}
	page := confirmView{signin.FromLocked(r.Context()), proofs, local(next), s.sessions.PasskeyOrigin()}
	s.show(w, r, status, "confirm", view{Title: "Confirm that it is you", Framed: !page.Who.Locked && !page.Who.NeedsFactor(), Form: f, Page: page})
	return nil
}

// confirm checks the proof and continues with the page that asked for it.
func (s *Site) confirm(w http.ResponseWriter, r *http.Request) error {
	f, next := submitted(r), r.PostForm.Get("next")
	field, wrong := "password", "Incorrect password."
	if who := signin.FromLocked(r.Context()); who != nil && !who.User.TotpSecret.IsNull() {
		field, wrong = "code", "Incorrect code, or the code was already used. Enter the next one."
	}
	var err error
	if f.has(passkeyField) {
		field, wrong = "", wrongPasskey
		err = s.sessions.ConfirmPasskey(r.Context(), s.sessions.PasskeyResponse(r, passkeyField), signin.BrowserOf(r))
	} else {
		err = s.sessions.Confirm(r.Context(), f.Value(field), signin.BrowserOf(r))
	}
	var slow *signin.Throttled
	switch {
	case errors.Is(err, signin.ErrEnded):
		return toSignIn(local(next))(w, r)
	case errors.Is(err, signin.ErrWrong):
		f.add(field, wrong)
		return s.showConfirm(w, r, http.StatusUnprocessableEntity, f, next)
	case errors.As(err, &slow):
		f.add(field, throttled(w, slow))
		return s.showConfirm(w, r, http.StatusTooManyRequests, f, next)
	case err != nil:
		return err
	}
	return redirect(w, local(next))
}
