package main

import (
	"fmt"
	"net/url"

	"github.com/alecthomas/kong"

	"chairside/internal/store"
)

// denied explains that the database refused a command to the role of its URL, for the reason that the
// database gives.
func denied(reason string, command *kong.Context) string {
	role := "the database role"
	if u, err := url.Parse(databaseURL(command)); err == nil && u.User.Username() != "" {
		role += " " + u.User.Username()
	}
	return fmt.Sprintf(`%s may not do this (%s): use the URL of the role that owns the tables, which runs "chairside migrate up". Only "chairside serve" and "chairside doctor" run as the roles of "chairside database roles"`, role, reason)
}

// databaseURL returns the database URL of a command, or "" for a command without one.
func databaseURL(command *kong.Context) string {
	for _, flag := range command.Flags() {
		if flag.Name == "database-url" {
			return flag.Target.String()
		}
	}
	return ""
}

// replicaRemedy is what to do after store.ErrReplica.
const replicaRemedy = `use the URL of the primary, or promote a restored database with "SELECT pg_promote()"`

// onReplica returns store.ErrReplica if a command failed because its database is a replica, which takes no writes, and
// otherwise err.
func onReplica(c *console, err error, command *kong.Context) error {
	if !store.RefusedOnReplica(err) {
		return err
	}
	db, failed := store.OpenExisting(c, databaseURL(command))
	if failed != nil {
		return err
	}
	defer db.Close()
	if replica, failed := db.IsReplica(c); failed != nil || !replica {
		return err
	}
	return store.ErrReplica
}
