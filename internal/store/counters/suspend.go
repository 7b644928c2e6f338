package counters

import (
	"strings"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql/schema"
)

// Suspension is how the triggers of one PostgreSQL table stop counting, and how they
// resume once everything that was loaded meanwhile is counted.
type Suspension struct{ Stop, Resume string }

// Suspend returns the suspensions of tables, by their names. The tables must be empty and
// locked: then what is counted at the end is all there is to note.
func Suspend(tables []string) (all []Suspension) {
	named := make([]*schema.Table, len(tables))
	for i, name := range tables {
		named[i] = &schema.Table{Name: name}
	}
	for _, t := range of(dialect.Postgres, named) {
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

// events are those for which a PostgreSQL table has triggers.
var events = []string{"INSERT", "DELETE", "UPDATE", "TRUNCATE"}
