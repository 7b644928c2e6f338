package migrate

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"ariga.io/atlas/sql/postgres"
	atlas "ariga.io/atlas/sql/schema"
	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"

	"chairside/ent/auditevent"
	"chairside/ent/auditread"
	"chairside/internal/store"
	"chairside/internal/store/counters"
)

// Statement is an SQL statement of a migration and the comment above it.
type Statement struct{ Comment, Text string }

// expressions are the PostgreSQL indexes on a function of a row. Ent cannot declare them, because
// its indexes are on columns. The arguments are written as the server prints them.
var expressions = []struct{ table, name, method, function, arguments string }{
	// query, in internal/api/search.go. SQLite reads the rows of the practice instead.
	{"patients", "patient_search_keys", "GIN", "practice_search_keys", "practice_id, (search_text)::text"},
}

// function is a PostgreSQL function that an index of a table uses.
type function struct{ table, name, why, head, body string }

func (f function) statement() Statement {
	return Statement{f.why, "CREATE FUNCTION " + f.name + f.head + " AS $$" + f.body + "$$"}
}

// functions are the functions of the indexes. An index stores what its function returned when a
// row was written, so a released function must never change. A changed function gets a new name,
// which makes diff rebuild the index.
var functions = []function{{
	table: "patients", name: "practice_search_keys",
	why: "What a patient can be found by: the first 2, 3 and 5 characters of each word, an address up to its @, each 5 digits in a row and the last 4 and 3.\n" +
		"Each begins with the end of the practice's id, the most random of it, so that a search reads what its own practice has.",
	head: "(practice_id uuid, search_text text) RETURNS text[] LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE",
	body: `
DECLARE
  practice text := right(practice_id::text, 8);
  keys text[] := '{}';
  word text;
BEGIN
  -- Each key is a statement of its own: "keys || a || b" would copy all of them.
  FOREACH word IN ARRAY string_to_array(search_text, ' ') LOOP
    IF ascii(word) NOT BETWEEN ascii('a') AND ascii('z') THEN -- 李 is a name, "07700 1" a number
      keys := keys || (practice || left(word, 1));
    END IF;
    keys := keys || (practice || left(word, 2));
    keys := keys || (practice || left(word, 3));
    keys := keys || (practice || left(word, 5));
    IF strpos(word, '@') > 1 THEN
      keys := keys || (practice || left(word, strpos(word, '@')));
    END IF;
  END LOOP;
  FOREACH word IN ARRAY string_to_array(regexp_replace(search_text, '[^0-9]+', ' ', 'g'), ' ') LOOP
    FOR i IN 1 .. length(word) - 2 LOOP
      keys := keys || (practice || substr(word, i, 5));
    END LOOP;
  END LOOP;
  RETURN keys;
END
`,
}}

// partitioned are the PostgreSQL tables whose rows are in partitions by month (months.go), with the
// column of the time. Ent cannot declare a partition key, nor that the primary key must contain it.
var partitioned = []struct{ table, column string }{
	{auditevent.Table, auditevent.FieldAt},
	{auditread.Table, auditread.FieldAt},
}

// setting is a property of a PostgreSQL table or index that neither Ent nor Atlas can declare.
type setting struct {
	relation string // the table or index
	name     string // its name in the errors of Verify
	why      string
	holds    string // SQL condition on pg_class c: whether it is set
	set      string // statement that sets it
}

var settings = []setting{
	{
		relation: "patient_search_keys", name: "gin_pending_list_limit",
		why:   "A search reads all that waits to be sorted into the index: 1 ms at 512 kB, 10 ms at the usual 4 MB.",
		holds: "'gin_pending_list_limit=512' = ANY (c.reloptions)",
		set:   `ALTER INDEX "patient_search_keys" SET (gin_pending_list_limit = 512)`,
	},
	{
		relation: "patient_search_keys", name: "statistics target",
		why:   "Which keys are frequent is not worth a second of every ANALYZE: a search hands its keys over as a query, of which the planner knows nothing.",
		holds: "(SELECT a.attstattarget FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum = 1) = 0",
		set:   `ALTER INDEX "patient_search_keys" ALTER COLUMN 1 SET STATISTICS 0`,
	},
	{
		relation: counters.ChangesTable, name: "replica identity",
		why:   "A publication of all tables needs an identity, or it refuses to remove folded changes and they pile up.",
		holds: "c.relreplident = 'f'",
		set:   `ALTER TABLE "` + counters.ChangesTable + `" REPLICA IDENTITY FULL`,
	},
	restPartition(auditevent.Table),
	restPartition(auditread.Table),
}

// restPartition returns the setting that a partitioned table has a default partition, for rows of
// months without a partition of their own.
func restPartition(name string) setting {
	return setting{
		relation: name, name: "default partition",
		why:   "Rows of months without a partition of their own: a write never fails for want of one.",
		holds: "EXISTS (SELECT FROM pg_partitioned_table p WHERE p.partrelid = c.oid AND p.partdefid <> 0)",
		set:   fmt.Sprintf(`CREATE TABLE %q PARTITION OF %q DEFAULT`, name+restSuffix, name),
	}
}

// addExpressions adds to a table what Ent cannot declare: indexes of expressions, and the partition
// key.
func addExpressions(t *atlas.Table) {
	for _, p := range partitioned {
		if at, ok := t.Column(p.column); ok && p.table == t.Name {
			t.PrimaryKey.AddColumns(at)
			t.AddAttrs(&postgres.Partition{T: postgres.PartitionTypeRange, Parts: []*postgres.PartitionPart{{C: at}}})
		}
	}
	for _, e := range expressions {
		if e.table == t.Name {
			t.AddIndexes(atlas.NewIndex(e.name).AddExprs(&atlas.RawExpr{X: e.function + "(" + e.arguments + ")"}).AddAttrs(&postgres.IndexType{T: e.method}))
		}
	}
}

// PlanFunctions returns the statements that create missing functions. They must precede those of
// tables and indexes. It fails if a function differs from its declaration (see functions).
func PlanFunctions(ctx context.Context, db *store.DB) (plan []Statement, err error) {
	if db.Dialect != dialect.Postgres {
		return nil, nil
	}
	for _, f := range functions {
		switch body, err := functionBody(ctx, db.SQL, "public", f.name); {
		case err != nil:
			return nil, fmt.Errorf("plan functions: %w", err)
		case body == "":
			plan = append(plan, f.statement())
		case body != f.body:
			return nil, fmt.Errorf("function %[1]s has changed, but its index holds what the old one returned: give the new function a new name (%[1]s_2) in internal/store/migrate/expressions.go", f.name)
		}
	}
	return plan, nil
}

// PlanSettings returns the statements of the settings that the database lacks. Its tables and
// indexes must already be those of the schema.
func PlanSettings(ctx context.Context, db *store.DB) (plan []Statement, err error) {
	if db.Dialect != dialect.Postgres {
		return nil, nil
	}
	missing, err := missingSettings(ctx, db.SQL, "public")
	if err != nil {
		return nil, fmt.Errorf("plan settings: %w", err)
	}
	for _, s := range missing {
		plan = append(plan, Statement{s.why, s.set})
	}
	return plan, nil
}

// functionDifferences compares the functions and settings of a PostgreSQL schema with the
// declared ones. It ignores other functions, such as those of older indexes.
func functionDifferences(ctx context.Context, transaction *sql.Tx, schemaName string) (list []string, err error) {
	for _, f := range functions {
		var used bool // a schema without the table, such as a test's, needs no function
		if err := queryOne(ctx, transaction, &used, "SELECT count(*) > 0 FROM pg_tables WHERE schemaname = $1 AND tablename = $2", schemaName, f.table); err != nil {
			return nil, fmt.Errorf("read the tables: %w", err)
		}
		body, err := functionBody(ctx, transaction, schemaName, f.name)
		if err != nil {
			return nil, err
		}
		if used && body != f.body {
			list = append(list, "function "+f.name+" differs")
		}
	}
	missing, err := missingSettings(ctx, transaction, schemaName)
	for _, s := range missing {
		list = append(list, s.name+" of "+s.relation+" differs")
	}
	return list, err
}

// functionBody returns the body of a function, or "" if the schema has no such function.
func functionBody(ctx context.Context, conn entsql.ExecQuerier, schemaName, name string) (body string, err error) {
	const bodies = "SELECT coalesce(string_agg(prosrc, ''), '') FROM pg_proc WHERE proname = $1 AND pronamespace = $2::regnamespace"
	if err := queryOne(ctx, conn, &body, bodies, name, schemaName); err != nil {
		return "", fmt.Errorf("read the functions: %w", err)
	}
	return body, nil
}

// missingSettings returns the settings that the relations of a schema lack. Missing relations are
// reported elsewhere.
func missingSettings(ctx context.Context, conn entsql.ExecQuerier, schemaName string) (missing []setting, err error) {
	for _, s := range settings {
		var lacks bool
		query := "SELECT count(*) > 0 FROM pg_class c WHERE c.relname = $1 AND c.relnamespace = $2::regnamespace AND (" + s.holds + ") IS NOT TRUE"
		if err := queryOne(ctx, conn, &lacks, query, s.relation, schemaName); err != nil {
			return nil, fmt.Errorf("read the %s of %s: %w", s.name, s.relation, err)
		}
		if lacks {
			missing = append(missing, s)
		}
	}
	return missing, nil
}

// queryOne reads the single value of a query.
func queryOne(ctx context.Context, conn entsql.ExecQuerier, value any, query string, args ...any) error {
	rows, err := conn.QueryContext(ctx, query, args...) //nolint:rowserrcheck // ScanSlice returns it
	if err != nil {
		return err
	}
	defer rows.Close()
	return entsql.ScanOne(rows, value)
}

// createFunctions creates all functions in the first schema of the search path.
func createFunctions(ctx context.Context, conn entsql.ExecQuerier, dialectName string) error {
	if dialectName != dialect.Postgres {
		return nil
	}
	var all []string
	for _, f := range functions {
		all = append(all, f.statement().Text)
	}
	_, err := conn.ExecContext(ctx, strings.Join(all, ";\n"))
	return err
}
