package web

import (
	"slices"
	"testing"

	"chairside/ogent"
)

// TestOtherNamesAreOfPages: each address to which a reader's words lead has a page, and no other name of it.
func TestOtherNamesAreOfPages(t *testing.T) {
	t.Parallel()
	d, err := parseDocument(ogent.Document)
	if err != nil {
		t.Fatal(err)
	}
	index := newSearchIndex(d)
	for address, names := range also {
		at := slices.IndexFunc(index, func(p *indexed) bool { return p.Address == address })
		if at < 0 {
			t.Errorf("no page is at %s", address)
			continue
		}
		known := index[at].names[:len(index[at].names)-len(names)]
		for _, name := range names {
			if slices.Contains(known, letters(name)) {
				t.Errorf("%s has the name %q already", address, name)
			}
		}
	}
}

func TestWordsOfNames(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"":                        nil,
		"Get a token: `cs_pat_…`": {"get", "a", "token", "cs", "pat"},
		"listNHSClaims":           {"listnhsclaims", "list", "nhs", "claims"},
		"force_changes":           {"force", "changes"},
		"NHSClaim":                {"nhsclaim", "nhs", "claim"},
	} {
		if got := split(text); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	for word, want := range map[string]string{"patients": "patient", "categories": "categor", "address": "address", "is": "is", "id": "id", "gas": "gas", "/v1/patients": "/v1/patients"} {
		if got := singular(word); got != want {
			t.Errorf("%s: %s, want %s", word, got, want)
		}
	}
}
