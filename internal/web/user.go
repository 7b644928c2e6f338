package web

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"chairside/ent"
	entuser "chairside/ent/user"
	"chairside/internal/apierror"
	"chairside/internal/provision"
	"chairside/internal/scope"
	"chairside/internal/signin"
	"chairside/internal/store"
)

// userPage is the page of a user.
type userPage struct {
	userRow
	userChoices
	Access signin.Access // that the user has now
	Self   bool          // whether it is the visitor's own
}

// pathUser returns the user whose id is in the path.
func (s *Site) pathUser(r *http.Request) (*ent.User, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil || strconv.FormatInt(id, 10) != r.PathValue("id") {
		return nil, apierror.NotFound()
	}
	return s.DB.Ent.User.Query().Where(entuser.ID(id)).WithSite().WithPractitioner().Only(r.Context())
}

// user shows a user, the form to change it, and what ends the user's access.
func (s *Site) user(w http.ResponseWriter, r *http.Request) error {
	u, err := s.pathUser(r)
	if err != nil {
		return err
	}
	f := form{values: map[string][]string{"first_name": {u.FirstName}, "last_name": {u.LastName}, "role": {string(u.Role)}, "site": {""}}}
	if u.SiteID != nil {
		f.values.Set("site", u.SiteID.String())
	}
	if p := u.Edges.Practitioner; p != nil && p.Active {
		f.values.Set("bookable", "yes")
	}
	return s.showUser(w, r, http.StatusOK, u, s.restored(r, f, r.URL.Path))
}

func (s *Site) showUser(w http.ResponseWriter, r *http.Request, status int, u *ent.User, f form) error {
	c, err := s.userChoices(r, u)
	if err != nil {
		return err
	}
	access, err := signin.AccessOf(r.Context(), s.DB.Ent, u.ID, signin.BySession|signin.ByToken|signin.ByApplication|signin.ByPasskey)
	if err != nil {
		return err
	}
	page := userPage{userRow{u}, c, access, u.ID == signin.From(r.Context()).User.ID}
	s.show(w, r, status, "user", view{Title: page.Name(), Here: usersPath, Form: f, Page: page})
	return nil
}

// editUser changes a user's name, role and site.
func (s *Site) editUser(w http.ResponseWriter, r *http.Request) error {
	ctx, f := r.Context(), submitted(r)
	u, err := s.pathUser(r)
	if err != nil {
		return err
	}
	c, err := s.userChoices(r, u)
	if err != nil {
		return err
	}
	p, role := f.readUser(c)
	var bookable *bool
	if f.Chosen("practitioner", "yes") {
		bookable = new(f.Chosen("bookable", "yes"))
	}
	if len(f.Wrong()) == 0 {
		err = s.DB.Tx(ctx, func(tx *ent.Client) error {
			return provision.ChangeUser(ctx, tx, u, p, role, bookable)
		})
		switch {
		case errors.Is(err, store.ErrLastAdministrator):
			f.add("role", "This is the practice’s last administrator. Make another user one first.")
		case errors.Is(err, provision.ErrNeedsSite):
			f.add("site", "Choose an active site. A practitioner works at one.")
		case err != nil:
			return err
		case u.ID == signin.From(ctx).User.ID && role.PermissionLevel() < scope.Administrator: // only administrators may open the page of a user
			return redirect(w, homePath+"?done=user-saved")
		default:
			return toUser(w, u, "user-saved")
		}
	}
	return s.showUser(w, r, http.StatusUnprocessableEntity, u, f)
}

// disableUser ends a user's access and keeps the user from signing in.
func (s *Site) disableUser(w http.ResponseWriter, r *http.Request) error {
	return s.changeAccess(w, r, "user-disabled", signin.Disable)
}

// enableUser lets a disabled user sign in again.
func (s *Site) enableUser(w http.ResponseWriter, r *http.Request) error {
	return s.changeAccess(w, r, "user-enabled", signin.Enable)
}

// resetUserFactor turns off a user's two-factor authentication and removes the passkeys.
func (s *Site) resetUserFactor(w http.ResponseWriter, r *http.Request) error {
	return s.changeAccess(w, r, "user-factor-off", signin.ResetSecondFactor)
}

// endUserSessions signs a user out everywhere.
func (s *Site) endUserSessions(w http.ResponseWriter, r *http.Request) error {
	return s.changeAccess(w, r, "user-signed-out", signin.EndSessions, signin.NoteSignedOut)
}

// changeAccess applies a change to another user's access; noted follow once it is stored. For their own, visitors have the pages
// Security and Sessions, which ask for what they need.
func (s *Site) changeAccess(w http.ResponseWriter, r *http.Request, done string, change func(context.Context, *ent.Client, *ent.User) error, noted ...func(context.Context, *ent.User)) error {
	ctx := r.Context()
	u, err := s.pathUser(r)
	if err != nil {
		return err
	}
	if u.ID == signin.From(ctx).User.ID {
		return redirect(w, securityPath)
	}
	if err := s.DB.Tx(ctx, func(tx *ent.Client) error { return change(ctx, tx, u) }); err != nil {
		return err
	}
	for _, note := range noted {
		note(ctx, u)
	}
	return toUser(w, u, done)
}

// toUser redirects to the page of a user.
func toUser(w http.ResponseWriter, u *ent.User, done string) error {
	return redirect(w, usersPath+"/"+strconv.FormatInt(u.ID, 10)+"?done="+done)
}
