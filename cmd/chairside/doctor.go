package main

import (
	"errors"
	"fmt"

	"chairside/internal/config"
	"chairside/internal/store"
	"chairside/internal/store/migrate"
	"chairside/internal/store/sealing"
)

type doctorCommand struct{ config.DoctorFlags }

// Help is the text of --help.
func (doctorCommand) Help() string {
	return `Checks the database as a server with the same flags would use it: that its migrations are applied, that its secrets open with the keys, that not all users of the machine can open its file or the keys, and, on PostgreSQL, that the audit log has partitions for the months to come, and that row-level security is on, complete, and used by the right roles, none of them a superuser. Prints one problem per line and exits with status 1 if there is any.`
}

// Run prints the problems and fails if there are any.
func (d *doctorCommand) Run(c *console) error {
	problems, err := c.diagnose(d.DoctorFlags)
	for _, p := range problems {
		fmt.Fprintln(c.out, p)
	}
	if err == nil && len(problems) > 0 {
		err = fmt.Errorf("%d problems found", len(problems))
	}
	if err == nil {
		fmt.Fprintln(c.err, "no problems found")
	}
	return err
}

// diagnose returns the problems of a database that a server would have. An error means that the
// checks could not be made.
func (c *console) diagnose(d config.DoctorFlags) (problems []string, err error) {
	url, system := d.DatabaseURL, d.SystemDatabaseURL
	first := url
	if system != "" {
		first = system // the serving role may read no migrations
	}
	db, err := store.OpenExisting(c, first)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	switch err := migrate.Check(c, db); {
	case errors.Is(err, migrate.ErrPending):
		return []string{err.Error() + `: run "chairside migrate up"`}, nil
	case err != nil:
		return nil, err
	}
	if err := loadKeys(db, d.Database); err != nil {
		return []string{err.Error()}, nil
	}
	if problems, err = exposedFiles(db, d.Database); err != nil {
		return problems, err
	}
	if err := sealing.Check(c, db); err != nil {
		problems = append(problems, err.Error())
	}
	switch missing, err := migrate.MissingMonths(c, db); {
	case err != nil:
		return problems, err
	case missing != "":
		problems = append(problems, missing)
	}
	if db.File != "" {
		return problems, nil // an embedded database has no roles
	}
	serving, err := store.OpenServing(c, url, system)
	if err != nil {
		return []string{err.Error()}, nil
	}
	defer func() { err = errors.Join(err, serving.Close()) }()
	if reason := serving.Unconfined(); reason != "" {
		problems = append(problems, reason)
	}
	state, err := serving.RowSecurity(c)
	if err != nil {
		return problems, err
	}
	if state.Superuser {
		problems = append(problems, "the server signs in as the superuser "+state.Login+", who can leave its role: sign in as the two roles")
	}
	return problems, nil
}
