// Package ask lets another Go program put questions of its own to a practice's
// records, with the generated client of package ent: typed predicates, edges,
// aggregates, and modifiers for what those have no words for.
//
//	p, err := ask.Open(ctx, "sqlite:chairside.db", "demo")
//	defer p.Close()
//	err = p.View(ctx, func(ctx context.Context, client *ent.Client) error {
//		n, err := client.Patient.Query().Where(patient.Active(true)).Count(ctx)
//		return err
//	})
//
// Every query is confined to the practice, like a request to the server, and
// runs beside a server without disturbing it. Predicates, orders and modifiers only
// narrow it, whatever they do with Or, Not, SetP or SQL text; and in their SQL text,
// sub-queries, joins and UNION the name of a table means the practice's rows.
//
// What the confinement does not hold: SQL functions that run SQL text themselves,
// such as PostgreSQL's query_to_xml. And a program that has the database's address
// can open it without this package.
//
// The reports of "chairside report"
// are made the same way (package internal/report).
//
// The module of such a program says where Chairside's source is:
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
	"chairside/internal/store"
	"chairside/internal/store/migrate"
)

// Date is a day without a time, as records hold it and predicates take it. It
// prints as 2026-07-01; AddDays and AddMonths count from it.
type Date = civil.Date

// DateOf is the day that t shows, which depends on its location. For what is
// today, t is the present time in the practice's Zone.
func DateOf(t time.Time) Date { return civil.Of(t) }

// Decimal is money or NHS units, in hundredths: Decimal(12_50) prints as 12.50.
type Decimal = decimal.Decimal

// Errors of queries. ErrReadOnly is returned for whatever would write, the others for
// SQL text that could leave the practice: a name like main.patients, a semicolon, and
// quotes that could hide one.
var (
	ErrReadOnly          = store.ErrReadOnly
	ErrSchemaNamed       = store.ErrSchemaNamed
	ErrSeveralStatements = store.ErrSeveralStatements
	ErrUnreadable        = store.ErrUnreadable
)

// ErrNoPractice is returned by Open where no practice has the name.
var ErrNoPractice = errors.New("ask: there is no such practice")

// Practice is a practice whose records can be asked. It is safe for concurrent
// use.
type Practice struct {
	Name string
	Zone *time.Location // the practice's days begin and end by its clocks

	db     *store.DB
	caller *principal.Principal
}

// Open connects to the database at url, sqlite:PATH or
// postgres://USER:PASSWORD@HOST/DATABASE, and finds the practice by its id or
// its short name. It creates and migrates nothing: a database that this version
// of the program does not fit is refused.
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
		return nil, fmt.Errorf("ask: the practice's time zone: %w", err)
	}
	return &Practice{Name: row.Name, Zone: zone, db: db, caller: &principal.Principal{PracticeID: row.ID, Zone: zone, Country: row.Country}}, nil
}

// View runs work on one state of the database, however long it takes and
// whatever others write meanwhile. Queries are given the context that work is
// given. It can only read: mutations fail with ErrReadOnly.
func (p *Practice) View(ctx context.Context, work func(ctx context.Context, client *ent.Client) error) error {
	ctx = principal.With(ctx, p.caller)
	return p.db.ViewOf(ctx, p.caller.PracticeID, func(client *ent.Client) error { return work(ctx, client) })
}

// Close ends the connections to the database.
func (p *Practice) Close() error { return p.db.Close() }
