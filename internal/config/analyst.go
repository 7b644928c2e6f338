package config

import "time"

// AnalystFlags are the flags of "chairside analyst create".
type AnalystFlags struct {
	Database
	Practice         string        `placeholder:"NAME" help:"Practice: its id or its short name. Default: the only practice."`
	PasswordFile     string        `placeholder:"FILE" help:"File with the password, on its first line. Default: generate one and print it."`
	StatementTimeout time.Duration `placeholder:"TIME" default:"60s" help:"Time limit of a statement. An analyst can set another. Default: ${default}"`
	Name             string        `arg:"" help:"Name of the role: lower-case letters, digits and underscores."`
}

// Validate reports every mistake in the flags; the parser calls it.
func (f AnalystFlags) Validate() error {
	var m Mistakes
	f.Database.check(&m)
	if f.Embedded() {
		m.add("database-url", "must be that of a PostgreSQL database: anyone who can read the file of an embedded database can read everything (see \"chairside sql\")")
	}
	if f.StatementTimeout < time.Second || f.StatementTimeout > 24*time.Hour {
		m.add("statement-timeout", "must be between 1s and 24h")
	}
	return m.err()
}

// SQLFlags are the flags of "chairside sql".
type SQLFlags struct {
	Database
	ReplicaDatabases
	Practice string `placeholder:"NAME" help:"Practice of an embedded database: its id or its short name. Default: the only practice."`
	Command  string `short:"c" placeholder:"SQL" help:"Run these statements and exit."`
	Print    bool   `help:"Print the views of an embedded database as SQL, or the analyst's URL of a PostgreSQL database, and exit."`
	Name     string `arg:"" optional:"" help:"The analyst, on PostgreSQL."`
}

// Validate reports every mistake in the flags; the parser calls it.
func (f SQLFlags) Validate() error {
	var m Mistakes
	f.Database.check(&m)
	f.ReplicaDatabases.check(&m, f.Database)
	switch {
	case f.Embedded() && f.Name != "":
		m = append(m, "<name>: an embedded database has no analysts: leave the name out")
	case !f.Embedded() && f.Name == "":
		m = append(m, "<name>: is required: \"chairside analyst create\" creates an analyst")
	case !f.Embedded() && f.Practice != "":
		m.add("practice", "is that of the analyst: leave it out")
	}
	return m.err()
}
