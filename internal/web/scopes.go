package web

import "chairside/internal/scope"

// family is one row of checkboxes in the scope picker.
type family struct {
	Name, Title, Covers string
	Boxes               []box
}

// box is the checkbox of one scope.
type box struct {
	Scope   string
	Word    string // label in a row that has a title: "Read"
	Explain string // label that stands alone: "Read patients"
	Chosen  bool
}

// families returns the checkboxes of the scopes that a limit allows, with the form's
// choices.
func families(f form, limit scope.Set) []family {
	words := map[string]string{"": "All", "read": "Read", "create": "Create", "update": "Update", "delete": "Delete"}
	var all []family
	for _, name := range scope.Families {
		row := family{Name: name, Title: scope.Title(name), Covers: scope.Describe(name)}
		for _, verb := range append([]string{""}, scope.Verbs...) {
			full := name
			if verb != "" {
				full += ":" + verb
			}
			if limit.Allows(full) {
				row.Boxes = append(row.Boxes, box{full, words[verb], scope.Explain(full), f.Chosen("scopes", full)})
			}
		}
		if len(row.Boxes) > 0 {
			all = append(all, row)
		}
	}
	return all
}
