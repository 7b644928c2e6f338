package main

import (
	"fmt"

	"chairside/ent"
	"chairside/internal/config"
	"chairside/internal/provision"
	"chairside/internal/store"
	"chairside/internal/subject"
)

type practiceCommands struct {
	Create    practiceCreate    `cmd:"" help:"Create a practice that is ready for appointments."`
	List      practiceList      `cmd:"" help:"List practices, including deleted ones."`
	Delete    practiceDelete    `cmd:"" help:"Schedule a practice to be closed and deleted."`
	Keep      practiceKeep      `cmd:"" help:"Cancel a practice's deletion before it closes."`
	Retention practiceRetention `cmd:"" help:"Show or change how long patients' records are kept."`
	SignIn    practiceSignIn    `cmd:"" help:"Show or change who needs two-factor authentication, and when sessions lock."`
}

type practiceCreate struct{ config.PracticeFlags }

// Help is the text of --help.
func (practiceCreate) Help() string {
	return `Creates the practice with a site and a room, opening hours from Monday to Friday, its first user (an administrator who is also a practitioner), the seven appointment reasons, a private and an NHS payment plan, and treatments with fees.

Prompts for the user's password, or reads it from the first line of standard input. Prints the new ids as JSON.`
}

// Run creates the practice and prints its ids.
func (p *practiceCreate) Run(c *console) error {
	flags, err := p.Read()
	if err != nil {
		return err
	}
	chosen, err := c.readPassword(flags.Email, flags.FirstName, flags.LastName, flags.Name)
	if err != nil {
		return err
	}
	var ids provision.PracticeIDs
	err = c.withNewDatabase(flags.Database, func(db *store.DB) error {
		return db.Tx(c, func(tx *ent.Client) (err error) {
			ids, err = provision.Practice(c, tx, provision.NewPractice{
				Name: flags.Name, TimeZone: flags.TimeZone, Country: flags.Country,
				First: provision.Person{FirstName: flags.FirstName, LastName: flags.LastName, Email: flags.Email, Password: chosen},
			})
			return err
		})
	})
	if err != nil {
		return err
	}
	return printJSON(c.out, ids)
}

type practiceRetention struct{ config.RetentionFlags }

// Help is the text of --help.
func (practiceRetention) Help() string {
	return "Prints the rule, after changing it if --years is given. \"chairside subject erase\" refuses to erase a record earlier. Set fewer years than the default only if the law of your country allows it."
}

// Run sets the years, if there are any, and prints the rule.
func (p *practiceRetention) Run(c *console) error {
	return c.withDatabase(p.Database, func(db *store.DB) error {
		practice, err := findPractice(c, db.Ent, p.Practice)
		if err != nil {
			return err
		}
		ctx, err := c.actFor(practice)
		if err != nil {
			return err
		}
		rule, err := subject.SetRetention(ctx, db, p.Years)
		if err != nil {
			return err
		}
		fmt.Fprintln(c.out, rule)
		return nil
	})
}
