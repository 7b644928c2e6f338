package counters

import (
	"strings"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql/schema"
)

// Suspension has the statements that stop the triggers of a PostgreSQL table from counting, and
// that later resume counting and count the rows loaded meanwhile.
type Suspension struct{ Stop, Resume string }

// Suspend returns the suspensions of the named tables. The tables must be empty and locked, so
// that the rows counted at the end are exactly those that were loaded.
func Suspend(tables []string) (all []Suspension) {
	named := make([]*schema.Table, len(tables))
	for i, name := range tables {
		named[i] = &schema.Table{Name: name}
	}
	for _, t := range triggersOf(dialect.Postgres, named) {
		var stop, resume []string
		for _, event := range events {
			stop, resume = append(stop, "DISABLE TRIGGER "+t.name(event)), append(resume, "ENABLE TRIGGER "+t.name(event))
		}
		alter := "ALTER TABLE " + t.table + " "
		all = append(all, Suspension{
			Stop:   alter + strings.Join(stop, ", "),
			Resume: alter + strings.Join(resume, ", ") + "; INSERT INTO " + ChangesTable + " (counter, practice_id, key, n) " + t.countQuery(),
		})
	}
	return all
}

// events are the events for which a PostgreSQL table has triggers.
var events = []string{"INSERT", "DELETE", "UPDATE", "TRUNCATE"}
