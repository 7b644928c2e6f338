package plan

import (
	"fmt"
	"strings"

	atlas "ariga.io/atlas/sql/schema"

	"chairside/internal/store/migrate"
)

// backfillBatch is the number of rows that a backfill locks at a time.
const backfillBatch = 1_000

// backfill sets a column in the rows of a table that have no value in it.
type backfill struct {
	table      *atlas.Table
	column     *atlas.Column
	nullable   bool // after the migration
	expression string
}

// backfills returns the backfills of the request whose columns are in the schema.
func (p *planner) backfills() (list []*backfill) {
	for _, key := range sortedKeys(p.request.Backfills) {
		table, column, _ := strings.Cut(key, ".")
		if t, ok := p.want.Table(table); ok {
			if c, ok := t.Column(column); ok {
				p.used["--backfill "+key] = true
				list = append(list, &backfill{t, c, c.Type.Null, p.request.Backfills[key]})
			}
		}
	}
	return list
}

func (b *backfill) name() string { return b.table.Name + "." + b.column.Name }

// plain returns the backfill as one statement.
func (b *backfill) plain() migrate.Statement {
	return migrate.Statement{
		Comment: "Fill " + b.name(),
		Text:    fmt.Sprintf(`UPDATE "%s" SET "%s" = %s WHERE "%[2]s" IS NULL`, b.table.Name, b.column.Name, b.expression),
	}
}

// batches returns the backfill in transactions of about 1,000 rows. It never waits for a row: those
// that clients have locked are skipped until the next round. Rows for which the expression is
// null stay unchanged.
func (b *backfill) batches() (migrate.Statement, error) {
	key := b.table.PrimaryKey
	if key == nil || len(key.Parts) != 1 || key.Parts[0].C == nil {
		return migrate.Statement{}, fmt.Errorf("--backfill %s: the primary key of %s is not one column; write the backfill by hand", b.name(), b.table.Name)
	}
	if strings.Contains(b.expression, "$$") {
		return migrate.Statement{}, fmt.Errorf("--backfill %s: the expression must not contain $$", b.name())
	}
	text := strings.NewReplacer(
		"{table}", `"`+b.table.Name+`"`, "{column}", `"`+b.column.Name+`"`, "{key}", `"`+key.Parts[0].C.Name+`"`,
		"{expression}", b.expression, "{batch}", fmt.Sprint(backfillBatch),
	).Replace(`DO $$
DECLARE
  low {table}.{key}%TYPE;
  high {table}.{key}%TYPE;
BEGIN
  LOOP
    low := (SELECT {key} FROM {table} WHERE {column} IS NULL AND ({expression}) IS NOT NULL ORDER BY {key} LIMIT 1);
    EXIT WHEN low IS NULL;
    WHILE low IS NOT NULL LOOP
      high := (SELECT batch.{key} FROM (SELECT {key} FROM {table} WHERE {key} >= low ORDER BY {key} LIMIT {batch}) AS batch ORDER BY {key} DESC LIMIT 1);
      UPDATE {table} SET {column} = {expression} WHERE {key} IN (
        SELECT {key} FROM {table} WHERE {key} BETWEEN low AND high AND {column} IS NULL AND ({expression}) IS NOT NULL
        FOR NO KEY UPDATE SKIP LOCKED
      );
      low := (SELECT {key} FROM {table} WHERE {key} > high ORDER BY {key} LIMIT 1);
      COMMIT;
    END LOOP;
    PERFORM pg_sleep(0.05);
  END LOOP;
END
$$`)
	return migrate.Statement{Comment: "Fill " + b.name() + " in batches; rows that clients have locked wait for the next round", Text: text}, nil
}
