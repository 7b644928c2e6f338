package analyst

import (
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/internal/civil"
	"chairside/internal/entx/table"
)

// embeddedPrefix begins the names of the views on SQLite, which has no schemas: report_patients.
const embeddedPrefix = Schema + "_"

// Script returns the statements that make the views of one practice on a connection to an embedded
// database. The views are temporary, so the file may be opened read-only. SQLite knows no time
// zones; the script brings the offsets of the practice's.
func Script(practice uuid.UUID, zone *time.Location) string {
	var script strings.Builder
	offsets := embeddedPrefix + "offsets"
	fmt.Fprintf(&script, "CREATE TEMPORARY TABLE %s (since INTEGER PRIMARY KEY, seconds INTEGER NOT NULL);\nINSERT INTO %[1]s VALUES ", offsets)
	for i, o := range civil.Offsets(zone) {
		if i > 0 {
			script.WriteString(", ")
		}
		fmt.Fprintf(&script, "(%d, %d)", o.Since.Unix(), o.Seconds)
	}
	script.WriteString(";\n")
	for _, v := range ent.Views {
		columns := make([]string, len(v.Columns))
		for i, c := range v.Columns {
			columns[i] = embeddedColumn(c, offsets) + " AS " + table.Quote(c.Name)
		}
		where := fmt.Sprintf(`t."practice_id" = '%s'`, practice)
		if v.Where != "" {
			where += " AND " + v.Where
		}
		fmt.Fprintf(&script, "CREATE TEMPORARY VIEW %s AS SELECT\n  %s\nFROM main.%s AS t\nWHERE %s;\n", table.Quote(embeddedPrefix+v.Name), strings.Join(columns, ",\n  "), table.Quote(v.Name), where)
	}
	return script.String()
}

// embeddedColumn returns the expression of a column. Times are microseconds since 1970.
func embeddedColumn(c table.ViewColumn, offsets string) string {
	column := "t." + table.Quote(c.Source)
	seconds := column + " / 1000000"
	switch {
	case c.Day:
		return fmt.Sprintf("date(%s + (SELECT o.seconds FROM temp.%s AS o WHERE o.since <= %[1]s ORDER BY o.since DESC LIMIT 1), 'unixepoch')", seconds, offsets)
	case c.Stored == table.Time:
		return "strftime('%Y-%m-%dT%H:%M:%fZ', " + column + " / 1000000.0, 'unixepoch')"
	case c.Stored == table.Amount:
		return "round(" + column + " / 100.0, 2)"
	}
	return column
}
