package etag

import (
	"regexp"
	"strings"
	"testing"
)

func TestOfIsStrongAndOpaque(t *testing.T) {
	tag := Of([]byte(`{"patient":{"id":1}}`))
	if !regexp.MustCompile(`^"[A-Za-z0-9_-]{11}"$`).MatchString(tag) {
		t.Errorf("tag %s is not a quoted opaque string", tag)
	}
	if tag != Of([]byte(`{"patient":{"id":1}}`)) || tag == Of([]byte(`{"patient":{"id":2}}`)) {
		t.Error("equal bodies must have equal tags, and different bodies different tags")
	}
}

func TestMatchAndNoneMatch(t *testing.T) {
	const tag = `"abc"`
	for _, test := range []struct {
		header      string
		match, none bool
	}{
		{``, true, true},
		{`"abc"`, true, false},
		{`*`, true, false},
		{` "x", "abc" `, true, false},
		{`"x","y"`, false, true},
		{`W/"abc"`, false, false}, // the strong comparison refuses it, the weak one does not
		{`"a,bc", "abc"`, true, false},
		{`"x, \"abc`, false, true},
		{`abc`, false, true},
		{`abc, "abc"`, true, false},
		{`"abc`, false, true},
		{`W/`, false, true},
		{`,,,`, false, true},
	} {
		if got := Match(test.header, tag); got != test.match {
			t.Errorf("Match(%q) = %t", test.header, got)
		}
		if got := NoneMatch(test.header, tag) == ""; got != test.none {
			t.Errorf("NoneMatch(%q) = %t", test.header, got)
		}
	}
	if Match(`W/"abc"`, `W/"abc"`) {
		t.Error("two weak tags matched strongly")
	}
}

func TestContextCarriesIfMatch(t *testing.T) {
	if got := IfMatch(t.Context()); got != "" {
		t.Errorf("without a header: %q", got)
	}
	if got := IfMatch(WithIfMatch(t.Context(), `"a"`)); got != `"a"` {
		t.Errorf("got %q", got)
	}
}

func FuzzLists(f *testing.F) {
	for _, seed := range []string{`"a", W/"b", *`, `W/W/"`, `"`, `,"a",,`, strings.Repeat(`"a",`, 9)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		if Match(header, `"a"`) && header != "" && NoneMatch(header, `"a"`) == "" {
			t.Errorf("%q matches strongly but not weakly", header)
		}
	})
}
