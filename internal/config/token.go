package config

import (
	"github.com/google/uuid"

	"chairside/internal/scope"
	"chairside/schema"
)

// TokenFlags are the flags of "chairside token create".
type TokenFlags struct {
	Database
	User   string `required:"" placeholder:"EMAIL" help:"User that the token acts for."`
	Name   string `required:"" help:"Name shown in lists."`
	Scopes string `required:"" help:"Scopes, separated by spaces: ${scopes}; each on its own, or with :read, :create, :update or :delete. The user's role limits them."`
	Site   string `placeholder:"ID" help:"Limit the token to one site."`
}

// Token is the parsed TokenFlags.
type Token struct {
	Database   Database
	User, Name string
	Scopes     scope.Set
	Site       *uuid.UUID // nil for the whole practice
}

// Read checks the flags. The error is Mistakes, with everything that is wrong.
func (f TokenFlags) Read() (Token, error) {
	var m Mistakes
	f.Database.check(&m)
	readName(&m, "name", &f.Name)
	c := Token{Database: f.Database, User: schema.NormalizeEmail(f.User), Name: f.Name}
	var err error
	if c.Scopes, err = scope.Parse(f.Scopes); err != nil {
		m.add("scopes", "%v", err)
	} else if len(c.Scopes) == 0 {
		m.add("scopes", "must name at least one scope")
	}
	if f.Site != "" {
		id, err := uuid.Parse(f.Site)
		if err != nil {
			m.add("site", "must be the id of a site")
		}
		c.Site = &id
	}
	return c, m.err()
}

// Validate reports every mistake in the flags; the parser calls it.
func (f TokenFlags) Validate() error {
	_, err := f.Read()
	return err
}
