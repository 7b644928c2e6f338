package feedlog

import (
	"strings"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql/schema"
)

// Suspension has the statements that stop the triggers of a PostgreSQL table, and those that
// start them again. Rows that are loaded meanwhile are not in the feed, so all cursors expire.
type Suspension struct{ Stop, Resume string }

// Suspend returns the suspensions of the named tables, which must be locked.
func Suspend(tables []string) (all []Suspension) {
	named := make([]*schema.Table, len(tables))
	for i, name := range tables {
		named[i] = &schema.Table{Name: name}
	}
	for _, r := range recorders(dialect.Postgres, named) {
		var stop, resume []string
		for _, event := range events {
			stop, resume = append(stop, "DISABLE TRIGGER "+r.name(event)), append(resume, "ENABLE TRIGGER "+r.name(event))
		}
		alter := "ALTER TABLE " + r.table + " "
		all = append(all, Suspension{Stop: alter + strings.Join(stop, ", "), Resume: alter + strings.Join(resume, ", ")})
	}
	if len(all) > 0 {
		all[0].Resume += "; " + RenewEpoch(dialect.Postgres)
	}
	return all
}
