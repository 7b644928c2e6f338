package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/accesstoken"
	"chairside/ent/site"
	"chairside/ent/user"
	"chairside/internal/config"
	"chairside/internal/principal"
	"chairside/internal/signin"
	"chairside/internal/store"
	"chairside/internal/token"
)

type tokenCommands struct {
	Create tokenCreate `cmd:"" help:"Create a personal access token and print it."`
	List   tokenList   `cmd:"" help:"List tokens."`
	Revoke tokenRevoke `cmd:"" help:"Revoke a token, or all tokens of a user, within a second."`
}

type tokenCreate struct{ config.TokenFlags }

// Help is the text of --help.
func (tokenCreate) Help() string {
	return "Prints only the token, which cannot be shown again. The token acts for the user and expires after 14 days without use. " +
		"The user's role limits its scopes, now and after a change of role."
}

// Run creates the token and prints it.
func (t *tokenCreate) Run(c *console) error {
	flags, err := t.Read()
	if err != nil {
		return err
	}
	var value string
	err = c.withDatabase(flags.Database, func(db *store.DB) error {
		return db.Tx(c, func(tx *ent.Client) (err error) {
			value, err = t.grant(c, tx, flags)
			return err
		})
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(c.out, value)
	return err
}

// grant checks the user and the site, and creates the token.
func (tokenCreate) grant(c *console, tx *ent.Client, flags config.Token) (value string, err error) {
	u, err := findUser(c, tx, flags.User)
	if err != nil {
		return "", err
	}
	if !u.Active {
		return "", errDisabled
	}
	if flags.Site != nil {
		ours, err := tx.Site.Query().Where(site.ID(*flags.Site), site.PracticeID(u.PracticeID)).Exist(principal.AsSystem(c))
		if err != nil {
			return "", err
		}
		if !ours {
			return "", errors.New("the user's practice has no such site")
		}
	}
	value, _, err = token.Create(c, tx, u, token.Grant{Name: flags.Name, Scopes: flags.Scopes, Site: flags.Site})
	if beyond := new(token.BeyondRoleError); errors.As(err, &beyond) {
		return "", config.Mistakes{"--scopes: " + beyond.Error()}
	}
	return value, err
}

type tokenList struct {
	config.Database
	listing
	User string `placeholder:"EMAIL" help:"Show only this user's tokens."`
}

// Help is the text of --help.
func (tokenList) Help() string {
	return "Shows each token's effective scopes: those that its user's role and its application allow now."
}

// Run prints the tokens, one per line, without their values, which are not stored.
func (t *tokenList) Run(c *console) error {
	return c.withDatabase(t.Database, func(db *store.DB) error {
		query := db.Ent.AccessToken.Query().WithUser().WithApplication().Order(accesstoken.ByCreatedAt(), accesstoken.ByID())
		if t.User != "" {
			u, err := findUser(c, db.Ent, t.User)
			if err != nil {
				return err
			}
			query.Where(accesstoken.HasUserWith(user.ID(u.ID)))
		}
		rows, err := query.All(principal.AsSystem(c))
		if err != nil {
			return err
		}
		now := time.Now()
		var cells [][]any
		for _, row := range rows {
			cells = append(cells, []any{row.ID, row.Edges.User.Email, row.Name, token.StateOf(row, now), row.LastUsedAt, token.Scopes(row, row.Edges.User, row.Edges.Application).Set()})
		}
		return t.print(c, []string{"ID", "USER", "NAME", "STATE", "LAST USED", "SCOPES"}, cells)
	})
}

type tokenRevoke struct {
	config.Database
	confirmation
	ID   string `arg:"" optional:"" help:"The token's id; see \"chairside token list\"."`
	User string `placeholder:"EMAIL" help:"Revoke all tokens of this user, including those of applications."`
}

// Validate requires either a token or a user.
func (t *tokenRevoke) Validate() error {
	if (t.ID == "") == (t.User == "") {
		return config.Mistakes{"give either a token's ID or --user"}
	}
	return nil
}

// Run revokes the tokens. Revoking a token twice is not an error.
func (t *tokenRevoke) Run(c *console) error {
	if t.User != "" {
		return c.withDatabase(t.Database, func(db *store.DB) error {
			return c.changeAccess(db, accessChange{
				confirmation: t.confirmation, email: t.User, consequence: "revokes all tokens of", ends: signin.RevokeEnds,
				apply: signin.RevokeTokens,
			})
		})
	}
	id, err := uuid.Parse(t.ID)
	if err != nil {
		return config.Mistakes{"ID must be a UUID; see \"chairside token list\""}
	}
	return c.withDatabase(t.Database, func(db *store.DB) error {
		row, err := db.Ent.AccessToken.Query().Where(accesstoken.ID(id)).WithUser().Only(principal.AsSystem(c))
		switch {
		case ent.IsNotFound(err):
			return errors.New("no such token; see \"chairside token list\"")
		case err != nil:
			return err
		case row.RevokedAt != nil:
			return nil
		}
		who, err := describeUser(c, row.Edges.User)
		if err != nil {
			return err
		}
		if err := t.confirm(c, fmt.Sprintf("This revokes the token %q of %s.", row.Name, who)); err != nil {
			return err
		}
		return db.Tx(c, func(tx *ent.Client) error { return token.Revoke(c, tx, accesstoken.ID(id)) })
	})
}
