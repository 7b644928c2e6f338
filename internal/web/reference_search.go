package web

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"chairside/ent"
	"chairside/internal/guides"
)

// found is a page that a search found.
type found struct {
	Address, Name, Text string
	Kind                string // "" for an operation, which shows its method
	rank                rank
	length              int // of the name that the query is or begins
}

// rank is where a page has the query: lower ranks come first.
type rank int

const (
	isName     rank = iota // a name, path or title
	beginsName             // at the beginning of one
	inTitle                // every word in what the result shows
	inText                 // every word there and in the rest of the page
	notFound
)

// searcher collects the pages that match a query.
type searcher struct {
	names []string   // the query, and what the reference may call it, without spaces and punctuation
	words [][]string // each word of the query, in lower case, and those that the reference uses for it
	found []found
}

// articles are words of a question that names leave out.
var articles = []string{"a", "an", "the"}

// synonyms are the words of the reference for those of a reader.
var synonyms = map[string][]string{
	"book": {"create"}, "cancel": {"update"}, "find": {"list", "get"}, "pagination": {"paging"},
}

func newSearcher(query string) *searcher {
	s := &searcher{names: []string{letters(query)}}
	words := strings.Fields(strings.ToLower(query))
	if telling := slices.DeleteFunc(slices.Clone(words), func(word string) bool { return slices.Contains(articles, word) }); len(telling) > 0 {
		words = telling
	}
	for i, word := range words {
		all := append([]string{word}, synonyms[word]...)
		s.words = append(s.words, all)
		if i == 0 { // names begin with a verb
			for _, first := range all {
				s.names = append(s.names, letters(first+strings.Join(words[1:], "")))
			}
		}
	}
	return s
}

// letters returns the letters and digits of a name, in lower case: "create appointment" is
// createAppointment.
func letters(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

// add adds a page if it matches. Its names are what a reader may call it, rest is the text that
// the result does not show.
func (s *searcher) add(f found, rest string, names ...string) {
	f.rank = notFound
	for _, name := range names {
		name = letters(name)
		at := notFound
		for _, asked := range s.names {
			switch {
			case asked == "":
			case name == asked:
				at = isName
			case strings.HasPrefix(name, asked):
				at = min(at, beginsName)
			}
		}
		if at < f.rank || at == f.rank && at < notFound && len(name) < f.length {
			f.rank, f.length = at, len(name)
		}
	}
	if f.rank == notFound {
		title := f.Name + " " + f.Text
		switch {
		case s.all(title):
			f.rank = inTitle
		case s.all(title + " " + rest):
			f.rank = inText
		default:
			return
		}
	}
	s.found = append(s.found, f)
}

// all reports whether a text contains every word of the query, or another for it.
func (s *searcher) all(text string) bool {
	text = strings.ToLower(text)
	return len(s.words) > 0 && !slices.ContainsFunc(s.words, func(word []string) bool {
		return !slices.ContainsFunc(word, func(w string) bool { return strings.Contains(text, w) })
	})
}

// results returns the pages, closest first: by rank, then operations, then the shorter name, then
// as they were added.
func (s *searcher) results() []found {
	slices.SortStableFunc(s.found, func(a, b found) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(min(len(a.Kind), 1), min(len(b.Kind), 1)), cmp.Compare(a.length, b.length))
	})
	return s.found
}

// searchReference lists the operations, schemas, error codes and guides that match a query.
func (s *Site) searchReference(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query().Get("q")
	pages := newSearcher(query)
	for _, o := range s.document.operations {
		rest := o.ID + " " + o.Description
		for _, p := range o.Parameters {
			rest += " " + p.Name
		}
		full := o.Path
		if base, err := url.Parse(o.server); err == nil {
			full = base.Path + o.Path // with the prefix /v1
		}
		pages.add(found{Address: "/docs/operations/" + o.ID, Name: o.Label, Text: o.Method + " " + o.Path}, rest,
			o.ID, o.Summary, o.Path, full, o.Method+" "+o.Path, o.Method+" "+full)
	}
	for _, c := range s.document.Components.Schemas {
		var members []string
		for _, p := range c.Value.Properties {
			members = append(members, p.Name)
		}
		pages.add(found{Address: "/docs/schemas/" + c.Name, Name: c.Name, Text: c.Value.Description, Kind: "Schema"}, strings.Join(members, " "), c.Name)
	}
	for _, v := range ent.Views {
		var columns []string
		for _, c := range v.Columns {
			columns = append(columns, c.Name)
		}
		pages.add(found{Address: dataPath + "#" + v.Name, Name: v.Name, Text: v.Doc, Kind: "View"}, strings.Join(columns, " "), v.Name)
	}
	for _, e := range errorCodes {
		pages.add(found{Address: "/docs#" + e.Code, Name: e.Code, Text: e.Text, Kind: "Error code"}, "", e.Code)
	}
	for _, g := range guides.All {
		pages.add(found{Address: guidesPath + g.Name, Name: g.Title, Text: g.Summary, Kind: "Guide"}, "", g.Title)
		for _, part := range g.Sections {
			pages.add(found{Address: guidesPath + g.Name + "#" + part.ID, Name: g.Title + ": " + part.Title, Text: part.Lead, Kind: "Guide"}, part.Text, part.Title)
		}
	}
	m := s.menuOf("", r.URL.Path)
	m.Query = query
	s.show(w, r, http.StatusOK, "reference_search", view{Title: "Search the reference and the guides", Menu: m, Page: struct {
		Query string
		Found []found
	}{query, pages.results()}})
	return nil
}
