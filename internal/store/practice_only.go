package store

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"entgo.io/ent/dialect"
	"github.com/google/uuid"

	"chairside/internal/store/rowsecurity"
)

var (
	// ErrSchemaNamed refuses a name such as main.patients, which would bypass the confinement
	// to one practice.
	ErrSchemaNamed = errors.New("a query cannot name a schema: use table names without one")

	// ErrSeveralStatements refuses SQL text with a semicolon: what follows it would be a
	// statement of its own, which is not confined and could end the view.
	ErrSeveralStatements = errors.New("a query must be a single statement: remove the semicolon")

	// ErrUnreadable refuses quotes that could hide a schema or a semicolon.
	ErrUnreadable = errors.New("a query cannot contain dollar quotes or Unicode escapes: use '…' or an argument")
)

// practiceOnly redefines the names of all tables, so that in a query they mean the rows of one
// practice:
//
//	WITH patients AS NOT MATERIALIZED (SELECT * FROM patients WHERE practice_id = …), …
//	SELECT …
//
// This applies to every part of a statement, including sub-queries, joins, UNION and SQL text.
// The generated client confines its own queries; this confines the tables that predicates and
// modifiers add to them. It does not protect against attackers, who would need the database's
// password anyway: functions that run SQL text, such as PostgreSQL's query_to_xml, bypass it.
type practiceOnly struct{ tables string }

func newPracticeOnly(db *DB, id uuid.UUID) practiceOnly {
	parts := make([]string, len(db.tables))
	for i, t := range db.tables {
		from := `"` + t.Name + `"`
		if db.Dialect == dialect.SQLite { // where the plain name would refer to the CTE itself
			from = "main." + from
		}
		where := "1 = 0" // a table that belongs to no practice
		if column := rowsecurity.PracticeColumn(t); column != "" {
			where = fmt.Sprintf(`"%s" = '%s'`, column, id)
		}
		parts[i] = fmt.Sprintf(`"%s" AS NOT MATERIALIZED (SELECT * FROM %s WHERE %s)`, t.Name, from, where)
	}
	return practiceOnly{"WITH " + strings.Join(parts, ", ") + " "}
}

func (p practiceOnly) driver(d dialect.Driver) dialect.Driver { return practiceDriver{d, p} }

// practiceDriver is a dialect.Driver that refuses all statements but queries, and confines these
// to one practice.
type practiceDriver struct {
	dialect.Driver
	only practiceOnly
}

var (
	firstWord  = regexp.MustCompile(`^\s*(?i)(SELECT|WITH)\b`)
	schemaName = regexp.MustCompile(`(?i)\b(main|temp|public|pg_temp|pg_catalog|information_schema)\s*\.`)

	// quoted matches comments, strings and quoted names, in which a dot or semicolon means
	// nothing, or which could hide one.
	quoted = regexp.MustCompile(`(?is)--[^\n]*|/\*.*?\*/|\be'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'|"[^"]*"|` + "`[^`]*`" + `|[\[\]]`)

	// unreadable matches the quotes of PostgreSQL that unquoted cannot parse: $$text$$ and
	// U&"\0070ublic".
	unreadable = regexp.MustCompile(`(?i)\$([a-z_]\w*)?\$|\bu&`)
)

// unquoted returns SQL text without comments, strings, and the quotes around names.
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
		query = "SELECT * FROM (" + query + ") AS query"
	}
	return d.Driver.Query(ctx, d.only.tables+query, args, v)
}

func (d practiceDriver) Exec(context.Context, string, any, any) error { return ErrReadOnly }

func (d practiceDriver) Tx(context.Context) (dialect.Tx, error) { return nil, ErrReadOnly }
