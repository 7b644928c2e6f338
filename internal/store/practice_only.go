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

var (
	// ErrSchemaNamed refuses a statement with a name like main.patients, which would go
	// past the confinement to one practice.
	ErrSchemaNamed = errors.New("a question cannot name a schema: name tables alone")

	// ErrSeveralStatements refuses SQL text with a semicolon: what follows it would be a
	// statement of its own, which is not confined and could end the view.
	ErrSeveralStatements = errors.New("a question is one statement: remove the semicolon")

	// ErrUnreadable refuses a statement with quotes that could hide either.
	ErrUnreadable = errors.New("a question cannot use dollar quotes or Unicode escapes: write '…' or pass an argument")
)

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
	schemaName = regexp.MustCompile(`(?i)\b(main|temp|public|pg_temp|pg_catalog|information_schema)\s*\.`)

	// quoted is what may hold a name or a semicolon without being one, or hide one:
	// comments, strings, and the quotes around names.
	quoted = regexp.MustCompile(`(?is)--[^\n]*|/\*.*?\*/|\be'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'|"[^"]*"|` + "`[^`]*`" + `|[\[\]]`)

	// unreadable is PostgreSQL's quotes that unquoted does not see through: $$text$$ and
	// U&"\0070ublic".
	unreadable = regexp.MustCompile(`(?i)\$([a-z_]\w*)?\$|\bu&`)
)

// unquoted is SQL text without comments, strings, and the quotes around names.
func unquoted(query string) string {
	return quoted.ReplaceAllStringFunc(query, func(found string) string {
		switch found[0] {
		case '"', '[', ']', '`':
			return strings.Trim(found, "\"[]`")
		}
		return " "
	})
}

func (d practiceDriver) Query(ctx context.Context, query string, args, v any) error {
	word, text := firstWord.FindStringSubmatch(query), unquoted(query)
	switch {
	case word == nil:
		return ErrReadOnly
	case strings.Contains(text, ";"):
		return ErrSeveralStatements
	case unreadable.MatchString(text):
		return ErrUnreadable
	case schemaName.MatchString(text):
		return ErrSchemaNamed
	case strings.EqualFold(word[1], "WITH"):
		query = "SELECT * FROM (" + query + ") AS asked"
	}
	return d.Driver.Query(ctx, d.only.tables+query, args, v)
}

func (d practiceDriver) Exec(context.Context, string, any, any) error { return ErrReadOnly }

func (d practiceDriver) Tx(context.Context) (dialect.Tx, error) { return nil, ErrReadOnly }
