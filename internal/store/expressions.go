package store

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"strings"

	"ariga.io/atlas/sql/postgres"
	atlas "ariga.io/atlas/sql/schema"
	"entgo.io/ent/dialect/sql/schema"
)

// expressions are PostgreSQL's indexes of what a function makes of a row, which
// Ent, whose indexes are of columns, cannot declare. The expression is in the
// server's normal form; migrations make the function.
var expressions = []struct{ table, name, method, function, arguments string }{
	// query, in internal/api/search.go. SQLite reads the rows of the practice instead.
	{"patients", "patient_search_keys", "GIN", "practice_search_keys", "practice_id, (search_text)::text"},
}

// Expressions makes a comparison of a PostgreSQL database with the tables that
// Desired gives heed the indexes that Ent cannot declare.
func Expressions(next schema.Differ) schema.Differ {
	return schema.DiffFunc(func(current, wanted *atlas.Schema) ([]atlas.Change, error) {
		for _, t := range wanted.Tables {
			addExpressions(t)
		}
		return next.Diff(current, wanted)
	})
}

func addExpressions(t *atlas.Table) {
	for _, e := range expressions {
		if e.table == t.Name {
			t.AddIndexes(atlas.NewIndex(e.name).AddExprs(&atlas.RawExpr{X: e.function + "(" + e.arguments + ")"}).AddAttrs(&postgres.IndexType{T: e.method}))
		}
	}
}

// functionDifferences compares the functions of a PostgreSQL schema with those
// that its migrations made: an index holds what a function gave when a row was
// stored, and is asked for what it gives now.
func functionDifferences(ctx context.Context, transaction *sql.Tx, schemaName string, files fs.FS) (list []string, err error) {
	for _, e := range expressions {
		want, err := lastBody(files, e.function)
		if err != nil {
			return nil, err
		}
		var have string
		const bodies = "SELECT coalesce(string_agg(prosrc, ''), '') FROM pg_proc WHERE proname = $1 AND pronamespace = $2::regnamespace"
		if err := transaction.QueryRowContext(ctx, bodies, e.function, schemaName).Scan(&have); err != nil {
			return nil, fmt.Errorf("read the functions: %w", err)
		}
		if have != want {
			list = append(list, "function "+e.function+" differs")
		}
	}
	return list, nil
}

// lastBody is the body of a function in the last migration that makes it, ""
// where none does.
func lastBody(files fs.FS, function string) (body string, err error) {
	_, all, err := open(files)
	if err != nil {
		return "", err
	}
	for _, f := range all {
		if _, made, ok := strings.Cut(string(f.Bytes()), " FUNCTION "+function+"("); ok {
			body = strings.Split(made, "$$")[1]
		}
	}
	return body, nil
}
