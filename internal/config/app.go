package config

import (
	"strings"

	"chairside/schema"
)

// AppFlags are the flags of "chairside app create".
type AppFlags struct {
	Database
	User        string   `required:"" placeholder:"EMAIL" help:"The user who registers it, for the practice of that user."`
	Name        string   `required:"" help:"What users know the application by."`
	RedirectURI []string `required:"" name:"redirect-uri" sep:"none" placeholder:"URI" help:"Where users may be sent back to, compared exactly. Give it once for each."`
	Scopes      string   `help:"What the application may ask for, separated by spaces; everything where it is left out. A user gives it no more than the user's role may hold."`
	Public      bool     `help:"The application can keep no secret, as in a browser or on a phone: it gets none, and has to use PKCE."`
}

// App is what AppFlags amount to. Names, addresses and scopes are judged where
// applications are registered, on the pages as well.
type App struct {
	Database     Database
	User, Name   string
	RedirectURIs []string
	Scopes       []string // none for everything
	Public       bool
}

// Read checks the flags. The error is Mistakes, with everything that is wrong.
func (f AppFlags) Read() (App, error) {
	var m Mistakes
	f.Database.check(&m)
	readName(&m, "name", &f.Name)
	return App{
		Database: f.Database, User: schema.NormalizeEmail(f.User), Name: f.Name,
		RedirectURIs: f.RedirectURI, Scopes: strings.Fields(f.Scopes), Public: f.Public,
	}, m.err()
}

// Validate reports every mistake in the flags; the parser calls it.
func (f AppFlags) Validate() error {
	_, err := f.Read()
	return err
}
