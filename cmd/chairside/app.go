package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/accesstoken"
	"chairside/ent/application"
	"chairside/internal/apierror"
	"chairside/internal/config"
	"chairside/internal/oauth"
	"chairside/internal/principal"
	"chairside/internal/scope"
	"chairside/internal/signin"
	"chairside/internal/store"
)

type appCommands struct {
	Create appCreate `cmd:"" help:"Register an application."`
	List   appList   `cmd:"" help:"List applications."`
	Delete appDelete `cmd:"" help:"Delete an application and revoke its tokens."`
}

type appCreate struct{ config.AppFlags }

// Help is the text of --help.
func (appCreate) Help() string {
	return "Prints the client ID and the client secret as JSON. The secret cannot be shown again. A public application has no secret (null)."
}

// registration is what "app create" prints.
type registration struct {
	ClientID     string  `json:"client_id"`
	ClientSecret *string `json:"client_secret"`
}

// Run registers the application and prints its client ID and secret.
func (a *appCreate) Run(c *console) error {
	flags, err := a.Read()
	if err != nil {
		return err
	}
	if len(flags.Scopes) == 0 {
		flags.Scopes = scope.Everything()
	}
	var registered registration
	err = c.withDatabase(flags.Database, func(db *store.DB) error {
		return db.Tx(c, func(tx *ent.Client) error {
			u, err := findUser(c, tx, flags.User)
			if err != nil {
				return err
			}
			if !u.Active {
				return errDisabled
			}
			ctx := principal.With(c, &principal.Principal{PracticeID: u.PracticeID, UserID: u.ID})
			app, secret, err := oauth.Register(ctx, tx, oauth.Draft{
				Name: flags.Name, RedirectURIs: flags.RedirectURIs, Scopes: flags.Scopes, Public: flags.Public,
				RefreshTokens: flags.RefreshTokens,
			})
			if err != nil {
				return asMistakes(err)
			}
			registered.ClientID = app.ID.String()
			if secret != "" {
				registered.ClientSecret = &secret
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	return printJSON(c.out, registered)
}

// asMistakes turns the field errors of an API error into mistakes of the flags; it
// returns any other error unchanged.
func asMistakes(err error) error {
	var f *apierror.Error
	if !errors.As(err, &f) || len(f.Params) == 0 {
		return err
	}
	var m config.Mistakes
	for _, field := range slices.Sorted(maps.Keys(f.Params)) {
		flag := map[string]string{"redirect_uris": "redirect-uri", "events": "event"}[field]
		m = append(m, "--"+cmp.Or(flag, field)+" "+strings.Join(f.Params[field], "; "))
	}
	return m
}

type appList struct {
	config.Database
	listing
}

// Run prints the applications of all practices, one per line.
func (a *appList) Run(c *console) error {
	return c.withDatabase(a.Database, func(db *store.DB) error {
		rows, err := db.Ent.Application.Query().
			Where(application.DeletedAtIsNil()).
			WithOwner().
			Order(application.ByCreatedAt(), application.ByID()).
			All(principal.AsSystem(c))
		if err != nil {
			return err
		}
		var cells [][]any
		for _, row := range rows {
			kind := "confidential"
			if row.Public {
				kind = "public"
			}
			cells = append(cells, []any{row.ID, row.Name, row.Edges.Owner.Slug, kind, row.Scopes, row.RedirectUris})
		}
		return a.print(c, []string{"CLIENT ID", "NAME", "PRACTICE", "KIND", "SCOPES", "REDIRECT URIS"}, cells)
	})
}

type appDelete struct {
	config.Database
	confirmation
	ID string `arg:"" help:"The client ID; see \"chairside app list\"."`
}

// Run deletes the application.
func (a *appDelete) Run(c *console) error {
	id, err := uuid.Parse(a.ID)
	if err != nil {
		return config.Mistakes{"ID must be a UUID; see \"chairside app list\""}
	}
	return c.withDatabase(a.Database, func(db *store.DB) error {
		app, err := oauth.ApplicationByID(principal.AsSystem(c), db.Ent, id)
		if ent.IsNotFound(err) {
			return errors.New("no such application; see \"chairside app list\"")
		}
		if err != nil {
			return err
		}
		tokens, err := db.Ent.AccessToken.Query().Where(accesstoken.ApplicationID(id), accesstoken.RevokedAtIsNil()).Count(principal.AsSystem(c))
		if err != nil {
			return err
		}
		if err := a.confirm(c, fmt.Sprintf("This deletes the application %q and ends %s.", app.Name, describeAccess(signin.Access{Tokens: tokens}))); err != nil {
			return err
		}
		return db.Tx(c, func(tx *ent.Client) error {
			return oauth.Delete(principal.With(c, &principal.Principal{PracticeID: app.OwnerID}), tx, id)
		})
	})
}
