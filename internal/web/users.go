package web

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/site"
	entuser "chairside/ent/user"
	"chairside/internal/codec"
	"chairside/internal/provision"
	"chairside/internal/signin"
	"chairside/schema"
)

const usersPath = "/settings/users"

// maxUserName is the longest first or last name, in bytes.
const maxUserName = 255

// userRow is a user of the practice with texts.
type userRow struct{ *ent.User }

// Name is the user's whole name.
func (u userRow) Name() string { return schema.FullName(u.FirstName, u.LastName) }

// RoleName is the user's role in words: "Practice manager".
func (u userRow) RoleName() string { return roleName(string(u.Role)) }

// SecondFactor reports whether the user has two-factor authentication.
func (u userRow) SecondFactor() bool { return !u.TotpSecret.IsNull() }

// Invited reports whether the user has no password yet.
func (u userRow) Invited() bool { return u.PasswordHash == "" }

// SiteName is the name of the user's site; "" without one.
func (u userRow) SiteName() string {
	if u.Edges.Site == nil {
		return ""
	}
	return u.Edges.Site.Name
}

// roleName returns a role in words.
func roleName(role string) string {
	words := strings.ReplaceAll(role, "_", " ")
	return strings.ToUpper(words[:1]) + words[1:]
}

// users lists the people who work at the practice.
func (s *Site) users(w http.ResponseWriter, r *http.Request) error {
	all, err := s.DB.Ent.User.Query().WithSite().Order(entuser.ByActive(), entuser.ByLastName(), entuser.ByID()).All(r.Context())
	if err != nil {
		return err
	}
	rows := make([]userRow, len(all))
	for i, u := range all {
		rows[i] = userRow{u}
	}
	slices.SortStableFunc(rows, func(a, b userRow) int { // those who can sign in first
		switch {
		case a.Active == b.Active:
			return 0
		case a.Active:
			return -1
		}
		return 1
	})
	s.show(w, r, http.StatusOK, "users", view{Title: "Users", Here: usersPath, Page: rows})
	return nil
}

// userChoices are the options of the forms of users.
type userChoices struct {
	Roles, Sites []choice
	NoSite       bool // is an option
}

// userChoices returns the options for a user, or for a new one if u is nil. The site that u has, or none, stays
// an option.
func (s *Site) userChoices(r *http.Request, u *ent.User) (c userChoices, err error) {
	for _, role := range schema.Role("").Values() {
		c.Roles = append(c.Roles, choice{role, roleName(role), true})
	}
	sites, err := s.DB.Ent.Site.Query().Where(site.Active(true)).Order(site.ByName(), site.ByID()).All(r.Context())
	for _, at := range sites {
		c.Sites = append(c.Sites, choice{at.ID.String(), at.Name, true})
	}
	switch {
	case u == nil:
	case u.Edges.Site == nil:
		c.NoSite = true
	case !u.Edges.Site.Active:
		c.Sites = append(c.Sites, choice{u.Edges.Site.ID.String(), u.Edges.Site.Name, false})
	}
	return c, err
}

// readUser reads the fields that the forms of users share, and adds their mistakes.
func (f *form) readUser(c userChoices) (p provision.Person, role schema.Role) {
	p.FirstName, p.LastName = strings.TrimSpace(f.Value("first_name")), strings.TrimSpace(f.Value("last_name"))
	for _, name := range []struct{ field, value, label string }{{"first_name", p.FirstName, "first name"}, {"last_name", p.LastName, "last name"}} {
		switch {
		case name.value == "":
			f.add(name.field, "Enter a "+name.label+".")
		case len(name.value) > maxUserName || strings.ContainsFunc(name.value, control):
			f.add(name.field, "The "+name.label+" must be shorter, on one line.")
		}
	}
	if !slices.Contains(schema.Role("").Values(), f.Value("role")) {
		f.add("role", "Choose a role.")
	}
	switch {
	case c.NoSite && f.Value("site") == "":
	case slices.ContainsFunc(c.Sites, func(at choice) bool { return at.ID == f.Value("site") }):
		p.Site = uuid.MustParse(f.Value("site")) // one of the practice's
	default:
		f.add("site", "Choose a site.")
	}
	return p, schema.Role(f.Value("role"))
}

// newUser shows the form that adds a user.
func (s *Site) newUser(w http.ResponseWriter, r *http.Request) error {
	return s.showNewUser(w, r, http.StatusOK, s.restored(r, form{}, usersPath))
}

func (s *Site) showNewUser(w http.ResponseWriter, r *http.Request, status int, f form) error {
	c, err := s.userChoices(r, nil)
	if err != nil {
		return err
	}
	s.show(w, r, status, "user_new", view{Title: "New user", Here: usersPath, Form: f, Page: c})
	return nil
}

// createUser adds a user without a password and shows the invitation, in this response only.
func (s *Site) createUser(w http.ResponseWriter, r *http.Request) error {
	ctx, f := r.Context(), submitted(r)
	c, err := s.userChoices(r, nil)
	if err != nil {
		return err
	}
	p, role := f.readUser(c)
	if p.Email = schema.NormalizeEmail(f.Value("email")); !codec.ValidEmail(p.Email) {
		f.add("email", "Enter an e-mail address, such as ann@example.com.")
	}
	if len(f.Wrong()) > 0 {
		return s.showNewUser(w, r, http.StatusUnprocessableEntity, f)
	}
	var made invitation
	err = s.DB.Tx(ctx, func(tx *ent.Client) error {
		ids, err := provision.User(ctx, tx, signin.From(ctx).Practice().ID, p, role)
		if err != nil {
			return err
		}
		u, err := tx.User.Get(ctx, ids.User)
		if err != nil {
			return err
		}
		made, err = s.invite(r, tx, u)
		return err
	})
	switch {
	case errors.Is(err, provision.ErrEmailTaken):
		f.add("email", "A user with this e-mail address already exists. Enter another one.")
		return s.showNewUser(w, r, http.StatusUnprocessableEntity, f)
	case err != nil:
		return err
	}
	s.show(w, r, http.StatusOK, "invitation_made", view{Title: "Invite " + made.Name(), Here: usersPath, Page: made})
	return nil
}
