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

// families are the boxes of all scopes, as the form has them.
func families(f form) []family {
	words := map[string]string{"": "Everything", "read": "See", "create": "Add", "update": "Change", "delete": "Delete"}
	all := make([]family, len(scope.Families))
	for i, name := range scope.Families {
		all[i] = family{Name: name, Title: scope.Title(name), Covers: scope.Describe(name)}
		for _, verb := range append([]string{""}, scope.Verbs...) {
			full := name
			if verb != "" {
				full += ":" + verb
			}
			all[i].Boxes = append(all[i].Boxes, box{full, words[verb], scope.Explain(full), f.Chosen("scopes", full)})
		}
	}
	return all
}
