package main

import (
	"chairside/ent"
	"chairside/internal/config"
	"chairside/internal/principal"
	"chairside/internal/signin"
	"chairside/internal/store"
)

type practiceSignIn struct{ config.SignInFlags }

// Help is the text of --help.
func (practiceSignIn) Help() string {
	return `Prints the rules as JSON, after changing those that have a flag. They apply from the next page that a user opens.

Users who must have two-factor authentication and have none can only set it up. Access tokens keep working.`
}

// signInRules is what "practice sign-in" prints.
type signInRules struct {
	SecondFactor string `json:"second_factor"`
	IdleLock     int    `json:"idle_lock_minutes"`
}

// Run changes the rules and prints them.
func (p *practiceSignIn) Run(c *console) error {
	var rules signin.Rules
	err := c.withDatabase(p.Database, func(db *store.DB) error {
		return db.Tx(c, func(tx *ent.Client) error {
			row, err := findPractice(c, tx, p.Practice)
			if err != nil {
				return err
			}
			rules = signin.RulesOf(row)
			if p.SecondFactor == "" && p.IdleLock == nil {
				return nil
			}
			if p.SecondFactor != "" {
				rules.FactorFrom = config.LevelOf(p.SecondFactor)
			}
			if p.IdleLock != nil {
				rules.IdleMinutes = *p.IdleLock
			}
			return signin.SetRules(principal.AsSystem(c), tx, row.ID, rules)
		})
	})
	if err != nil {
		return err
	}
	return printJSON(c.out, signInRules{config.LevelName(rules.FactorFrom), rules.IdleMinutes})
}
