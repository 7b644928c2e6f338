package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Request has what only the author of a migration knows. Columns are named table.column, indexes
// and constraints table.name.
type Request struct {
	Name         string            // of the migration
	Version      string            // of its first file, as in 20060102150405
	Renames      map[string]string // a column, and the new name in the same table
	RenameTables map[string]string // a table, and its new name
	Drops        map[string]string // a column, table or foreign key, and the reason
	Retypes      map[string]string // a column whose type narrows, and the reason
	Backfills    map[string]string // a column, and the SQL expression that gives rows their value
	Asserts      map[string]string // an index or constraint, and why existing rows satisfy it
}

// options returns the parts of the request by flag.
func (r *Request) options() map[string]map[string]string {
	return map[string]map[string]string{
		"rename": r.Renames, "rename-table": r.RenameTables, "drop": r.Drops,
		"retype": r.Retypes, "backfill": r.Backfills, "assert": r.Asserts,
	}
}

// Unused returns the flags of a request, such as "--drop patients.town", that were not used for
// any database.
func Unused(r *Request, used ...map[string]bool) (list []string) {
	options := r.options()
	for _, flag := range slices.Sorted(maps.Keys(options)) {
		for _, key := range slices.Sorted(maps.Keys(options[flag])) {
			name := "--" + flag + " " + key
			if !slices.ContainsFunc(used, func(u map[string]bool) bool { return u[name] }) {
				list = append(list, name)
			}
		}
	}
	return list
}

// RefusedError lists the problems because of which no migration was written.
type RefusedError struct{ Problems []string }

func (e *RefusedError) Error() string {
	return fmt.Sprintf("%d changes need a decision:\n\n%s", len(e.Problems), strings.Join(e.Problems, "\n\n"))
}
