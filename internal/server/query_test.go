package server

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestInvalidQueriesAreRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, test := range []struct {
		query string
		bad   string // names in params; "" if the query is valid
	}{
		{"", ""},
		{"&&", ""},
		{"page=1&per_page=5", ""},
		{"page=0&per_page=x&active=perhaps", "active page per_page"},
		{"page=%zz", "page"},
		{"page=1%00", "page"},
		{"page=%ff", "page"},
		{"unknown=%00", "unknown"},
		{"%zz=1", "query"},
		{"a%00b=1", "query"},
		{"page=1;per_page=2", "page"},
		{"page=1&page=2", "page"},
	} {
		a := b.get("/sites?" + test.query)
		if test.bad == "" {
			a.ok(t, 200)
			continue
		}
		a.refused(t, 400, "invalid_parameter")
		if got := strings.Join(slices.Sorted(maps.Keys(a.errorOf(t).Params)), " "); got != test.bad {
			t.Errorf("%s: params are %q, want %q", test.query, got, test.bad)
		}
	}
}

func TestUnknownParametersAreReported(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a := b.get("/sites?b=1&a=2&page=1&a,%22%0d%0aX:=3&caf%C3%A9=4&d[]=5&access_token=x").ok(t, 200)
	if got, want := a.Header.Get("X-Unknown-Parameters"), "a, a%2C%22%0D%0AX%3A, b, caf%C3%A9, d[]"; got != want {
		t.Errorf("X-Unknown-Parameters is %q, want %q", got, want)
	}
	for preference, strict := range map[string]bool{
		"handling=strict": true, `respond-async, Handling="strict"; x=y`: true,
		"handling=lenient": false, "strict": false, "handling": false,
	} {
		a := b.get("/sites?b=1", "Prefer: "+preference)
		if !strict {
			a.ok(t, 200)
			continue
		}
		a.refused(t, 400, "invalid_parameter")
		if got := a.errorOf(t).Params["b"]; len(got) != 1 || got[0] != "is not a known parameter" {
			t.Errorf("params of b are %q", got)
		}
	}
	if a := b.get("/sites?page=1", "Prefer: handling=strict").ok(t, 200); a.Header.Get("X-Unknown-Parameters") != "" {
		t.Error("a known parameter is reported as unknown")
	}
	many := b.get("/sites?"+manyParameters(100)).ok(t, 200)
	if got := strings.Count(many.Header.Get("X-Unknown-Parameters"), ","); got != maxUnknown-1 {
		t.Errorf("%d names are listed", got+1)
	}
}

func manyParameters(n int) string {
	var q strings.Builder
	for i := range n {
		q.WriteString("&unknown" + string(rune('a'+i%26)) + strings.Repeat("x", i/26) + "=1")
	}
	return q.String()
}

func FuzzParseQuery(f *testing.F) {
	for _, seed := range []string{"a=1&b=2", "%00", "a=%ff&%=", "&&=;"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		values, _ := parseQuery(raw)
		for name, all := range values {
			for _, v := range append(all, name) {
				if !plain(v) {
					t.Errorf("%q: %q was accepted", raw, v)
				}
			}
		}
	})
}
