package web

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"chairside/internal/signin"
)

const (
	passkeyOptionsPath = "/sign-in/passkey"

	// passkeyField is the field with the authenticator's response, which the script fills in.
	passkeyField = "passkey"
	wrongPasskey = "The passkey was not accepted. Try again."
)

// beginPasskey makes a challenge.
type beginPasskey func(context.Context, signin.Browser) (*signin.Challenge, error)

// passkeyOptions sends the challenge for one of the pages of the sign-in to its script.
func (s *Site) passkeyOptions(w http.ResponseWriter, r *http.Request) error {
	begin, known := map[string]beginPasskey{
		"sign-in": s.sessions.BeginPasskey,
		"code":    s.sessions.BeginPasskeyCode,
		"confirm": s.sessions.BeginPasskeyConfirm,
	}[r.PostForm.Get("step")]
	if !known {
		return errMalformed
	}
	return s.sendChallenge(w, r, begin)
}

// sendChallenge sends a challenge, or a message for the visitor, to the page's script. It
// redirects if the page must be loaded again.
func (s *Site) sendChallenge(w http.ResponseWriter, r *http.Request, begin beginPasskey) error {
	challenge, err := begin(r.Context(), signin.BrowserOf(r))
	var slow *signin.Throttled
	switch {
	case errors.Is(err, signin.ErrNoPassword), errors.Is(err, signin.ErrEnded), errors.Is(err, signin.ErrDisabled), errors.Is(err, signin.ErrClosed):
		return redirect(w, "/sign-in")
	case errors.Is(err, signin.ErrNoPasskeys):
		return sendMessage(w, http.StatusUnprocessableEntity, "You have no passkey for this server.")
	case errors.Is(err, signin.ErrTooManyPasskeys):
		return sendMessage(w, http.StatusUnprocessableEntity, tooManyPasskeys)
	case errors.As(err, &slow):
		return sendMessage(w, http.StatusTooManyRequests, throttled(w, slow))
	case err != nil:
		return err
	}
	s.sessions.Bind(w, challenge)
	return sendJSON(w, http.StatusOK, challenge.Options)
}

// sendMessage sends a message that the script shows.
func sendMessage(w http.ResponseWriter, status int, message string) error {
	return sendJSON(w, status, map[string]string{"message": message})
}

func sendJSON(w http.ResponseWriter, status int, value any) error {
	body, err := json.Marshal(value)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // fails if the visitor has left
	return nil
}
