package config

import "strings"

// Database is the flag of every command that works on data.
type Database struct {
	DatabaseURL string `placeholder:"URL" default:"sqlite:chairside.db" help:"The database: sqlite:PATH or postgres://USER:PASSWORD@HOST/NAME. Default: ${default}"`
}

// Validate checks the form of the address; the parser calls it. Its error does
// not repeat the address, which may hold a password.
func (d Database) Validate() error {
	var m Mistakes
	d.check(&m)
	return m.err()
}

// Embedded reports whether the database is a file that this program alone
// looks after.
func (d Database) Embedded() bool { return strings.HasPrefix(d.DatabaseURL, "sqlite:") }

func (d Database) check(m *Mistakes) {
	scheme, rest, _ := strings.Cut(d.DatabaseURL, ":")
	if scheme == "sqlite" && rest != "" {
		return
	}
	if (scheme == "postgres" || scheme == "postgresql") && strings.HasPrefix(rest, "//") {
		return
	}
	m.add("database-url", "must be sqlite:PATH or postgres://USER:PASSWORD@HOST/NAME")
}
