package web

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"chairside/ent"
	"chairside/internal/guides"
)

// searchIndex has the pages that searches find.
type searchIndex []*indexed

// indexed is a page with its words.
type indexed struct {
	found
	names   []string // its names, without spaces and punctuation
	members []string // names of the record's members, likewise
	title   words
	shown   words // of the text in the results
	rest    words // of the text that results leave out
	telling int   // number of words in the title that are not fillers
}

// entry is a page before its words are found.
type entry struct {
	found
	names, members []string
	title          string // the words of the name that count most; "" for all
	shown, rest    string // beside Text
}

// commonParameter is the number of operations above which a parameter's name finds its guide rather than the operations.
const commonParameter = 20

// newSearchIndex returns the index of the operations, schemas, views, error codes and guides.
func newSearchIndex(d *apiDocument) (i searchIndex) {
	shared := map[string]int{}
	for _, o := range d.operations {
		for _, p := range o.Parameters {
			shared[p.Name]++
		}
	}
	for _, o := range d.operations {
		e := entry{found: found{Address: "/docs/operations/" + o.ID, Name: o.Label, Text: o.Method + " " + o.Path}, title: o.Label + " " + o.ID, rest: o.Description}
		for _, p := range o.Parameters {
			e.rest += " " + p.Description
			if shared[p.Name] <= commonParameter { // a guide explains If-Match, per_page and others
				e.members = append(e.members, p.Name)
				e.rest += " " + p.Name
			}
		}
		full := o.Path
		if base, err := url.Parse(o.server); err == nil {
			full = base.Path + o.Path // with the prefix /v1
		}
		e.names = []string{o.ID, o.Summary, o.Path, full, o.Method + " " + o.Path, o.Method + " " + full}
		i.add(e)
	}
	for _, c := range d.Components.Schemas {
		e := entry{found: found{Address: "/docs/schemas/" + c.Name, Name: c.Name, Text: c.Value.Description, Kind: schemaPage}, names: []string{c.Name}}
		for _, p := range c.Value.Properties {
			e.members = append(e.members, p.Name)
			e.rest += " " + p.Name
		}
		i.add(e)
	}
	for _, v := range ent.Views {
		e := entry{found: found{Address: dataPath + "#" + v.Name, Name: v.Name, Text: v.Doc, Kind: viewPage}, names: []string{v.Name}}
		for _, c := range v.Columns {
			e.members = append(e.members, c.Name)
			e.rest += " " + c.Name
		}
		i.add(e)
	}
	for _, c := range errorCodes {
		status := strconv.Itoa(c.Status)
		i.add(entry{found: found{Address: "/docs#" + c.Code, Name: c.Code, Text: c.Text, Kind: errorPage}, names: []string{c.Code, status}, rest: "error status " + status})
	}
	for _, g := range guides.All() {
		i.add(entry{found: found{Address: guidesPath + g.Name, Name: g.Title, Text: g.Summary, Kind: guidePart}, names: []string{g.Title}})
		for _, part := range g.Sections {
			i.add(entry{
				found: found{Address: guidesPath + g.Name + "#" + part.ID, Name: g.Title + ": " + part.Title, Text: part.Lead, Kind: guidePart},
				names: []string{part.Title}, title: part.Title, shown: g.Title, rest: part.Text,
			})
		}
	}
	return i
}

// add adds a page.
func (i *searchIndex) add(e entry) {
	title := cmp.Or(e.title, e.Name)
	p := &indexed{found: e.found, title: wordsOf(title), shown: wordsOf(e.shown + " " + e.Text), rest: wordsOf(e.rest)}
	for _, name := range append(e.names, also[e.Address]...) {
		p.names = append(p.names, letters(name))
	}
	for _, member := range e.members {
		p.members = append(p.members, letters(member))
	}
	p.telling = len(slices.DeleteFunc(split(title), func(word string) bool { return slices.Contains(fillers, word) }))
	*i = append(*i, p)
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

// words are the words of a text.
type words struct {
	sorted []string
	text   string // in lower case
}

func wordsOf(text string) words {
	all := split(text)
	slices.Sort(all)
	return words{slices.Compact(all), strings.ToLower(text)}
}

// split returns the words of a text in lower case. A name such as listNHSClaims has three, and is a word itself.
func split(text string) (all []string) {
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		all = append(all, strings.ToLower(word))
		letters, start := []rune(word), 0
		for k := 1; k < len(letters); k++ {
			lower := k+1 < len(letters) && unicode.IsLower(letters[k+1])
			if unicode.IsUpper(letters[k]) && (unicode.IsLower(letters[k-1]) || lower) {
				all = append(all, strings.ToLower(string(letters[start:k])))
				start = k
			}
		}
		if start > 0 {
			all = append(all, strings.ToLower(string(letters[start:])))
		}
	}
	return all
}

// isWord reports whether a text has letters and digits only.
func isWord(text string) bool { return letters(text) == text }

// hasAny reports whether the text has one of several words.
func (w words) hasAny(all []string) bool { return slices.ContainsFunc(all, w.has) }

// has reports whether the text has a word, in lower case, or one that begins with it. Texts with punctuation, such as a
// path, may be anywhere.
func (w words) has(word string) bool {
	const whole = 2 // shorter words begin too many others
	if !isWord(word) {
		return strings.Contains(w.text, word)
	}
	k, exact := slices.BinarySearch(w.sorted, word)
	return exact || len(word) > whole && k < len(w.sorted) && strings.HasPrefix(w.sorted[k], word)
}
