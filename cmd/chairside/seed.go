package main

import (
	"fmt"
	"time"

	"chairside/internal/civil"
	"chairside/internal/config"
	"chairside/internal/seed"
	"chairside/internal/store"
)

type seedCommand struct{ config.SeedFlags }

// Help is the text of --help.
func (seedCommand) Help() string {
	return "Creates two practices in Europe/London with made-up people. Their administrators are " + seed.DemoAdmin + " and " + seed.SecondAdmin +
		", both with the password \"" + seed.Password + "\". The same flags and date always create the same data, ids included."
}

// Run seeds the database.
func (s *seedCommand) Run(c *console) error {
	flags, err := s.Read()
	if err != nil {
		return err
	}
	return c.withNewDatabase(flags.Database, func(db *store.DB) error {
		if err := c.seed(db, flags); err != nil {
			return err
		}
		fmt.Fprintf(c.err, "created two practices, with the administrators %s and %s\n", seed.DemoAdmin, seed.SecondAdmin)
		return nil
	})
}

// seed fills the database. Without --as-of the history ends today. It ends at ten o'clock whenever the
// command runs, so that a day's data are the same.
func (c *console) seed(db *store.DB, flags config.Seed) error {
	if flags.AsOf.IsZero() {
		today, err := demoToday()
		if err != nil {
			return err
		}
		flags.AsOf = today
	}
	return seed.Run(c, db, seed.Options{
		Patients: flags.Patients, Years: flags.Years, RandomSeed: flags.RandomSeed, AsOf: flags.AsOf, Progress: c.err,
	})
}

// demoToday is today's date at the seeded practices.
func demoToday() (civil.Date, error) {
	zone, err := time.LoadLocation("Europe/London")
	if err != nil {
		return civil.Date{}, fmt.Errorf("load the demo's time zone: %w", err)
	}
	return civil.Of(time.Now().In(zone)), nil
}
