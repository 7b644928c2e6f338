package table

// View is a view of a table for analysts (package analyst). It has the table's name.
type View struct {
	Name    string // patients
	Doc     string // one sentence
	Where   string // condition on the rows of the table, t; empty for all rows
	Columns []ViewColumn
}

// ViewColumn is a column of a View.
type ViewColumn struct {
	Name       string
	Source     string // column of the table
	Stored     Kind
	Day        bool // the day of a time in the practice's time zone
	Null       bool
	References string   // view whose id it holds; empty for none
	Values     []string // of an enum
	Doc        string
}
