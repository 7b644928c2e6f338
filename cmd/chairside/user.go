package main

import (
	"errors"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/practice"
	"chairside/ent/user"
	"chairside/internal/config"
	"chairside/internal/principal"
	"chairside/internal/provision"
	"chairside/internal/store"
	"chairside/schema"
)

type userCommands struct {
	Create            userCreate            `cmd:"" help:"Add a user to a practice."`
	List              userList              `cmd:"" help:"List users."`
	Disable           userDisable           `cmd:"" help:"Disable a user, and end the user's sessions and tokens."`
	Enable            userEnable            `cmd:"" help:"Let a disabled user sign in again."`
	ResetPassword     userResetPassword     `cmd:"" help:"Set a user's new password, and end the passkeys, sessions and tokens."`
	ResetSecondFactor userResetSecondFactor `cmd:"" help:"Turn off a user's two-factor authentication, and end the passkeys and sessions."`
}

var (
	errNoUser           = errors.New("no user with this e-mail address; see \"chairside user list\"")
	errDisabled         = errors.New("the user is disabled: run \"chairside user enable\" first")
	errNoPractice       = errors.New("no such practice: use its id or its short name; see \"chairside practice list\"")
	errSeveralPractices = errors.New("the database holds several practices: choose one with --practice; see \"chairside practice list\"")
)

type userCreate struct{ config.UserFlags }

// Help is the text of --help.
func (userCreate) Help() string {
	return "Dentists, hygienists and therapists also become practitioners. Prompts for the password, or reads it from the first line of standard input. Prints the new ids as JSON."
}

// Run adds the user and prints the ids.
func (u *userCreate) Run(c *console) error {
	flags, err := u.Read()
	if err != nil {
		return err
	}
	var ids provision.UserIDs
	err = c.withDatabase(flags.Database, func(db *store.DB) error {
		p, err := findPractice(c, db.Ent, flags.Practice)
		if err != nil {
			return err
		}
		chosen, err := c.readPassword(flags.Email, flags.FirstName, flags.LastName, p.Name)
		if err != nil {
			return err
		}
		return db.Tx(c, func(tx *ent.Client) error {
			person := provision.Person{FirstName: flags.FirstName, LastName: flags.LastName, Email: flags.Email, Password: chosen}
			ids, err = provision.User(c, tx, p.ID, person, schema.Role(flags.Role))
			return err
		})
	})
	if err != nil {
		return err
	}
	return printJSON(c.out, ids)
}

type userList struct {
	config.Database
	listing
	Practice string `placeholder:"ID" help:"Show only users of this practice: its id or its short name."`
}

// Run prints the users, one per line.
func (u *userList) Run(c *console) error {
	return c.withDatabase(u.Database, func(db *store.DB) error {
		query := db.Ent.User.Query().WithPractice().Order(user.ByID())
		if u.Practice != "" {
			p, err := findPractice(c, db.Ent, u.Practice)
			if err != nil {
				return err
			}
			query.Where(user.PracticeID(p.ID))
		}
		users, err := query.All(principal.AsSystem(c))
		if err != nil {
			return err
		}
		var cells [][]any
		for _, row := range users {
			state := "active"
			if !row.Active {
				state = "disabled"
			}
			cells = append(cells, []any{row.ID, row.Email, schema.FullName(row.FirstName, row.LastName), row.Role, state, row.Edges.Practice.Slug})
		}
		return u.print(c, []string{"ID", "EMAIL", "NAME", "ROLE", "STATE", "PRACTICE"}, cells)
	})
}

// findUser finds a user by e-mail address.
func findUser(c *console, client *ent.Client, email string) (*ent.User, error) {
	row, err := client.User.Query().Where(user.Email(schema.NormalizeEmail(email))).Only(principal.AsSystem(c))
	if ent.IsNotFound(err) {
		return nil, errNoUser
	}
	return row, err
}

// findPractice finds a practice by its id or its short name.
func findPractice(c *console, client *ent.Client, name string) (*ent.Practice, error) {
	where := practice.Slug(name)
	if id, err := uuid.Parse(name); err == nil {
		where = practice.ID(id)
	}
	row, err := client.Practice.Query().Where(where).Only(principal.AsSystem(c))
	if ent.IsNotFound(err) {
		return nil, errNoPractice
	}
	return row, err
}
