package api_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"chairside/ent/patient"
	"chairside/ent/site"
	"chairside/internal/chairsidetest"
)

// TestSearchFindsByEveryBeginning of every word of odd patients, whatever the
// index is asked for.
func TestSearchFindsByEveryBeginning(t *testing.T) {
	odd := []row{
		{"first_name": "Þóra-Mae", "last_name": "ap Rhys-O'Neill", "email_address": "a.b_c+dé.verylong99@x.example.org", "legacy_id": "AB/12-x"},
		{"first_name": "Jo", "middle_name": "A.", "last_name": "Ng", "email_address": "jo@ng.example.org", "legacy_id": "x@y@z 7"},
		{"first_name": "杨丽", "last_name": "欧阳", "preferred_name": "يوسف", "email_address": "o'd%d_y@example.org", "legacy_id": `back\slash`},
		{"first_name": "Ірина", "last_name": "Ясинська", "preferred_name": "İzzet", "postcode": "x9 9xx", "mobile_phone": "07700 900900 mum's"},
	}
	chairsidetest.Each(t, func(t *testing.T, e *chairsidetest.Env) {
		token, ctx := e.Token(t, ""), e.As(t, "demo")
		for _, fields := range odd {
			id := register(t, e, token, fields).Status(t, 201).Text(t, "patient.id")
			stored, err := e.DB.Ent.Patient.Query().Order(patient.ByID()).All(ctx)
			if err != nil {
				t.Fatal(err)
			}
			for _, word := range strings.Fields(stored[len(stored)-1].SearchText) {
				for end := range word + " " {
					query := word[:end]
					if strings.Trim(query, "0123456789") == "" {
						continue // a number is found by more than beginnings, see TestSearchFindsPatients
					}
					if found := e.Get(t, "/v1/patients?per_page=100&sort_direction=desc&query="+url.QueryEscape(query), token).Status(t, 200).Column(t, "patients", "id"); !slices.Contains(found, id) {
						t.Errorf("%q of %q does not find the patient", query, word)
					}
				}
			}
		}
	})
}

// TestSearchIsAList in every order, page by page, of what the caller may see.
func TestSearchIsAList(t *testing.T) {
	chairsidetest.Each(t, func(t *testing.T, e *chairsidetest.Env) {
		token := e.Token(t, "")
		sites, err := e.DB.Ent.Site.Query().Order(site.ByID()).IDs(e.As(t, "demo"))
		if err != nil || len(sites) < 2 {
			t.Fatalf("sites are %v, %v", sites, err)
		}
		add := func(first string, site int) string {
			return register(t, e, token, row{"first_name": first, "last_name": "Quetzal", "site_id": sites[site].String()}).Status(t, 201).Text(t, "patient.id")
		}
		carl, anna, bob := add("Carl", 0), add("Anna", 0), add("Bob", 1)
		here, there := e.TokenOf(t, "admin@demo.chairside.test", "", &sites[0]), e.TokenOf(t, "admin@demo.chairside.test", "", &sites[1])
		for _, c := range []struct {
			name, query, token, total string
			ids                       []string
		}{
			{"by id", "", token, "3", []string{carl, anna, bob}},
			{"by name", "&sort_by=first_name", token, "3", []string{anna, bob, carl}},
			{"backwards", "&sort_by=first_name&sort_direction=desc", token, "3", []string{carl, bob, anna}},
			{"a page", "&sort_by=first_name&per_page=2", token, "3", []string{anna, bob}},
			{"the next", "&sort_by=first_name&per_page=2&page=2", token, "3", []string{carl}},
			{"past the end", "&per_page=2&page=3", token, "3", nil},
			{"with a range", "&sort_by=first_name&updated_after=2000-01-01", token, "3", []string{anna, bob, carl}},
			{"of a site", "&sort_by=first_name", here, "2", []string{anna, carl}},
			{"of another", "", there, "1", []string{bob}},
			{"of another practice", "", elsewhere(t, e), "0", nil},
		} {
			res := e.Get(t, "/v1/patients?query=quetzal"+c.query, c.token).Status(t, 200)
			if got := res.Column(t, "patients", "id"); res.Text(t, "meta.total") != c.total || !slices.Equal(got, c.ids) {
				t.Errorf("%s: %v of %s, want %v of %s", c.name, got, res.Text(t, "meta.total"), c.ids, c.total)
			}
		}
	})
}
