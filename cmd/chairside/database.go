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

// withDatabase is withNewDatabase for a database that must exist. A mistyped path
// would otherwise create an empty database, which a report or an export would accept.
func (c *console) withDatabase(d config.Database, work func(db *store.DB) error) error {
	return c.with(store.OpenExisting, d, work)
}

// withNewDatabase opens the database, makes sure that its migrations are applied, and
// closes it after work. It creates and migrates an embedded database. It only checks a
// PostgreSQL database, which another role may own.
func (c *console) withNewDatabase(d config.Database, work func(db *store.DB) error) error {
	return c.with(store.Open, d, work)
}

// with opens a database, applies or checks its migrations, runs work, and closes it.
func (c *console) with(open func(context.Context, string) (*store.DB, error), d config.Database, work func(db *store.DB) error) (err error) {
	db, err := open(c, d.DatabaseURL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := loadKeys(db, d); err != nil {
		return err
	}
	if err := c.prepare(db, d.Embedded()); err != nil {
		return err
	}
	return work(db)
}

// applyMigrations applies pending migrations over a connection of its own.
func (c *console) applyMigrations(d config.Database) (err error) {
	db, err := store.Open(c, d.DatabaseURL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return c.prepare(db, true)
}

// prepare applies pending migrations, or refuses a database with pending ones.
func (c *console) prepare(db *store.DB, apply bool) error {
	if apply {
		applied, err := migrate.Up(c, db, c.progress)
		for _, m := range applied {
			fmt.Fprintf(c.err, "applied migration %s %s\n", m.Version, m.Name)
		}
		if err == nil {
			_, err = migrate.AddMonths(c, db)
		}
		return err
	}
	err := migrate.Check(c, db)
	if errors.Is(err, migrate.ErrPending) {
		return fmt.Errorf("%w; run \"chairside migrate up\" first", err)
	}
	return err
}

// progress prints a migration's progress messages.
func (c *console) progress(sentence string) { fmt.Fprintln(c.err, sentence) }

// printJSON writes a result as one line of JSON.
func printJSON(w io.Writer, result any) error { return json.NewEncoder(w).Encode(result) }
