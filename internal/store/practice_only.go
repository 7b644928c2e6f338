package store

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql/schema"
	"github.com/google/uuid"

	"chairside/ent/application"
	"chairside/ent/practice"
)

// ErrSchemaNamed is the error of a statement with a name like main.patients, which
// would go past the confinement to one practice.
var ErrSchemaNamed = errors.New("a question cannot name a schema: name tables alone")

// practiceOnly gives the tables' names another meaning: those of one practice's rows.
//
//	WITH patients AS NOT MATERIALIZED (SELECT * FROM patients WHERE practice_id = …), …
//	SELECT …
//
// It holds for each part of a statement, whoever has written it: sub-queries, joins,
// UNION and SQL text too. The queries of the generated client are confined by
// themselves; this is for what its predicates and modifiers bring along. It is no
// guard against somebody who means harm and has the database's password anyway:
// functions that run SQL text (query_to_xml of PostgreSQL) go past it.
type practiceOnly struct{ tables string }

func newPracticeOnly(db *DB, id uuid.UUID) practiceOnly {
	parts := make([]string, len(db.tables))
	for i, t := range db.tables {
		from := `"` + t.Name + `"`
		if db.Dialect == dialect.SQLite { // in which the bare name would be the one that is being given
			from = "main." + from
		}
		where := "1 = 0" // of no practice
		if column := practiceColumn(t); column != "" {
			where = fmt.Sprintf(`"%s" = '%s'`, column, id)
		}
		parts[i] = fmt.Sprintf(`"%s" AS NOT MATERIALIZED (SELECT * FROM %s WHERE %s)`, t.Name, from, where)
	}
	return practiceOnly{"WITH " + strings.Join(parts, ", ") + " "}
}

// practiceColumn is the column that says whose a row is, "" where a table has none.
func practiceColumn(t *schema.Table) string {
	switch t.Name {
	case practice.Table:
		return practice.FieldID
	case application.Table:
		return application.FieldOwnerID
	}
	for _, c := range t.Columns {
		if c.Name == "practice_id" {
			return c.Name
		}
	}
	return ""
}

func (p practiceOnly) driver(d dialect.Driver) dialect.Driver { return practiceDriver{d, p} }

// practiceDriver is a dialect.Driver that only queries, one practice's rows.
type practiceDriver struct {
	dialect.Driver
	only practiceOnly
}

var (
	firstWord  = regexp.MustCompile(`^\s*(?i)(SELECT|WITH)\b`)
	schemaName = regexp.MustCompile(`(?i)\b(main|temp|public|pg_temp|pg_catalog|information_schema)"?\s*\.`)
)

func (d practiceDriver) Query(ctx context.Context, query string, args, v any) error {
	word := firstWord.FindStringSubmatch(query)
	switch {
	case word == nil:
		return ErrReadOnly
	case schemaName.MatchString(query):
		return ErrSchemaNamed
	case strings.EqualFold(word[1], "WITH"):
		query = "SELECT * FROM (" + query + ") AS asked"
	}
	return d.Driver.Query(ctx, d.only.tables+query, args, v)
}

func (d practiceDriver) Exec(context.Context, string, any, any) error { return ErrReadOnly }

func (d practiceDriver) Tx(context.Context) (dialect.Tx, error) { return nil, ErrReadOnly }
