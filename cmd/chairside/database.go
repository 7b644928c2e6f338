package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"chairside/internal/config"
	"chairside/internal/store"
	"chairside/internal/store/migrate"
)

// withDatabase is withNewDatabase for work on what is there: in a mistyped or
// forgotten place there would be a new and empty database, which exports
// nothing and whose totals are all right.
func (c *console) withDatabase(d config.Database, work func(db *store.DB) error) error {
	return c.with(store.OpenExisting, d, work)
}

// withNewDatabase opens the database, sees to it that its migrations are all
// applied, and closes it after work. An embedded database is made where it is
// missing, and migrated; of a PostgreSQL one somebody else may be the owner, so
// it is only looked at.
func (c *console) withNewDatabase(d config.Database, work func(db *store.DB) error) error {
	return c.with(store.Open, d, work)
}

func (c *console) with(open func(context.Context, string) (*store.DB, error), d config.Database, work func(db *store.DB) error) (err error) {
	db, err := open(c, d.DatabaseURL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := c.prepare(db, d.Embedded()); err != nil {
		return err
	}
	return work(db)
}

// prepare applies pending migrations, or refuses a database that has some.
func (c *console) prepare(db *store.DB, apply bool) error {
	if apply {
		applied, err := migrate.Up(c, db, c.progress)
		for _, m := range applied {
			fmt.Fprintf(c.err, "applied migration %s %s\n", m.Version, m.Name)
		}
		return err
	}
	err := migrate.Check(c, db)
	if errors.Is(err, migrate.ErrPending) {
		return fmt.Errorf("%w; run \"chairside migrate up\" first", err)
	}
	return err
}

// progress prints what a migration has to say while it runs.
func (c *console) progress(sentence string) { fmt.Fprintln(c.err, sentence) }

// printJSON writes a result as one line of JSON.
func printJSON(w io.Writer, result any) error { return json.NewEncoder(w).Encode(result) }
