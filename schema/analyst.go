package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
)

// Analyst binds a PostgreSQL role to the practice whose records it may read with SQL. The views
// compare the role with the one that signed in, so an analyst cannot choose another practice. Only
// the owner of the tables writes it (package analyst).
type Analyst struct{ ent.Schema }

// Mixin of Analyst.
func (Analyst) Mixin() []ent.Mixin { return []ent.Mixin{tenant{site: bookkeeping}} }

// Fields of Analyst.
func (Analyst) Fields() []ent.Field {
	return []ent.Field{
		intID(),
		field.String("role").Unique().Immutable().Comment("Name of the PostgreSQL role."),
		field.Time("created_at").Immutable().Comment("When the role was created."),
	}
}
