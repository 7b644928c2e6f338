package signin

import (
	"maps"
	"regexp"
	"slices"
	"testing"

	"entgo.io/ent/dialect/sql/schema"

	"chairside/ent/application"
	"chairside/ent/migrate"
	"chairside/ent/refreshtoken"
	"chairside/ent/user"
)

// secret matches columns that hold a credential or its hash.
var secret = regexp.MustCompile(`hash|secret|token|code|cookie|credential|password|(^|_)(key|pin|otp)(_|$)`)

// notForAUser are tables with a secret and a user that give no access to the user's
// account.
var notForAUser = map[string]string{
	application.Table:  "its secret proves the application, which belongs to the practice; the user registered it",
	refreshtoken.Table: "it renews only its access token, and is worthless once that has ended",
}

// TestGrantsListEveryTable derives the tables from the schema: those that reference
// users, directly or through another such table, and hold a secret.
func TestGrantsListEveryTable(t *testing.T) {
	t.Parallel()
	listed := map[string]bool{}
	for _, g := range grants {
		listed[g.table] = true
	}
	found := map[string]bool{}
	for grew := true; grew; {
		grew = false
		for _, table := range migrate.Tables {
			points := slices.ContainsFunc(table.ForeignKeys, func(k *schema.ForeignKey) bool {
				return k.RefTable.Name == user.Table || found[k.RefTable.Name]
			})
			if points && !found[table.Name] && notForAUser[table.Name] == "" && holdsSecret(table) {
				found[table.Name], grew = true, true
			}
		}
	}
	for name := range found {
		if !listed[name] {
			t.Errorf("%s gives access to a user's account, and EndAccess does not end it: add it to grants", name)
		}
	}
	for name := range listed {
		if !found[name] {
			t.Errorf("grants lists %s, which holds no secret of a user", name)
		}
	}
	for name := range maps.Keys(notForAUser) {
		if !slices.ContainsFunc(migrate.Tables, func(table *schema.Table) bool { return table.Name == name }) {
			t.Errorf("notForAUser lists %s, which does not exist", name)
		}
	}
	if len(found) < 3 {
		t.Errorf("only %v found", found)
	}
}

func holdsSecret(table *schema.Table) bool {
	return slices.ContainsFunc(table.Columns, func(c *schema.Column) bool { return secret.MatchString(c.Name) })
}
