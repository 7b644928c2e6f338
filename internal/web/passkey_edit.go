package web

import (
	"errors"
	"net/http"

	"chairside/internal/apierror"
	"chairside/internal/signin"
)

// renamePasskey renames one of the visitor's passkeys.
func (s *Site) renamePasskey(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r)
	if err != nil {
		return err
	}
	f := submitted(r)
	name := readName(&f)
	if message := f.Error("name"); message != "" {
		f = submitted(r)
		f.add("name-"+id.String(), message) // each passkey has a form
		return s.showSecurity(w, r, http.StatusUnprocessableEntity, f)
	}
	return passkeyChanged(w, s.sessions.RenamePasskey(r.Context(), id, name), "passkey-renamed")
}

// removePasskey removes one of the visitor's passkeys.
func (s *Site) removePasskey(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r)
	if err != nil {
		return err
	}
	return passkeyChanged(w, s.sessions.RemovePasskey(r.Context(), id), "passkey-removed")
}

// passkeyChanged returns to the security page after a change, or returns its error.
func passkeyChanged(w http.ResponseWriter, err error, done string) error {
	switch {
	case errors.Is(err, signin.ErrNoPasskey):
		return apierror.NotFound()
	case err != nil:
		return err
	}
	return redirect(w, securityPath+"?done="+done)
}
