package main

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/practice"
	"chairside/ent/user"
	"chairside/internal/caller"
	"chairside/internal/config"
	"chairside/internal/onboard"
	"chairside/internal/signin"
	"chairside/internal/store"
	"chairside/schema"
)

type userCommands struct {
	Create        userCreate        `cmd:"" help:"Add a user to a practice."`
	List          userList          `cmd:"" help:"List users."`
	Disable       userDisable       `cmd:"" help:"Lock a user out: the user's tokens stop working within a second."`
	ResetPassword userResetPassword `cmd:"" help:"Give a user a new password."`
}

var (
	errNoUser     = errors.New("there is no user with this e-mail address")
	errNoPractice = errors.New("there is no such practice")
)

type userCreate struct{ config.UserFlags }

// Help is the text of --help.
func (userCreate) Help() string {
	return "Dentists, hygienists and therapists become practitioners as well. The password is asked for, or read from the first line of standard input. Prints the ids as JSON."
}

// Run adds the user and prints the ids.
func (u *userCreate) Run(c *console) error {
	flags, err := u.Read()
	if err != nil {
		return err
	}
	hash, err := c.readPassword()
	if err != nil {
		return err
	}
	var hired onboard.Hired
	err = c.withDatabase(flags.Database, func(db *store.DB) error {
		return db.Tx(c, func(tx *ent.Client) error {
			p, err := findPractice(c, tx, flags.Practice)
			if err != nil {
				return err
			}
			person := onboard.Person{FirstName: flags.FirstName, LastName: flags.LastName, Email: flags.Email, PasswordHash: hash}
			hired, err = onboard.User(c, tx, p.ID, person, schema.Role(flags.Role))
			return err
		})
	})
	if err != nil {
		return err
	}
	return printJSON(c.out, hired)
}

type userList struct {
	config.Database
	Practice string `placeholder:"ID" help:"Only users of this practice: its id or its short name."`
}

// Run prints the users, one a line.
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
		users, err := query.All(caller.System(c))
		if err != nil {
			return err
		}
		table := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "ID\tEMAIL\tNAME\tROLE\tSTATE\tPRACTICE")
		for _, row := range users {
			state := "active"
			if !row.Active {
				state = "disabled"
			}
			fmt.Fprintf(table, "%d\t%s\t%s %s\t%s\t%s\t%s\n", row.ID, row.Email, row.FirstName, row.LastName, row.Role, state, row.Edges.Practice.Slug)
		}
		return table.Flush()
	})
}

type userDisable struct {
	config.Database
	Email string `arg:"" help:"The user's e-mail address."`
}

// Run marks the user inactive and ends the user's sessions.
func (u *userDisable) Run(c *console) error {
	return c.withDatabase(u.Database, func(db *store.DB) error {
		return changeUser(c, db, u.Email, signin.Disable)
	})
}

type userResetPassword struct {
	config.Database
	Email string `arg:"" help:"The user's e-mail address."`
}

// Help is the text of --help.
func (userResetPassword) Help() string {
	return "The new password is asked for, or read from the first line of standard input. It ends the user's sessions in all browsers; tokens go on."
}

// Run stores the new password.
func (u *userResetPassword) Run(c *console) error {
	hash, err := c.readPassword()
	if err != nil {
		return err
	}
	return c.withDatabase(u.Database, func(db *store.DB) error {
		return changeUser(c, db, u.Email, func(ctx context.Context, tx *ent.Client, user *ent.User) error {
			return signin.SetPassword(ctx, tx, user, hash)
		})
	})
}

func changeUser(c *console, db *store.DB, email string, change func(context.Context, *ent.Client, *ent.User) error) error {
	return db.Tx(c, func(tx *ent.Client) error {
		u, err := findUser(c, tx, email)
		if err != nil {
			return err
		}
		return change(c, tx, u)
	})
}

// findUser looks a user up by e-mail address.
func findUser(c *console, client *ent.Client, email string) (*ent.User, error) {
	row, err := client.User.Query().Where(user.Email(schema.NormalizeEmail(email))).Only(caller.System(c))
	if ent.IsNotFound(err) {
		return nil, errNoUser
	}
	return row, err
}

// findPractice looks a practice up by its id or its short name.
func findPractice(c *console, client *ent.Client, name string) (*ent.Practice, error) {
	where := practice.Slug(name)
	if id, err := uuid.Parse(name); err == nil {
		where = practice.ID(id)
	}
	row, err := client.Practice.Query().Where(where).Only(caller.System(c))
	if ent.IsNotFound(err) {
		return nil, errNoPractice
	}
	return row, err
}
