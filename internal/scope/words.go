package scope

import "strings"

// objects names the records of each family, as the object of a sentence.
var objects = map[string]string{
	"appointment": "appointments",
	"patient":     "patients",
	"practice":    "the practice, its sites and practitioners",
	"financials":  "accounts, invoices and payments",
	"treatments":  "treatments, fees and payment plans",
	"user":        "users",
}

// Does returns what a verb allows, in plain words: "see".
func Does(verb string) string {
	return map[string]string{"read": "see", "create": "add", "update": "change", "delete": "delete"}[verb]
}

// Title returns the display name of a family: "Patients"; "" for an unknown one.
func Title(family string) string {
	return map[string]string{
		"appointment": "Appointments",
		"patient":     "Patients",
		"practice":    "Practice",
		"financials":  "Finances",
		"treatments":  "Treatments and fees",
		"user":        "Users",
	}[family]
}

// Permission describes what a set allows in one family.
type Permission struct {
	Sentence string // "See and change patients"
	Covers   string // the records of the family (Describe)
}

// Permissions describes what the set allows: one sentence for each family in it, in the order
// of Families.
func (s Set) Permissions() []Permission {
	var all []Permission
	for _, family := range Families {
		var verbs []string
		for _, verb := range Verbs {
			if s.Allows(family + ":" + verb) {
				verbs = append(verbs, Does(verb))
			}
		}
		if len(verbs) > 0 {
			all = append(all, Permission{sentence(verbs, objects[family]), Describe(family)})
		}
	}
	return all
}

// Summary describes in one line what the set allows: "See and change patients; see users".
func (s Set) Summary() string {
	all := s.Permissions()
	every := len(all) == len(Families)
	var words []string
	for i, p := range all {
		every = every && p.Sentence == Explain(Families[i])
		if i > 0 {
			p.Sentence = strings.ToLower(p.Sentence[:1]) + p.Sentence[1:]
		}
		words = append(words, p.Sentence)
	}
	if every {
		return "See, add, change and delete everything"
	}
	return strings.Join(words, "; ")
}

// Explain describes what one scope allows: "Add patients", or for a bare family "See, add,
// change and delete patients".
func Explain(scope string) string {
	family, verb, narrow := strings.Cut(scope, ":")
	if narrow {
		return sentence([]string{Does(verb)}, objects[family])
	}
	var verbs []string
	for _, verb := range Verbs {
		verbs = append(verbs, Does(verb))
	}
	return sentence(verbs, objects[family])
}

func sentence(verbs []string, object string) string {
	words := verbs[0]
	if last := len(verbs) - 1; last > 0 {
		words = strings.Join(verbs[:last], ", ") + " and " + verbs[last]
	}
	return strings.ToUpper(words[:1]) + words[1:] + " " + object
}
