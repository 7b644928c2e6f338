package store

import (
	"ariga.io/atlas/sql/postgres"
	atlas "ariga.io/atlas/sql/schema"
	"entgo.io/ent/dialect/sql/schema"
)

// expressions are PostgreSQL's indexes of what a function makes of a row, which
// Ent, whose indexes are of columns, cannot declare. The expression is in the
// server's normal form; migrations make the function.
var expressions = []struct{ table, name, method, expression string }{
	// query, in internal/api/search.go. SQLite reads the rows of the practice instead.
	{"patients", "patient_search_keys", "GIN", "search_keys((search_text)::text)"},
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
			t.AddIndexes(atlas.NewIndex(e.name).AddExprs(&atlas.RawExpr{X: e.expression}).AddAttrs(&postgres.IndexType{T: e.method}))
		}
	}
}
