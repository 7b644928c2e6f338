package counters

import (
	"database/sql"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql/schema"
	"entgo.io/ent/schema/field"
)

// The tables of counters. Triggers write them (triggers.go), entx.Counters reads them. They
// are not entities: without an id and a foreign key to the practice, a change costs half as
// much.
const (
	Table        = "counters"
	ChangesTable = "counter_changes" // PostgreSQL: changes not yet compacted into Table
)

const practiceColumn = "practice_id"

// Counters maintains the counters of one database.
type Counters struct {
	pool        *sql.DB
	dialect     string
	tables      []*schema.Table
	maintenance func() *sql.DB // opens a pool without the time limits of a request
}

// New returns the counters of a database with these tables. maintenance opens a pool for long
// work; its caller closes it.
func New(pool *sql.DB, dialectName string, tables []*schema.Table, maintenance func() *sql.DB) *Counters {
	return &Counters{pool, dialectName, tables, maintenance}
}

func (c *Counters) postgres() bool { return c.dialect == dialect.Postgres }

// Tables returns the tables of counters on a dialect, in Ent's form.
func Tables(dialectName string) []*schema.Table {
	table := func(name string) *schema.Table {
		return &schema.Table{Name: name, Columns: []*schema.Column{
			{Name: "counter", Type: field.TypeString},
			{Name: practiceColumn, Type: field.TypeUUID},
			{Name: "key", Type: field.TypeInt64},
			{Name: "n", Type: field.TypeInt64},
		}}
	}
	counters := table(Table)
	counters.PrimaryKey = counters.Columns[:3]
	if dialectName == dialect.SQLite {
		return []*schema.Table{counters}
	}
	changes := table(ChangesTable)
	changes.Indexes = []*schema.Index{{Name: "counter_changes_key", Columns: changes.Columns[:3]}}
	return []*schema.Table{counters, changes}
}
