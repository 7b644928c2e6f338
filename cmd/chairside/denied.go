package main

import (
	"fmt"
	"net/url"

	"github.com/alecthomas/kong"
)

// denied explains that the database refused a command to the role of its URL, for the reason that the
// database gives.
func denied(reason string, command *kong.Context) string {
	role := "the database role"
	for _, flag := range command.Flags() {
		if flag.Name != "database-url" {
			continue
		}
		if u, err := url.Parse(flag.Target.String()); err == nil && u.User.Username() != "" {
			role += " " + u.User.Username()
		}
	}
	return fmt.Sprintf(`%s may not do this (%s): use the URL of the role that owns the tables, which runs "chairside migrate up". Only "chairside serve" and "chairside doctor" run as the roles of "chairside database roles"`, role, reason)
}
