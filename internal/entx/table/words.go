package table

import "strings"

// initialisms are the parts of names that are written in capitals.
var initialisms = map[string]string{
	"api": "API", "gdc": "GDC", "id": "ID", "ids": "IDs", "nhs": "NHS", "ni": "NI", "sms": "SMS", "uda": "UDA", "uoa": "UOA", "url": "URL",
}

// Words returns the name of a table, column or resource as readers know it: "NHS claims" for
// nhs_claims, "payment plan" for payment_plan.
func Words(name string) string {
	parts := strings.Split(name, "_")
	for i, part := range parts {
		if capitals, ok := initialisms[part]; ok {
			parts[i] = capitals
		}
	}
	return strings.Join(parts, " ")
}

// Title returns a name in words with a capital letter: "Payment plan".
func Title(name string) string {
	words := Words(name)
	return strings.ToUpper(words[:1]) + words[1:]
}
