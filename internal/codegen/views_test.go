package codegen

import (
	"strings"
	"testing"

	"entgo.io/ent/entc/gen"
	"entgo.io/ent/schema/field"

	"chairside/internal/apispec"
)

// TestGeneratorRefusesUnsafeViews checks that a column that is neither shown nor withheld stops the
// generator, and so does a shown secret.
func TestGeneratorRefusesUnsafeViews(t *testing.T) {
	t.Parallel()
	column := func(name string, kind field.Type) *gen.Field {
		f := &gen.Field{Name: name, Type: &field.TypeInfo{Type: kind}}
		return f
	}
	sealed := column("code", field.TypeString)
	sealed.Type.Ident = "seal.Value"
	for _, test := range []struct {
		name string
		view apispec.View
		doc  string
		want string // part of the problem, "" for none
	}{
		{"withheld", apispec.View{Withheld: []string{"id", "code", "tags", "paid_at"}}, "Visits.", ""},
		{"an undeclared column", apispec.View{Withheld: []string{"id", "code", "tags"}}, "Visits.", "paid_at must be either in Shown or in Withheld"},
		{"shown and withheld", apispec.View{Shown: []string{"paid_at"}, Withheld: []string{"id", "code", "tags", "paid_at"}}, "Visits.", "paid_at must be either"},
		{"a sealed column", apispec.View{Shown: []string{"code"}, Withheld: []string{"id", "tags", "paid_at"}}, "Visits.", "code is secret"},
		{"JSON", apispec.View{Shown: []string{"tags"}, Withheld: []string{"id", "code", "paid_at"}}, "Visits.", "tags has no type"},
		{"the practice", apispec.View{Shown: []string{"practice_id"}, Withheld: []string{"id", "code", "tags", "paid_at"}}, "Visits.", "practice_id is in no view"},
		{"no comment", apispec.View{Shown: []string{"paid_at"}, Withheld: []string{"id", "code", "tags"}}, "Visits.", "paid_at needs a comment"},
		{"an unknown column", apispec.View{Withheld: []string{"id", "code", "tags", "paid_at", "gone"}}, "Visits.", "there is no column gone"},
		{"no description", apispec.View{Withheld: []string{"id", "code", "tags", "paid_at"}}, "", "Doc is missing"},
	} {
		n := &gen.Type{Name: "Visit", ID: column("id", field.TypeInt64), Fields: []*gen.Field{
			column("practice_id", field.TypeUUID), sealed, column("tags", field.TypeJSON), column("paid_at", field.TypeTime),
		}}
		got := strings.Join(checkView(n, test.view, test.doc), "\n")
		if test.want == "" && got != "" || !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
	if got := checkView(&gen.Type{Name: "Visit", ID: column("id", field.TypeInt64)}, apispec.View{Withheld: []string{"id"}}, "Visits."); len(got) != 1 {
		t.Errorf("a table of the installation: %v", got)
	}
}
