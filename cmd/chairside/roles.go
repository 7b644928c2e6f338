package main

import (
	"fmt"
	"strings"

	"chairside/internal/config"
	"chairside/internal/store"
	"chairside/internal/store/rowsecurity"
)

type databaseCommands struct {
	Roles databaseRoles `cmd:"" help:"Create the roles and policies of row-level security on PostgreSQL."`
}

type databaseRoles struct{ config.RolesFlags }

// Help is the text of --help.
func (databaseRoles) Help() string {
	return `Row-level security is a second wall between practices: the role that serves requests sees only rows of the practice that each statement names, even if the program forgets its own filter.

The command creates two roles, or gives existing ones the right attributes, and sets up their policies and privileges. The serving role is confined to one practice at a time; the system role is not, and does what has no caller, such as looking up tokens, sign-in and webhooks. Neither owns a table. They can sign in, but have no password until you set one.

Run it as a superuser the first time. Run it again after each "migrate up", then as the tables' owner: it adds what is missing. A server can keep running, because each table is locked for an instant only.

Then start the server as the serving role, with --system-database-url for the system role. A server that signs in as a superuser, or as a member of both roles, takes the roles by itself.`
}

// Run creates the roles, or prints how.
func (d *databaseRoles) Run(c *console) error {
	roles := rowsecurity.Roles{Serving: d.ServingRole, System: d.SystemRole}
	if err := roles.Check(); err != nil {
		return config.Mistakes{"--serving-role, --system-role: " + err.Error()}
	}
	return c.withDatabase(d.Database, func(db *store.DB) error {
		if d.Print {
			statements, err := db.RoleStatements(roles)
			for _, s := range statements {
				fmt.Fprintf(c.out, "BEGIN;\n%s;\nCOMMIT;\n", s)
			}
			return err
		}
		protected, err := db.CreateRoles(c, roles)
		for _, name := range protected {
			fmt.Fprintln(c.out, "protected", name)
		}
		if err != nil {
			return err
		}
		state, err := db.RowSecurity(c)
		if err != nil {
			return err
		}
		if len(state.Problems) > 0 {
			return fmt.Errorf("row-level security is still incomplete:\n%s", strings.Join(state.Problems, "\n"))
		}
		fmt.Fprintf(c.err, "requests: %s, everything else: %s\n", roles.Serving, roles.System)
		return nil
	})
}
