package rowsecurity

import (
	"fmt"
	"slices"

	"entgo.io/ent/dialect/sql/schema"

	"chairside/ent/analyst"
	"chairside/ent/application"
	"chairside/ent/auditblock"
	"chairside/ent/auditcut"
	"chairside/ent/auditevent"
	"chairside/ent/auditread"
	"chairside/ent/feedchange"
	"chairside/ent/feedstate"
	"chairside/ent/importrun"
	"chairside/ent/loggedrequest"
	"chairside/ent/noteversion"
	"chairside/ent/passkeychallenge"
	"chairside/ent/practice"
	"chairside/ent/practicedeletion"
	"chairside/ent/ratebucket"
	"chairside/ent/reportschedule"
	"chairside/ent/signinattempt"
	"chairside/internal/store/counters"
)

// appendOnly are the tables that record history: neither role may change or delete their rows.
var appendOnly = []string{auditevent.Table, auditread.Table, auditblock.Table, auditcut.Table, noteversion.Table}

// AppendOnly reports whether neither role may change or delete rows of a table.
func AppendOnly(name string) bool { return slices.Contains(appendOnly, name) }

// installation are the tables that belong to no practice, with what the serving role may do with
// them.
var installation = map[string]string{
	feedstate.Table:        "SELECT",
	importrun.Table:        "",
	passkeychallenge.Table: "",
	practicedeletion.Table: "",
	ratebucket.Table:       "",
	signinattempt.Table:    "",
}

// ownersOnly are the tables that neither role may change: only the owner schedules the deletion of a
// practice.
var ownersOnly = []string{practicedeletion.Table}

// narrowed are the privileges of the serving role on the tables of a practice of which requests
// do less than everything.
var narrowed = map[string]string{
	analyst.Table:         "",
	practice.Table:        "SELECT, UPDATE",
	feedchange.Table:      "SELECT, INSERT",
	loggedrequest.Table:   "SELECT",
	reportschedule.Table:  "SELECT",
	counters.Table:        "SELECT",
	counters.ChangesTable: "SELECT, INSERT",
}

const (
	everything = "SELECT, INSERT, UPDATE, DELETE"
	additions  = "SELECT, INSERT"
)

// Table is a table with what the roles may do with it.
type Table struct {
	Name     string
	Practice string // column with the practice that owns a row; "" for a table of the installation
	serving  string // privileges of the serving role; "" for none
	system   string // privileges of the system role
}

// Tables describes all tables. It fails for a table that has no practice and is not named as one
// of the installation.
func Tables(all []*schema.Table) ([]Table, error) {
	tables := make([]Table, len(all))
	for i, t := range all {
		own := Table{Name: t.Name, Practice: PracticeColumn(t), serving: everything, system: everything}
		privileges, installed := installation[t.Name]
		if installed == (own.Practice != "") {
			return nil, fmt.Errorf("rowsecurity: table %s must have a column practice_id or be named in installation, not both", t.Name)
		}
		switch narrow, ok := narrowed[t.Name]; {
		case installed:
			own.serving = privileges
			if slices.Contains(ownersOnly, t.Name) {
				own.system = "SELECT"
			}
		case t.Name == auditblock.Table: // sealing has no caller
			own.serving, own.system = "", additions
		case t.Name == auditcut.Table: // only the owner prunes
			own.serving, own.system = "", "SELECT"
		case slices.Contains(appendOnly, t.Name):
			own.serving, own.system = additions, additions
		case ok:
			own.serving = narrow
		}
		tables[i] = own
	}
	return tables, nil
}

// Shared reports whether rows of other practices may reference the rows of a practice's table: users
// of every practice can authorise an application.
func Shared(name string) bool { return name == application.Table }

// PracticeColumn returns the column with the practice that owns a row of a table, or "".
func PracticeColumn(t *schema.Table) string {
	switch t.Name {
	case practice.Table:
		return practice.FieldID
	case application.Table:
		return application.FieldOwnerID
	}
	for _, c := range t.Columns {
		if c.Name == "practice_id" {
			return c.Name
		}
	}
	return ""
}
