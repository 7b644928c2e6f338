package web

import "chairside/internal/scope"

// family is one row of the boxes from which scopes are chosen.
type family struct {
	Name, Title, Covers string
	Boxes               []box
}

// box is one scope.
type box struct {
	Scope   string
	Word    string // under the family's title: "See"
	Explain string // by itself: "See patients"
	Chosen  bool
}

// families are the boxes of the scopes that a limit allows, as the form has them.
func families(f form, limit scope.Set) []family {
	words := map[string]string{"": "Everything", "read": "See", "create": "Add", "update": "Change", "delete": "Delete"}
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
