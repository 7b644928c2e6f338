package apispec

// View declares a view of an entity for analysts, who read a practice's records with SQL (package
// analyst). It has the table's name, and its columns the names of the entity's. The generator
// refuses a column that is in neither list, so a new one is shown only by decision.
type View struct {
	Doc   string // one sentence; if empty, the resource's
	Shown []string
	// Withheld are the columns that analysts never see: what identifies or reaches a person, free
	// text, secrets, and helpers of the program.
	Withheld []string
	// Where is an SQL condition on the rows, t, that both databases understand; empty for all rows.
	Where string
}

// Name implements ent's schema.Annotation.
func (View) Name() string { return "View" }
