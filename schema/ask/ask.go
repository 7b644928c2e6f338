// Package ask lets other Go programs query a practice's records with the generated
// client of package ent: typed predicates, edges, aggregates, and modifiers for SQL.
//
//	p, err := ask.Open(ctx, "sqlite:chairside.db", "demo")
//	defer p.Close()
//	err = p.View(ctx, func(ctx context.Context, client *ent.Client) error {
//		n, err := client.Patient.Query().Where(patient.Active(true)).Count(ctx)
//		return err
//	})
//
// Group adds up rows over references to other tables, by the practice's day, week, month or
// quarter.
//
// Every query is confined to the practice, like an API request, and can run beside a
// server. Predicates, orders and modifiers can only narrow it, even with Or, Not, SetP or
// SQL text. In SQL text, sub-queries, joins and UNION a table's name means the practice's
// rows.
//
// The confinement does not cover SQL functions that run SQL text, such as PostgreSQL's
// query_to_xml. A program with the database's URL can also connect without this package.
//
// "chairside report" works the same way (package internal/report). To keep the answer to a question,
// write a report: one file, such as internal/report/no_shows.go.
//
// The program's go.mod names Chairside's source:
//
//	require chairside v0.0.0
//	replace chairside => ../chairside
package ask

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/practice"
	"chairside/internal/civil"
	"chairside/internal/decimal"
	"chairside/internal/principal"
	"chairside/internal/seal"
	"chairside/internal/store"
	"chairside/internal/store/migrate"
)

// Date is a day without a time. It prints as 2026-07-01.
type Date = civil.Date

// DateOf returns the day of t in its location. For today, pass the current time in the
// practice's Zone.
func DateOf(t time.Time) Date { return civil.Of(t) }

// Decimal is money or NHS units, in hundredths: Decimal(12_50) prints as 12.50.
type Decimal = decimal.Decimal

// The errors of queries. ErrReadOnly refuses writes; the others refuse SQL text that
// could leave the practice: a name such as main.patients, a semicolon, or quotes that
// could hide one.
var (
	ErrReadOnly          = store.ErrReadOnly
	ErrSchemaNamed       = store.ErrSchemaNamed
	ErrSeveralStatements = store.ErrSeveralStatements
	ErrUnreadable        = store.ErrUnreadable
)

// ErrNoPractice means that no practice has the name.
var ErrNoPractice = errors.New("no such practice")

// Practice is a practice to query. It is safe for concurrent use.
type Practice struct {
	Name string
	Zone *time.Location // the practice's time zone
	Keys *seal.Keys     // of sealed columns, for methods such as ent.Patient.OpenNiNumber; see LoadKeys

	db     *store.DB
	caller *principal.Principal
}

// Open connects to the database at url, sqlite:PATH or
// postgres://USER:PASSWORD@HOST/DATABASE, and finds the practice by its id or its short
// name. It creates and migrates nothing, and refuses a database of another version.
func Open(ctx context.Context, url, name string) (*Practice, error) {
	db, err := store.Open(ctx, url)
	if err != nil {
		return nil, err
	}
	p, err := find(ctx, db, name)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return p, nil
}

func find(ctx context.Context, db *store.DB, name string) (*Practice, error) {
	if err := migrate.Check(ctx, db); err != nil {
		return nil, err
	}
	where := practice.Slug(name)
	if id, err := uuid.Parse(name); err == nil {
		where = practice.ID(id)
	}
	row, err := db.Ent.Practice.Query().Where(where).Only(principal.AsSystem(ctx))
	if ent.IsNotFound(err) {
		return nil, ErrNoPractice
	} else if err != nil {
		return nil, err
	}
	zone, err := time.LoadLocation(row.TimeZone)
	if err != nil {
		return nil, fmt.Errorf("load the practice's time zone: %w", err)
	}
	return &Practice{Name: row.Name, Zone: zone, db: db, caller: &principal.Principal{PracticeID: row.ID, Zone: zone, Country: row.Country}}, nil
}

// LoadKeys reads a key file, without which sealed columns do not open.
func (p *Practice) LoadKeys(file string) (err error) {
	p.Keys, err = seal.File(file, false)
	return err
}

// View runs work on one snapshot of the database. Pass work's context to the queries.
// Mutations fail with ErrReadOnly.
func (p *Practice) View(ctx context.Context, work func(ctx context.Context, client *ent.Client) error) error {
	ctx = principal.With(ctx, p.caller)
	return p.db.ViewOf(ctx, p.caller.PracticeID, func(client *ent.Client) error { return work(ctx, client) })
}

// Close closes the connections to the database.
func (p *Practice) Close() error { return p.db.Close() }
