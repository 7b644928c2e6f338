package config

import (
	"strings"

	"chairside/schema"
)

// AppFlags are the flags of "chairside app create".
type AppFlags struct {
	Database
	User        string   `required:"" placeholder:"EMAIL" help:"The user who registers the application for the user's practice."`
	Name        string   `required:"" help:"Name that users see."`
	RedirectURI []string `required:"" name:"redirect-uri" sep:"none" placeholder:"URI" help:"Redirect URI, matched exactly. Repeat the flag for each URI."`
	Scopes      string   `help:"Scopes that the application may request, separated by spaces. Each user's role limits them further. Default: all."`
	Refresh     bool     `name:"refresh-tokens" help:"Give the application refresh tokens. Its access tokens then expire after an hour."`
	Public      bool     `help:"Register a public client, such as a browser or phone application. It gets no secret and must use PKCE."`
}

// App is the parsed AppFlags. oauth.Register checks the name, URIs and scopes.
type App struct {
	Database     Database
	User, Name   string
	RedirectURIs []string
	Scopes       []string // empty for all
	Public       bool

	RefreshTokens bool
}

// Read checks the flags. The error is Mistakes, with everything that is wrong.
func (f AppFlags) Read() (App, error) {
	var m Mistakes
	f.Database.check(&m)
	readName(&m, "name", &f.Name)
	return App{
		Database: f.Database, User: schema.NormalizeEmail(f.User), Name: f.Name,
		RedirectURIs: f.RedirectURI, Scopes: strings.Fields(f.Scopes), Public: f.Public, RefreshTokens: f.Refresh,
	}, m.err()
}

// Validate reports every mistake in the flags; the parser calls it.
func (f AppFlags) Validate() error {
	_, err := f.Read()
	return err
}
