package config

import (
	"net/url"
	"strings"
)

// Database is the flag of every command that needs a database.
type Database struct {
	DatabaseURL string `placeholder:"URL" default:"sqlite:chairside.db" help:"Database: sqlite:PATH or postgres://USER:PASSWORD@HOST/NAME. Default: ${default}"`
	AuditKey    string `placeholder:"FILE" help:"Audit key, for the hashes of sensitive values in the audit log and for signatures; see \"chairside audit key\". Default: none, and no hashes."`
	KeysFlag
}

// Validate checks the URL; the parser calls it. Its error does not repeat the URL,
// which may hold a password.
func (d Database) Validate() error {
	var m Mistakes
	d.check(&m)
	return m.err()
}

// Embedded reports whether the database is a SQLite file.
func (d Database) Embedded() bool { return strings.HasPrefix(d.DatabaseURL, "sqlite:") }

// File returns the path of an embedded database, and "" for PostgreSQL.
func (d Database) File() string {
	path, ok := strings.CutPrefix(d.DatabaseURL, "sqlite:")
	if !ok {
		return ""
	}
	return path
}

func (d Database) check(m *Mistakes) {
	switch scheme, rest, _ := strings.Cut(d.DatabaseURL, ":"); {
	case scheme == "sqlite" && rest != "":
	case strings.HasPrefix(scheme, "postgres"):
		checkPostgresURL(m, "database-url", d.DatabaseURL)
	default:
		m.add("database-url", "must be sqlite:PATH or postgres://USER:PASSWORD@HOST/NAME")
	}
}

// checkPostgresURL reports a PostgreSQL URL that cannot be one, without its password.
func checkPostgresURL(m *Mistakes, flag, text string) (valid bool) {
	if !strings.HasPrefix(text, "postgres://") && !strings.HasPrefix(text, "postgresql://") {
		m.add(flag, "must be postgres://USER:PASSWORD@HOST/NAME")
		return false
	}
	if _, err := url.Parse(text); err != nil {
		m.add(flag, "is not a valid URL: percent-encode special characters in the password")
		return false
	}
	return true
}
