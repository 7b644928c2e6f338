package main

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"chairside/internal/config"
	"chairside/internal/store"
	"chairside/internal/store/analyst"
)

type sqlCommand struct{ config.SQLFlags }

// Help is the text of --help.
func (sqlCommand) Help() string {
	return `Opens psql as an analyst, whose password it asks for or takes from $PGPASSWORD. With --replica-url it connects to the first replica, which keeps the load away from the server.

An embedded database has no analysts, because anyone who can read its file can read everything. For one, the command opens sqlite3, read-only, with temporary views: report_patients instead of report.patients.

The columns are described under "Data dictionary" in the documentation of each server, /docs/data. See the guide "Reports in SQL".`
}

// Run starts the program, or prints what it would start with.
func (s *sqlCommand) Run(c *console) error {
	if s.Embedded() {
		return s.embedded(c)
	}
	if err := analyst.CheckName(s.Name); err != nil {
		return config.Mistakes{"<name>: " + err.Error()}
	}
	raw := s.DatabaseURL
	if len(s.ReplicaURL) > 0 {
		raw = s.ReplicaURL[0]
	}
	address, err := analystURL(raw, s.Name)
	if err != nil {
		return err
	}
	if s.Print {
		_, err := fmt.Fprintln(c.out, address)
		return err
	}
	arguments := []string{"--dbname", address}
	if s.Command != "" {
		arguments = append(arguments, "--command", s.Command)
	}
	return c.start("psql", arguments...)
}

// clientParameters are the parameters of a database URL that psql also needs. The others are those of
// our driver, or of the server's session.
var clientParameters = []string{"host", "port", "sslmode", "sslrootcert", "connect_timeout"}

// analystURL returns a database URL with another user and no password.
func analystURL(raw, name string) (string, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return "", errors.New("the PostgreSQL URL cannot be parsed (in the password, write special characters as %XX)")
	}
	query := u.Query()
	for parameter := range query {
		if !slices.Contains(clientParameters, parameter) {
			query.Del(parameter)
		}
	}
	u.User, u.RawQuery = url.User(name), query.Encode()
	return u.String(), nil
}

// embedded starts sqlite3 with the views of a practice.
func (s *sqlCommand) embedded(c *console) error {
	var script, file string
	err := c.withDatabase(s.Database, func(db *store.DB) error {
		practice, err := c.practice(db, s.Practice)
		if err != nil {
			return err
		}
		zone, err := time.LoadLocation(practice.TimeZone)
		if err != nil {
			return fmt.Errorf("load the practice's time zone: %w", err)
		}
		script, file = analyst.Script(practice.ID, zone), db.File
		return nil
	})
	if err != nil {
		return err
	}
	if s.Print {
		_, err := fmt.Fprint(c.out, script)
		return err
	}
	dir, err := os.MkdirTemp("", "chairside-sql-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	views := filepath.Join(dir, "views.sql")
	if err := os.WriteFile(views, []byte(script), 0o600); err != nil {
		return err
	}
	arguments := []string{"-readonly", "-header", "-cmd", ".read " + views, file}
	if s.Command != "" {
		arguments = append(arguments, s.Command)
	}
	return c.start("sqlite3", arguments...)
}

// start runs a program of the database with our streams, and returns its failure. An interrupt goes to
// the program, too, which ends a statement and not itself.
func (c *console) start(name string, arguments ...string) error {
	path, err := exec.LookPath(name)
	if err != nil {
		return fmt.Errorf("the program %s is not installed, or not in $PATH; any other client works, too (--print)", name)
	}
	command := exec.Command(path, arguments...)
	command.Stdin, command.Stdout, command.Stderr = c.in, c.out, c.err
	err = command.Run()
	if failed := new(exec.ExitError); errors.As(err, &failed) {
		return fmt.Errorf("%s failed (exit status %d)", name, failed.ExitCode())
	}
	return err
}
