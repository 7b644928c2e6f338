package config

import "strings"

// SystemDatabase is the flag of commands that serve requests.
type SystemDatabase struct {
	SystemDatabaseURL string `name:"system-database-url" placeholder:"URL" help:"PostgreSQL URL of the system role, for work without a caller; --database-url is then that of the serving role. See \"chairside database roles\"."`
}

func (d SystemDatabase) check(m *Mistakes, serving Database) {
	if d.SystemDatabaseURL == "" {
		return
	}
	if !strings.HasPrefix(d.SystemDatabaseURL, "postgres://") && !strings.HasPrefix(d.SystemDatabaseURL, "postgresql://") {
		m.add("system-database-url", "must be postgres://USER:PASSWORD@HOST/NAME")
	}
	if serving.Embedded() {
		m.add("system-database-url", "needs a PostgreSQL --database-url")
	}
}

// RolesFlags are the flags of "chairside database roles".
type RolesFlags struct {
	Database
	ServingRole string `placeholder:"NAME" default:"chairside_serving" help:"Role that serves requests. Default: ${default}"`
	SystemRole  string `placeholder:"NAME" default:"chairside_system" help:"Role for work without a caller. Default: ${default}"`
	Print       bool   `help:"Print the SQL statements instead of running them."`
}

// Validate reports every mistake in the flags; the parser calls it.
func (f RolesFlags) Validate() error {
	var m Mistakes
	f.Database.check(&m)
	if f.Embedded() {
		m.add("database-url", "must be that of a PostgreSQL database: an embedded one has no roles")
	}
	return m.err()
}
