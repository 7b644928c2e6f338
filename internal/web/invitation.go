package web

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"chairside/ent"
	"chairside/internal/clock"
	"chairside/internal/signin"
)

const invitationPath = "/sign-in/invitation"

// invitation is an address at which a user can choose a password, once.
type invitation struct {
	userRow
	Link  string
	Until time.Time
}

func (s *Site) invite(r *http.Request, tx *ent.Client, u *ent.User) (invitation, error) {
	secret, err := s.sessions.Invite(r.Context(), tx, u)
	link := s.BaseURL + invitationPath + "?" + url.Values{"invitation": {secret}}.Encode()
	return invitation{userRow{u}, link, clock.Now(r.Context()).Add(signin.InvitationLife)}, err
}

// inviteUser shows an invitation for a user, in this response only. The user's password works until
// the invitation is used.
func (s *Site) inviteUser(w http.ResponseWriter, r *http.Request) error {
	u, err := s.pathUser(r)
	if err != nil {
		return err
	}
	var made invitation
	err = s.DB.Tx(r.Context(), func(tx *ent.Client) error {
		made, err = s.invite(r, tx, u)
		return err
	})
	if err != nil {
		return err
	}
	s.show(w, r, http.StatusOK, "invitation_made", view{Title: "Invite " + made.Name(), Here: usersPath, Page: made})
	return nil
}

// invitationPage asks an invited user to choose a password.
func (s *Site) invitationPage(w http.ResponseWriter, r *http.Request) error {
	return s.showInvitation(w, r, http.StatusOK, form{}, r.URL.Query().Get("invitation"))
}

func (s *Site) showInvitation(w http.ResponseWriter, r *http.Request, status int, f form, secret string) error {
	u, err := s.sessions.Invited(r.Context(), secret)
	switch {
	case errors.Is(err, signin.ErrInvitation):
		return errInvitation
	case err != nil:
		return err
	}
	page := struct {
		*ent.User
		Secret string
	}{u, secret}
	s.show(w, r, status, "invitation", view{Title: "Choose a password", Form: f, Page: page})
	return nil
}

// acceptInvitation sets the invited user's password.
func (s *Site) acceptInvitation(w http.ResponseWriter, r *http.Request) error {
	f, secret := submitted(r), r.PostForm.Get("invitation")
	if f.Value("password") == "" {
		f.add("password", "Enter a password.")
	} else if f.Value("password") != f.Value("again") {
		f.add("again", "The passwords do not match.")
	}
	if len(f.Wrong()) > 0 {
		return s.showInvitation(w, r, http.StatusUnprocessableEntity, f, secret)
	}
	err := s.sessions.AcceptInvitation(r.Context(), secret, f.Value("password"))
	var unsuitable *signin.Unsuitable
	switch {
	case errors.As(err, &unsuitable):
		reason := unsuitable.Error()
		f.add("password", strings.ToUpper(reason[:1])+reason[1:]+".")
		return s.showInvitation(w, r, http.StatusUnprocessableEntity, f, secret)
	case errors.Is(err, signin.ErrInvitation):
		return errInvitation
	case err != nil:
		return err
	}
	return redirect(w, "/sign-in?done=invitation-accepted")
}
