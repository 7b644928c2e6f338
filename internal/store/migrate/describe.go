package migrate

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"strings"

	atlas "ariga.io/atlas/sql/schema"
	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql/schema"

	"chairside/internal/store"
)

// Describe returns tables as the database server describes them. A type, default or expression
// can be written in several ways, and the server stores only one of them. So Describe creates
// the tables, in the form of Desired, in a scratch schema and inspects that. It leaves nothing
// behind. It is for writing migrations.
func Describe(ctx context.Context, db *store.DB, tables []*schema.Table) (*atlas.Schema, error) {
	describe := describeSQLite
	if db.Dialect == dialect.Postgres {
		describe = describePostgres
	}
	described, err := describe(ctx, db, tables)
	if err != nil {
		return nil, fmt.Errorf("describe the schema: %w", err)
	}
	return described, nil
}

func describePostgres(ctx context.Context, db *store.DB, tables []*schema.Table) (*atlas.Schema, error) {
	transaction, err := db.SQL.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer transaction.Rollback()
	scratch := "chairside_describe_" + strings.ToLower(rand.Text())
	if _, err := transaction.ExecContext(ctx, "CREATE SCHEMA "+scratch+"; SET LOCAL search_path = "+scratch); err != nil {
		return nil, err
	}
	if err := createFunctions(ctx, transaction, db.Dialect); err != nil {
		return nil, err
	}
	driver, err := DriverOn(transaction, db.Dialect)
	if err != nil {
		return nil, err
	}
	if err := create(ctx, driver, transaction, db.Dialect, tables); err != nil {
		return nil, err
	}
	described, err := driver.InspectSchema(ctx, scratch, &atlas.InspectOptions{Mode: atlas.InspectTables})
	if err != nil {
		return nil, err
	}
	described.Name = "public"
	return described, nil
}

func describeSQLite(ctx context.Context, db *store.DB, tables []*schema.Table) (*atlas.Schema, error) {
	scratch, err := sql.Open("sqlite", "file::memory:?_pragma=foreign_keys(1)") // package store registers the driver
	if err != nil {
		return nil, err
	}
	defer scratch.Close()
	scratch.SetMaxOpenConns(1) // each connection would have a database of its own
	driver, err := DriverOn(scratch, db.Dialect)
	if err != nil {
		return nil, err
	}
	if err := create(ctx, driver, scratch, db.Dialect, tables); err != nil {
		return nil, err
	}
	return driver.InspectSchema(ctx, "main", nil)
}
