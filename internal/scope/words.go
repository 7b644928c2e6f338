package scope

import "strings"

// resources are what each family gives access to. A test in package server compares them with
// the operations of the API.
var resources = map[string][]string{
	"appointment": {"appointments", "appointment holds", "availability", "rotas", "appointment reasons", "appointment cancellation reasons", "treatment appointments", "waiting lists"},
	"patient":     {"patients", "notes", "recalls", "patient referrals", "custom fields", "acquisition sources"},
	"practice":    {"the practice", "sites", "rooms", "practitioners", "contracts"},
	"financials":  {"accounts", "invoices", "invoice items", "payments", "sundries", "NHS claims"},
	"treatments":  {"fees", "payment plans", "treatments", "categories", "treatment plans", "their items"},
	"user":        {"the people who sign in: names", "roles", "e-mail addresses", "phones"},
	"webhook":     {"webhooks: where changes are sent"},
	"audit":       {"audit events: who wrote, read and signed in"},
}

// Describe returns the resources of a family in plain words: "patients, custom fields and
// acquisition sources"; "" for an unknown family.
func Describe(family string) string { return enumerate(resources[family]) }

// objects are the short form of resources, for sentences.
var objects = map[string]string{
	"appointment": "appointments",
	"patient":     "patients",
	"practice":    "the practice, its sites and practitioners",
	"financials":  "accounts, invoices and payments",
	"treatments":  "treatments, fees and payment plans",
	"user":        "users",
	"webhook":     "webhooks",
	"audit":       "the audit log",
}

// Title is a family's name on pages: "Patients"; "" for an unknown one.
func Title(family string) string {
	return map[string]string{
		"appointment": "Appointments",
		"patient":     "Patients",
		"practice":    "Practice",
		"financials":  "Finances",
		"treatments":  "Treatments and fees",
		"user":        "Users",
		"webhook":     "Webhooks",
		"audit":       "Audit log",
	}[family]
}

// Permission describes what a set allows within one family.
type Permission struct {
	Sentence string // "Read and update patients"
	Covers   string // the family's resources, from Describe
}

// Permissions describes the set in plain words, one sentence per family, in the
// order of Families.
func (s Set) Permissions() []Permission {
	var all []Permission
	for _, family := range Families {
		var verbs []string
		for _, verb := range Verbs {
			if s.Allows(family + ":" + verb) {
				verbs = append(verbs, verb)
			}
		}
		if len(verbs) > 0 {
			all = append(all, Permission{sentence(verbs, objects[family]), Describe(family)})
		}
	}
	return all
}

// Summary describes the set in one line: "Read and update patients; read users".
func (s Set) Summary() string {
	all := s.Permissions()
	full := len(all) == len(Families)
	var words []string
	for i, p := range all {
		full = full && p.Sentence == Explain(Families[i])
		if i > 0 {
			p.Sentence = strings.ToLower(p.Sentence[:1]) + p.Sentence[1:]
		}
		words = append(words, p.Sentence)
	}
	if full {
		return "Full access"
	}
	return strings.Join(words, "; ")
}

// Explain describes one scope in plain words: "Create patients"; for a bare family
// "Read, create, update and delete patients".
func Explain(scope string) string {
	family, verb, narrow := strings.Cut(scope, ":")
	if narrow {
		return sentence([]string{verb}, objects[family])
	}
	return sentence(Verbs, objects[family])
}

// sentence returns "Read and update patients".
func sentence(verbs []string, object string) string {
	words := enumerate(verbs)
	return strings.ToUpper(words[:1]) + words[1:] + " " + object
}

// enumerate returns "a, b and c".
func enumerate(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}
