package main

import (
	"context"
	"errors"
	"fmt"

	"chairside/ent"
	"chairside/internal/config"
	"chairside/internal/principal"
	"chairside/internal/signin"
	"chairside/internal/store"
)

// userAccess is the arguments of a command that revokes a user's access.
type userAccess struct {
	config.Database
	confirmation
	Email string `arg:"" help:"The user's e-mail address."`
}

// change applies a change to the user's access.
func (u userAccess) change(c *console, change accessChange) error {
	change.confirmation, change.email = u.confirmation, u.Email
	return c.withDatabase(u.Database, func(db *store.DB) error { return c.changeAccess(db, change) })
}

// accessChange is a change to a user's access.
type accessChange struct {
	confirmation
	email       string
	consequence string       // verb of the question: "disables", "resets the password of"
	ends        signin.Kinds // kinds of access that it ends
	prepare     func(*ent.User) error
	apply       func(ctx context.Context, tx *ent.Client, u *ent.User) error
}

// errLastAdministrator replaces signin.ErrLastAdministrator on the command line.
var errLastAdministrator = errors.New("the user is the practice's last active administrator: add another one first, or use --force")

// changeAccess asks for confirmation, applies the change in one transaction, and
// prints what ended.
func (c *console) changeAccess(db *store.DB, change accessChange) error {
	u, err := findUser(c, db.Ent, change.email)
	if err != nil {
		return err
	}
	held, err := signin.AccessOf(c, db.Ent, u.ID, change.ends)
	if err != nil {
		return err
	}
	who, err := describeUser(c, u)
	if err != nil {
		return err
	}
	if err := change.confirm(c, fmt.Sprintf("This %s %s, and ends %s.", change.consequence, who, describeAccess(held))); err != nil {
		return err
	}
	if change.prepare != nil {
		if err := change.prepare(u); err != nil {
			return err
		}
	}
	err = db.Tx(c, func(tx *ent.Client) error {
		if held, err = signin.AccessOf(c, tx, u.ID, change.ends); err != nil {
			return err
		}
		return change.apply(c, tx, u)
	})
	switch {
	case errors.Is(err, signin.ErrLastAdministrator):
		return errLastAdministrator
	case err != nil:
		return err
	}
	fmt.Fprintf(c.err, "ended %s\n", describeAccess(held))
	return nil
}

type userDisable struct {
	userAccess
	Force bool `help:"Disable even the last active administrator of the practice."`
}

// Help is the text of --help.
func (userDisable) Help() string {
	return "The user's sessions, tokens and authorised applications stop working within a second. \"chairside user enable\" does not restore them. Disabling a practice's last active administrator needs --force."
}

// Run disables the user.
func (u *userDisable) Run(c *console) error {
	return u.change(c, accessChange{
		consequence: "disables", ends: signin.DisableEnds,
		apply: func(ctx context.Context, tx *ent.Client, row *ent.User) error {
			if u.Force {
				ctx = signin.Force(ctx)
			}
			return signin.Disable(ctx, tx, row)
		},
	})
}

type userEnable struct {
	config.Database
	Email string `arg:"" help:"The user's e-mail address."`
}

// Help is the text of --help.
func (userEnable) Help() string {
	return "The user signs in with the same password and two-factor authentication as before. Earlier sessions, tokens and authorised applications are not restored."
}

// Run enables the user. Enabling an active user is not an error.
func (u *userEnable) Run(c *console) error {
	return c.withDatabase(u.Database, func(db *store.DB) error {
		return db.Tx(c, func(tx *ent.Client) error {
			row, err := findUser(c, tx, u.Email)
			if err != nil {
				return err
			}
			return signin.Enable(c, tx, row)
		})
	})
}

type userResetPassword struct {
	userAccess
	KeepTokens bool `help:"Keep the user's personal access tokens. Sessions and authorised applications still end."`
}

// Help is the text of --help.
func (userResetPassword) Help() string {
	return "Prompts for the new password, or reads it from the first line of standard input. The user's sessions, tokens, authorised applications and passkeys stop working within a second."
}

// Run stores the new password.
func (u *userResetPassword) Run(c *console) error {
	var chosen chosenPassword
	return u.change(c, accessChange{
		consequence: "resets the password of", ends: signin.ResetEnds(u.KeepTokens),
		prepare: func(row *ent.User) error {
			practice, err := practiceOf(c, row)
			if err != nil {
				return err
			}
			chosen, err = c.readPassword(signin.About(row, practice.Name)...)
			return err
		},
		apply: func(ctx context.Context, tx *ent.Client, row *ent.User) error {
			return signin.ResetPassword(ctx, tx, row, chosen, u.KeepTokens)
		},
	})
}

type userResetSecondFactor struct{ userAccess }

// Help is the text of --help.
func (userResetSecondFactor) Help() string {
	return "For a user who has lost the authenticator and the recovery codes, or a device with a passkey. All passkeys of the user are removed. The user then signs in with the password only. Sessions end; tokens keep working."
}

// Run turns off two-factor authentication and removes the passkeys.
func (u *userResetSecondFactor) Run(c *console) error {
	return u.change(c, accessChange{
		consequence: "turns off two-factor authentication for", ends: signin.SecondFactorEnds,
		apply: signin.ResetSecondFactor,
	})
}

// practiceOf is the practice of a user.
func practiceOf(c *console, u *ent.User) (*ent.Practice, error) {
	return u.QueryPractice().Only(principal.AsSystem(c))
}
