package web

import (
	"errors"
	"net/http"

	"chairside/internal/signin"
)

const securityPath = "/settings/security"

// securityView is the data of the security page.
type securityView struct {
	Passkeys  []passkeyRow
	Origin    string // where passkeys work; "" if nowhere
	Full      bool   // the visitor has the most passkeys possible
	ByPasskey bool   // a passkey is the second factor that the practice requires
}

// security shows the passkeys, and the forms for the password and two-factor authentication.
func (s *Site) security(w http.ResponseWriter, r *http.Request) error {
	return s.showSecurity(w, r, http.StatusOK, form{})
}

func (s *Site) showSecurity(w http.ResponseWriter, r *http.Request, status int, f form) error {
	all, err := s.sessions.Passkeys(r.Context())
	if err != nil {
		return err
	}
	v := signin.From(r.Context())
	page := securityView{Passkeys: make([]passkeyRow, len(all)), Origin: s.sessions.PasskeyOrigin(), Full: len(all) >= signin.MaxPasskeys}
	for i, p := range all {
		page.Passkeys[i] = passkeyRow{p, s.sessions.Offered(p)}
		page.ByPasskey = page.ByPasskey || page.Passkeys[i].Offered && v.RequiresFactor() && v.User.TotpSecret.IsNull()
	}
	s.show(w, r, status, "security", view{Title: "Security", Here: securityPath, Form: f, Page: page})
	return nil
}

// confirmedBoth is confirmed for a form that also asks for a code. The ids of its
// fields begin with name.
func (s *Site) confirmedBoth(w http.ResponseWriter, r *http.Request, f form, name string, err error) (bool, error) {
	if errors.Is(err, signin.ErrWrongCode) {
		f.add(name+"-code", "Incorrect code, or the code was already used.")
		return false, s.showSecurity(w, r, http.StatusUnprocessableEntity, f)
	}
	return s.confirmed(w, r, f, name+"-password", err)
}

// confirmed reports whether err is nil. If the confirming password is incorrect, it
// shows the security page with a message beside the field. It returns other errors.
func (s *Site) confirmed(w http.ResponseWriter, r *http.Request, f form, field string, err error) (bool, error) {
	var slow *signin.Throttled
	switch {
	case errors.Is(err, signin.ErrWrong):
		f.add(field, "Incorrect password.")
		return false, s.showSecurity(w, r, http.StatusUnprocessableEntity, f)
	case errors.As(err, &slow):
		f.add(field, throttled(w, slow))
		return false, s.showSecurity(w, r, http.StatusTooManyRequests, f)
	}
	return err == nil, err
}
