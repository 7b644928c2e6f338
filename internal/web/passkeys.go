package web

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"chairside/ent"
	"chairside/internal/signin"
)

const (
	passkeysPath = "/settings/passkeys"

	passkeyAddPath = passkeysPath + "/options" // to which the script sends the form first
)

var tooManyPasskeys = fmt.Sprintf("You have %d passkeys, the most possible. Remove one first.", signin.MaxPasskeys)

// passkeyRow is one passkey in the list of the security page.
type passkeyRow struct {
	*ent.Passkey
	Offered bool // browsers offer it to this server
}

// passkeyView is the data of the page that adds a passkey.
type passkeyView struct {
	Origin string // where passkeys work; "" if nowhere
	Next   string // page to open afterwards
}

// passkeys redirects to the security page, which lists them.
func (s *Site) passkeys(w http.ResponseWriter, _ *http.Request) error {
	return redirect(w, securityPath)
}

// newPasskey asks for the name of a new passkey.
func (s *Site) newPasskey(w http.ResponseWriter, r *http.Request) error {
	f := form{values: url.Values{"name": {signin.BrowserName(r.UserAgent())}}}
	s.showNewPasskey(w, r, http.StatusOK, s.restored(r, f, passkeysPath, passkeyAddPath), afterSetUp(r.URL.Query()))
	return nil
}

func (s *Site) showNewPasskey(w http.ResponseWriter, r *http.Request, status int, f form, next string) {
	v := view{Title: "Add a passkey", Here: securityPath, Form: f, Page: passkeyView{s.sessions.PasskeyOrigin(), next}}
	if signin.From(r.Context()).NeedsFactor() {
		v.Here = "" // the navigation would only lead back
	}
	s.show(w, r, status, "passkey_new", v)
}

// newPasskeyOptions checks the name, before the authenticator makes a passkey, and sends the
// challenge to the page's script.
func (s *Site) newPasskeyOptions(w http.ResponseWriter, r *http.Request) error {
	f := submitted(r)
	if readName(&f); len(f.Wrong()) > 0 {
		return sendMessage(w, http.StatusUnprocessableEntity, f.Error("name"))
	}
	return s.sendChallenge(w, r, s.sessions.BeginAddPasskey)
}

// addPasskey adds a passkey.
func (s *Site) addPasskey(w http.ResponseWriter, r *http.Request) error {
	f, next := submitted(r), afterSetUp(r.PostForm)
	name := readName(&f)
	if len(f.Wrong()) == 0 {
		err := s.sessions.AddPasskey(r.Context(), name, s.sessions.PasskeyResponse(r, passkeyField))
		switch {
		case errors.Is(err, signin.ErrWrong):
			f.add("", wrongPasskey)
		case errors.Is(err, signin.ErrTooManyPasskeys):
			f.add("", tooManyPasskeys)
		case err != nil:
			return err
		case next == securityPath:
			return redirect(w, securityPath+"?done=passkey-added")
		default:
			return redirect(w, next)
		}
	}
	s.showNewPasskey(w, r, http.StatusUnprocessableEntity, f, next)
	return nil
}
