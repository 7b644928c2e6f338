package main

import (
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/google/uuid"

	"chairside/ent"
	entanalyst "chairside/ent/analyst"
	"chairside/internal/audit/trail"
	"chairside/internal/clock"
	"chairside/internal/config"
	"chairside/internal/principal"
	"chairside/internal/store"
	"chairside/internal/store/analyst"
)

type analystCommands struct {
	Create analystCreate `cmd:"" help:"Create a role that reads one practice's records with SQL."`
	List   analystList   `cmd:"" help:"List analysts."`
	Drop   analystDrop   `cmd:"" help:"Drop an analyst's role and end its sessions."`
}

type analystCreate struct{ config.AnalystFlags }

// Help is the text of --help.
func (analystCreate) Help() string {
	return `Prints the password, which cannot be shown again, unless --password-file has it. The role signs in to PostgreSQL and reads the views of the schema report: the records of this practice, without names, contact details, notes and secrets. It can read nothing else and write nothing.

Run it as a superuser, or as the tables' owner with CREATEROLE. See the guide "Reports in SQL".`
}

// Run creates the role.
func (a *analystCreate) Run(c *console) error {
	if err := analyst.CheckName(a.Name); err != nil {
		return config.Mistakes{"<name>: " + err.Error()}
	}
	password := rand.Text()
	if a.PasswordFile != "" {
		content, err := os.ReadFile(a.PasswordFile)
		if err != nil {
			return fmt.Errorf("read the password: %w", err)
		}
		first, _, _ := strings.Cut(string(content), "\n")
		password = strings.TrimSuffix(first, "\r")
		if err := analyst.CheckPassword(password); err != nil {
			return config.Mistakes{"--password-file: " + err.Error()}
		}
	}
	err := c.withDatabase(a.Database, func(db *store.DB) error {
		practice, err := c.practice(db, a.Practice)
		if err != nil {
			return err
		}
		now := clock.Now(c)
		draft := analyst.Draft{Name: a.Name, Practice: practice.ID, Zone: practice.TimeZone, Password: password, Timeout: a.StatementTimeout}
		return c.changeAnalyst(db, a.Name, "create", func(tx *sql.Tx) (uuid.UUID, error) {
			return practice.ID, analyst.Create(c, tx, draft, now)
		})
	})
	if err != nil || a.PasswordFile != "" {
		return err
	}
	_, err = fmt.Fprintln(c.out, password)
	return err
}

// changeAnalyst runs a change of a role, and notes it in the audit log of the practice, in one
// transaction.
func (c *console) changeAnalyst(db *store.DB, name, action string, change func(tx *sql.Tx) (uuid.UUID, error)) error {
	tx, err := db.SQL.BeginTx(c, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // after a commit it does nothing
	practice, err := change(tx)
	if err != nil {
		return err
	}
	entry := trail.Entry{Who: trail.Who{Practice: practice}, At: clock.Now(c), Action: action, Resource: ent.TypeAnalyst, Record: name}
	if err := trail.WriteIn(c, db, tx, entry); err != nil {
		return fmt.Errorf("write the audit log: %w", err)
	}
	return tx.Commit()
}

type analystList struct {
	config.Database
	listing
}

// Run prints the analysts of all practices, one per line.
func (a *analystList) Run(c *console) error {
	return c.withDatabase(a.Database, func(db *store.DB) error {
		rows, err := db.Ent.Analyst.Query().WithPractice().Order(entanalyst.ByRole()).All(principal.AsSystem(c))
		if err != nil {
			return err
		}
		var cells [][]any
		for _, row := range rows {
			cells = append(cells, []any{row.Role, row.Edges.Practice.Slug, row.CreatedAt})
		}
		return a.print(c, []string{"NAME", "PRACTICE", "CREATED AT"}, cells)
	})
}

type analystDrop struct {
	config.Database
	confirmation
	Name string `arg:"" help:"Name of the role; see \"chairside analyst list\"."`
}

var errNoRoles = errors.New("an embedded database has no analysts")

// Run drops the role.
func (a *analystDrop) Run(c *console) error {
	if a.Embedded() {
		return errNoRoles
	}
	return c.withDatabase(a.Database, func(db *store.DB) error {
		if err := a.confirm(c, "This drops the role "+a.Name+" and ends its sessions."); err != nil {
			return err
		}
		return c.changeAnalyst(db, a.Name, "delete", func(tx *sql.Tx) (uuid.UUID, error) { return analyst.Drop(c, tx, a.Name) })
	})
}
