package main

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"chairside/ent"
	"chairside/ent/accesstoken"
	"chairside/internal/apierror"
	"chairside/internal/principal"
	"chairside/internal/scope"
	"chairside/internal/seed"
	"chairside/internal/store"
	"chairside/internal/token"
)

// demoToken is the name of the token that each start of the demo replaces.
const demoToken = "demo"

// fillDemo seeds the database on the first start, as the tables' owner: up to this minute, so that
// the diary shows who has been seen, who waits and who is still to come. It refuses a database that
// holds other practices.
func (c *console) fillDemo(db *store.DB, owner bool) error {
	if _, err := findUser(c, db.Ent, seed.DemoAdmin); !errors.Is(err, errNoUser) {
		return err // nil if the demo exists
	}
	occupied, err := db.Ent.Practice.Query().Exist(principal.AsSystem(c))
	if err != nil {
		return err
	}
	if occupied {
		return errors.New("the database holds real practices: choose another one for the demo with --database-url")
	}
	if !owner {
		return errors.New("the database has no demo practice: run \"chairside seed\" as the tables' owner first")
	}
	fmt.Fprintln(c.err, "filling the demo database …")
	return seed.Run(c, db, seed.Options{RandomSeed: 1, Now: time.Now(), Progress: c.err})
}

// welcomeTime is how long the start of a demo tries again, after a pause each time, while the database is busy, such as
// with another server's writes to an embedded one.
const welcomeTime, welcomePause = 30 * time.Second, 200 * time.Millisecond

// welcome replaces the token of the demo's administrator and prints how to use the
// demo.
func (c *console) welcome(db *store.DB, baseURL string) error {
	value, err := c.replaceDemoToken(db)
	for begun := time.Now(); apierror.From(store.APIError(c, err)).Status == http.StatusServiceUnavailable && time.Since(begun) < welcomeTime; {
		time.Sleep(welcomePause)
		value, err = c.replaceDemoToken(db)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.out, `Chairside demo

  Address    %[1]s
  Reference  %[1]s/docs
  Sign in    %[1]s/sign-in as %[3]s, password %[4]s
  Token      %[2]s

Try it:

  curl -A "try/1.0" -H "Authorization: Bearer %[2]s" "%[1]s/v1/patients?per_page=2"

`, baseURL, value, seed.DemoAdmin, seed.Password)
	if err != nil {
		return err
	}
	fmt.Fprintln(c.out, "Patients with a story:")
	for _, p := range seed.Personas {
		fmt.Fprintf(c.out, "  %s %s\n", p.Name, p.Story)
	}
	_, err = fmt.Fprintln(c.out)
	return err
}

// replaceDemoToken returns a new token of the demo's administrator, and revokes the one of the last start.
func (c *console) replaceDemoToken(db *store.DB) (value string, err error) {
	err = db.Tx(c, func(tx *ent.Client) error {
		admin, err := findUser(c, tx, seed.DemoAdmin)
		if err != nil {
			return err
		}
		if err := token.Revoke(c, tx, accesstoken.UserID(admin.ID), accesstoken.Name(demoToken)); err != nil {
			return err
		}
		value, _, err = token.Create(c, tx, admin, token.Grant{Name: demoToken, Scopes: scope.Everything()})
		return err
	})
	return value, err
}
