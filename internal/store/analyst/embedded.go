package analyst

import (
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/internal/entx/table"
)

// embeddedPrefix begins the names of the views on SQLite, which has no schemas: report_patients.
const embeddedPrefix = Schema + "_"

// The first and last year for which a script knows the offsets of the time zone.
const firstYear, lastYear = 1970, 2100

// Script returns the statements that make the views of one practice on a connection to an embedded
// database. The views are temporary, so the file may be opened read-only. SQLite knows no time
// zones; the script brings the offsets of the practice's.
func Script(practice uuid.UUID, zone *time.Location) string {
	var script strings.Builder
	offsets := embeddedPrefix + "offsets"
	at := time.Date(firstYear, time.January, 1, 0, 0, 0, 0, time.UTC)
	fmt.Fprintf(&script, "CREATE TEMPORARY TABLE %s (since INTEGER PRIMARY KEY, seconds INTEGER NOT NULL);\nINSERT INTO %[1]s VALUES (%d, %d)", offsets, time.Time{}.Unix(), offset(at, zone))
	for at.Year() <= lastYear {
		_, end := at.In(zone).ZoneBounds()
		if end.IsZero() {
			break
		}
		if !end.After(at) { // in leap years, time returns the beginning of 31 December for that day itself
			end = at.AddDate(0, 0, 1)
		}
		at = end
		fmt.Fprintf(&script, ", (%d, %d)", at.Unix(), offset(at, zone))
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

func offset(at time.Time, zone *time.Location) int {
	_, seconds := at.In(zone).Zone()
	return seconds
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
