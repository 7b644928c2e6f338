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

// userAccess is the arguments of a command that takes access from a user.
type userAccess struct {
	config.Database
	confirmation
	Email string `arg:"" help:"The user's e-mail address."`
}

// change makes the change to the user's access.
func (u userAccess) change(c *console, change accessChange) error {
	change.confirmation, change.email = u.confirmation, u.Email
	return c.withDatabase(u.Database, func(db *store.DB) error { return c.changeAccess(db, change) })
}

// accessChange is what a command does to a user's access.
type accessChange struct {
	confirmation
	email       string
	consequence string       // opens the question: "Disables", "Resets the password of"
	ends        signin.Kinds // what the command ends
	prepare     func(*ent.User) error
	apply       func(ctx context.Context, tx *ent.Client, u *ent.User) error
}

// errLastAdministrator replaces signin.ErrLastAdministrator on the command line.
var errLastAdministrator = errors.New("this is the last active administrator of the practice: add another one first, or use --force")

// changeAccess asks for confirmation, makes the change in one transaction, and prints
// what it ended.
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
	if err := change.confirm(c, fmt.Sprintf("%s %s, and ends %s.", change.consequence, who, describeAccess(held))); err != nil {
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
	Force bool `help:"Disable the last active administrator of the practice, too."`
}

// Help is the text of --help.
func (userDisable) Help() string {
	return "The user's sessions, tokens and authorised applications stop working within a second, for good: \"chairside user enable\" brings none of them back. The last active administrator of a practice is refused without --force."
}

// Run disables the user.
func (u *userDisable) Run(c *console) error {
	return u.change(c, accessChange{
		consequence: "Disables", ends: signin.DisableEnds,
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
	return "The user signs in with the password and second factor of before, and makes new tokens. Sessions, tokens and authorised applications that were ended stay so."
}

// Run enables the user. It is no failure where the user is active.
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
	KeepTokens bool `help:"Keep the user's personal access tokens. Sessions and authorised applications end all the same."`
}

// Help is the text of --help.
func (userResetPassword) Help() string {
	return "The new password is asked for, or read from the first line of standard input. The user's sessions, tokens and authorised applications stop working within a second."
}

// Run stores the new password.
func (u *userResetPassword) Run(c *console) error {
	var chosen chosenPassword
	return u.change(c, accessChange{
		consequence: "Resets the password of", ends: signin.ResetEnds(u.KeepTokens),
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
	return "For a user who has lost the authenticator and the recovery codes: the password alone then signs the user in. The user's sessions end; tokens keep working."
}

// Run turns the second factor off.
func (u *userResetSecondFactor) Run(c *console) error {
	return u.change(c, accessChange{
		consequence: "Turns off the second factor of", ends: signin.SecondFactorEnds,
		apply: signin.ResetSecondFactor,
	})
}

// practiceOf is the practice of a user.
func practiceOf(c *console, u *ent.User) (*ent.Practice, error) {
	return u.QueryPractice().Only(principal.AsSystem(c))
}
