package analyst

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"entgo.io/ent/dialect/sql/schema"

	"chairside/ent"
	"chairside/ent/analyst"
	"chairside/ent/practice"
	"chairside/internal/entx/table"
)

// Schema is the PostgreSQL schema of the views.
const Schema = "report"

// Views returns the views whose tables exist, without columns that they lack. They lack some only
// in tests of migrations.
func Views(tables []*schema.Table) (all []table.View) {
	byName := map[string]*schema.Table{}
	for _, t := range tables {
		byName[t.Name] = t
	}
	if byName[analyst.Table] == nil || byName[practice.Table] == nil {
		return nil
	}
	for _, v := range ent.Views {
		t := byName[v.Name]
		if t == nil {
			continue
		}
		v.Columns = slices.DeleteFunc(slices.Clone(v.Columns), func(c table.ViewColumn) bool {
			_, ok := t.Column(c.Source)
			return !ok
		})
		all = append(all, v)
	}
	return all
}

// CreateSchema creates the schema, which only its owner and analysts may use.
const CreateSchema = `CREATE SCHEMA IF NOT EXISTS "` + Schema + `"`

// Statement is an SQL statement of a view, with the comment above it.
type Statement struct{ Comment, Text string }

// statements returns the statements that create a view in a schema.
func statements(in string, v table.View) []Statement {
	name := table.Quote(in) + "." + table.Quote(v.Name)
	columns := make([]string, len(v.Columns))
	for i, c := range v.Columns {
		columns[i] = postgresColumn(c) + " AS " + table.Quote(c.Name)
	}
	where := `t."practice_id" = (SELECT a."practice_id" FROM public."` + analyst.Table + `" AS a WHERE a."role" = session_user::text)`
	if v.Where != "" {
		where += " AND " + v.Where
	}
	all := []Statement{
		{"View of " + v.Name + " for analysts", "CREATE VIEW " + name + " WITH (security_barrier) AS SELECT\n  " + strings.Join(columns, ",\n  ") +
			"\nFROM public." + table.Quote(v.Name) + ` AS t JOIN public."` + practice.Table + `" AS p ON p."id" = t."practice_id"` + "\nWHERE " + where},
		{"", "GRANT SELECT ON " + name + " TO PUBLIC"},
		{"", "COMMENT ON VIEW " + name + " IS " + literal(v.Doc)},
	}
	for _, c := range v.Columns {
		all = append(all, Statement{"", "COMMENT ON COLUMN " + name + "." + table.Quote(c.Name) + " IS " + literal(Describe(c))})
	}
	return all
}

// postgresColumn returns the expression of a column.
func postgresColumn(c table.ViewColumn) string {
	column := "t." + table.Quote(c.Source)
	switch {
	case c.Day:
		return "(" + column + ` AT TIME ZONE p."time_zone")::date`
	case c.Stored == table.Amount:
		return "(" + column + " / 100.0)::numeric(14,2)"
	}
	return column
}

// Describe returns the description of a column, with the values of an enum and what it references.
func Describe(c table.ViewColumn) string {
	text := c.Doc
	if len(c.Values) > 0 {
		text += " One of: " + strings.Join(c.Values, ", ") + "."
	}
	if c.References != "" {
		text += " References " + c.References + ".id."
	}
	return text
}

// literal quotes a text for SQL.
func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// Conn is a connection or transaction.
type Conn interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Existing returns the views of a PostgreSQL database.
func Existing(ctx context.Context, conn Conn) ([]string, error) {
	return names(ctx, conn, "SELECT relname::text FROM pg_class WHERE relnamespace = to_regnamespace($1) AND relkind = 'v' ORDER BY relname", Schema)
}

// Differences returns the views that are missing or differ from those of tables, or that should not
// exist. tx is a transaction with these tables in the schema public, which must be rolled back: a
// scratch schema in it has the views as the server prints them.
func Differences(ctx context.Context, tx Conn, tables []*schema.Table) ([]string, error) {
	const scratch = "chairside_views"
	all := []string{"CREATE SCHEMA " + scratch}
	for _, v := range Views(tables) {
		for _, s := range statements(scratch, v) {
			all = append(all, s.Text)
		}
	}
	if _, err := tx.ExecContext(ctx, "SET LOCAL search_path = public; "+strings.Join(all, ";\n")); err != nil {
		return nil, err
	}
	const described = `SELECT c.relname::text AS name, pg_get_viewdef(c.oid) AS definition, c.reloptions::text AS options, obj_description(c.oid, 'pg_class') AS comment,
		(SELECT string_agg(concat_ws(' ', a.attname, format_type(a.atttypid, a.atttypmod), col_description(c.oid, a.attnum)), E'\n' ORDER BY a.attnum)
			FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attnum > 0) AS columns,
		(SELECT string_agg(DISTINCT privilege_type, ',') FROM aclexplode(c.relacl) WHERE grantee = 0) AS public
		FROM pg_class AS c WHERE c.relkind = 'v' AND c.relnamespace = to_regnamespace(%s)`
	return names(ctx, tx, fmt.Sprintf("WITH have AS ("+described+"), want AS ("+described+`)
		SELECT name FROM ((TABLE have EXCEPT TABLE want) UNION ALL (TABLE want EXCEPT TABLE have)) AS d GROUP BY name ORDER BY name`, "$1", "$2"), Schema, scratch)
}

func names(ctx context.Context, conn Conn, query string, args ...any) (all []string, err error) {
	rows, err := conn.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		all = append(all, name)
	}
	return all, rows.Err()
}

// Plan returns the statements that replace the named views, or create them, or drop those that
// tables do not have.
func Plan(tables []*schema.Table, existing, differing []string) (plan []Statement) {
	if len(differing) == 0 {
		return nil
	}
	plan = append(plan, Statement{"Views for analysts: see package analyst", CreateSchema})
	plan = append(plan, DropViews(slices.DeleteFunc(slices.Clone(differing), func(name string) bool { return !slices.Contains(existing, name) }))...)
	for _, v := range Views(tables) {
		if slices.Contains(differing, v.Name) {
			plan = append(plan, statements(Schema, v)...)
		}
	}
	return plan
}

// DropViews returns the statement that drops views, if there are any.
func DropViews(views []string) []Statement {
	if len(views) == 0 {
		return nil
	}
	quoted := make([]string, len(views))
	for i, v := range views {
		quoted[i] = table.Quote(Schema) + "." + table.Quote(v)
	}
	return []Statement{{"", "DROP VIEW " + strings.Join(quoted, ", ")}}
}
