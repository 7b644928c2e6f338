package scope

import (
	"slices"
	"testing"
)

func TestPermissions(t *testing.T) {
	t.Parallel()
	for list, want := range map[string][]string{
		"":                            nil,
		"patient:read":                {"Read patients"},
		"user:read patient:update":    {"Update patients", "Read users"},
		"patient:read patient:create": {"Read and create patients"},
		"patient:read patient:delete patient:update":         {"Read, update and delete patients"},
		"appointment appointment:read":                       {"Read, create, update and delete appointments"},
		"user:read user:create user:update user:delete user": {"Read, create, update and delete users"},
	} {
		set, err := Parse(list)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range set.Permissions() {
			got = append(got, p.Sentence)
			if p.Covers == "" {
				t.Errorf("%s covers nothing", p.Sentence)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q allows %q, want %q", list, got, want)
		}
	}
}

func TestSummary(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		set  Set
		want string
	}{
		{Everything(), "Full access"},
		{All(), "Full access"},
		{Set{"patient:read", "user"}, "Read patients; read, create, update and delete users"},
		{nil, ""},
	} {
		if got := test.set.Summary(); got != test.want {
			t.Errorf("%v is %q, want %q", test.set, got, test.want)
		}
	}
}

func TestEveryScopeIsExplained(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, s := range All() {
		words := Explain(s)
		if words == "" || seen[words] {
			t.Errorf("%s is explained as %q", s, words)
		}
		seen[words] = true
	}
	for _, f := range Families {
		if Title(f) == "" {
			t.Errorf("%s has no title", f)
		}
	}
}
