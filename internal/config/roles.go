package config

// SystemDatabase is the flag of commands that serve requests.
type SystemDatabase struct {
	SystemDatabaseURL string `name:"system-database-url" placeholder:"URL" help:"PostgreSQL URL of the system role, for background work; --database-url is then that of the serving role. See \"chairside database roles\"."`
}

func (d SystemDatabase) check(m *Mistakes, serving Database) {
	if d.SystemDatabaseURL == "" {
		return
	}
	checkPostgresURL(m, "system-database-url", d.SystemDatabaseURL)
	if serving.Embedded() {
		m.add("system-database-url", "needs a PostgreSQL --database-url")
	}
}

// ReplicaDatabases is the flag of commands that use replicas of the database.
type ReplicaDatabases struct {
	ReplicaURL []string `name:"replica-url" placeholder:"URL" help:"PostgreSQL URL of a streaming replica that answers reads; repeat it, or separate several by commas. It signs in as --database-url does. See the guide to availability."`
}

func (d ReplicaDatabases) check(m *Mistakes, primary Database) {
	for _, u := range d.ReplicaURL {
		if !checkPostgresURL(m, "replica-url", u) {
			break
		}
	}
	if len(d.ReplicaURL) > 0 && primary.Embedded() {
		m.add("replica-url", "needs a PostgreSQL --database-url: an embedded database has no replicas")
	}
}

// RolesFlags are the flags of "chairside database roles".
type RolesFlags struct {
	Database
	ServingRole string `placeholder:"NAME" default:"chairside_serving" help:"Role that serves requests. Default: ${default}"`
	SystemRole  string `placeholder:"NAME" default:"chairside_system" help:"Role for background work. Default: ${default}"`
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
