package web

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
)

// found is a page that a search found.
type found struct {
	Address, Name, Text string
	Kind                pageKind
}

// pageKind is the kind of a page, as results show it. Of pages that match equally well, kinds come in the order of
// kindOrder.
type pageKind string

// The kinds of pages.
const (
	operationPage pageKind = "" // results show its method
	errorPage     pageKind = "Error code"
	guidePart     pageKind = "Guide"
	schemaPage    pageKind = "Schema"
	viewPage      pageKind = "View"
)

var kindOrder = []pageKind{operationPage, errorPage, guidePart, schemaPage, viewPage}

// match is how well a page matches a query.
type match struct {
	*indexed
	rank   rank
	length int // of the name that the query is or begins
	missed int // words of the query that the page lacks
	score  int // higher is closer
	share  int // of the words of the name that the query has, in percent
}

// rank is where a page has the query: lower ranks come first.
type rank int

const (
	isName     rank = iota // a name, path or title
	beginsName             // at the beginning of one
	hasWords               // its words, anywhere
	notFound
)

// The scores of a word of the query, by the place that has it, and those of kinds that answer most questions. The
// words of a title count more than all others.
const (
	inTitle  = 6
	inMember = 4 // the query is the name of a member, column or parameter
	inShown  = 3 // in the text below the title
	inRest   = 2 // in what the result does not show

	operationBonus, errorBonus, guideBonus = 2, 2, 1
)

// maxQuery is the longest part of a query that is looked for, in bytes. The form takes no more.
const maxQuery = 100

// enough is the number of results below which pages that lack one word of the query are shown, too.
const enough = 3

// search returns the pages that match a query, closest first.
func (i searchIndex) search(query string) []found {
	q := newQuery(query)
	if len(q.words) == 0 {
		return nil
	}
	var whole, partial []match
	for _, p := range i {
		switch m := q.match(p); {
		case m.missed == 0:
			whole = append(whole, m)
		case m.missed == 1 && len(q.words) > 1:
			partial = append(partial, m)
		}
	}
	slices.SortStableFunc(whole, closest)
	if len(whole) < enough {
		slices.SortStableFunc(partial, closest)
		whole = append(whole, partial...)
	}
	all := make([]found, len(whole))
	for k, m := range whole {
		all[k] = m.found
	}
	return all
}

// closest compares two matches: by rank and score, then by kind, then as they were added.
func closest(a, b match) int {
	return cmp.Or(
		cmp.Compare(a.rank, b.rank), cmp.Compare(b.score, a.score), cmp.Compare(b.share, a.share),
		cmp.Compare(slices.Index(kindOrder, a.Kind), slices.Index(kindOrder, b.Kind)), cmp.Compare(a.length, b.length),
	)
}

// searchQuery is what a reader looks for.
type searchQuery struct {
	names []string   // the query, and what the reference may call it, without spaces and punctuation
	words [][]string // each telling word of the query, in lower case, and those that the reference uses for it
}

// fillers are words of a question that say nothing about what is looked for.
var fillers = strings.Fields("a an and are be by can do does for from has have how i in is my of on or the to was were what when where which with")

// verbs are the verbs with which names of operations begin, for those of a reader. They need an object: alone, they
// would name every operation.
var verbs = map[string][]string{
	"add": {"create"}, "book": {"create"}, "make": {"create"}, "new": {"create"}, "register": {"create"},
	"archive": {"delete"}, "remove": {"delete"},
	"cancel": {"update"}, "change": {"update"}, "edit": {"update"}, "move": {"update"}, "reschedule": {"update"},
	"find": {"list", "get"}, "read": {"get", "list"}, "search": {"list"}, "show": {"get", "list"},
}

// synonyms are the words of the reference for those of a reader.
var synonyms = map[string][]string{
	"free": {"available"}, "open": {"available"}, "pagination": {"paging"}, "search": {"query"},
	"throttle": {"limit"}, "throttling": {"limit"}, "login": {"sign"}, "dentist": {"practitioner"},
}

func newQuery(query string) searchQuery {
	q := searchQuery{names: []string{letters(query)}}
	words := strings.Fields(strings.ToLower(query[:min(len(query), maxQuery)]))
	for i := range words {
		words[i] = strings.Trim(words[i], `.,;:!?"'()`)
	}
	words = slices.DeleteFunc(words, func(word string) bool { return word == "" })
	if telling := slices.DeleteFunc(slices.Clone(words), func(word string) bool { return slices.Contains(fillers, word) }); len(telling) > 0 {
		words = telling
	}
	for i, word := range words {
		same := append([]string{singular(word)}, synonyms[singular(word)]...)
		if len(words) > 1 {
			same = append(same, verbs[word]...)
		}
		if q.words = append(q.words, same); i > 0 {
			continue
		}
		object := strings.Join(words[1:], "")
		q.names = append(q.names, letters(word+object))
		for _, verb := range verbs[word] {
			if object != "" {
				q.names = append(q.names, letters(verb+object))
			}
		}
	}
	return q
}

// singular removes the ending of a plural: a page has the word if one of its words begins with that.
func singular(word string) string {
	const shortest = 3
	switch stem := strings.TrimSuffix(word, "s"); {
	case len(stem) < shortest || strings.HasSuffix(stem, "s") || !isWord(word):
		return word
	default:
		return strings.TrimSuffix(stem, "ie") // categories, category
	}
}

// match returns how well a page matches.
func (q searchQuery) match(p *indexed) match {
	m := match{indexed: p, rank: notFound}
	for _, name := range p.names {
		at := notFound
		for _, asked := range q.names {
			switch {
			case asked == "":
			case name == asked:
				at = isName
			case strings.HasPrefix(name, asked):
				at = min(at, beginsName)
			}
		}
		if at < m.rank || at == m.rank && at < notFound && len(name) < m.length {
			m.rank, m.length = at, len(name)
		}
	}
	if m.rank < notFound {
		return m
	}
	m.rank = hasWords
	member := slices.ContainsFunc(q.names, func(asked string) bool { return slices.Contains(p.members, asked) })
	inName := 0
	for _, word := range q.words {
		switch {
		case p.title.hasAny(word):
			m.score, inName = m.score+inTitle, inName+1
		case member:
			m.score += inMember
		case p.shown.hasAny(word):
			m.score += inShown
		case p.rest.hasAny(word):
			m.score += inRest
		default:
			m.missed++
		}
	}
	m.share = inName * 100 / max(1, p.telling)
	m.score += map[pageKind]int{operationPage: operationBonus, errorPage: errorBonus, guidePart: guideBonus}[p.Kind]
	return m
}

// searchReference lists the operations, schemas, views, error codes and guides that match a query.
func (s *Site) searchReference(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query().Get("q")
	m := s.menuOf("", r.URL.Path)
	m.Query = query
	s.show(w, r, http.StatusOK, "reference_search", view{Title: "Search the reference and the guides", Menu: m, Page: struct {
		Query string
		Found []found
	}{query, s.index().search(query)}})
	return nil
}

// also are what readers call a page or a part of one, beside its names.
var also = map[string][]string{
	"/docs/operations/updateAppointment":          {"cancel appointment", "reschedule appointment", "move appointment"},
	"/docs/operations/listAvailability":           {"availability", "free slots", "available slots", "open slots"},
	"/docs/operations/listChanges":                {"change feed"},
	"/docs/operations/listPatients":               {"patient search", "search patients"},
	"/docs/operations/getPractice":                {"opening hours"},
	guidesPath + "first-request#2-get-a-token":    {"token", "access token", "API key", "authentication", "authorization header", "bearer token", "personal access token"},
	guidesPath + "authorise-users":                {"OAuth", "PKCE", "authorization code", "authorize"},
	guidesPath + "errors":                         {"error handling", "status codes"},
	guidesPath + "limits":                         {"rate limit", "rate limiting", "throttling", "quota", "too many requests"},
	guidesPath + "lists":                          {"pagination"},
	guidesPath + "retries#send-a-write-again":     {"idempotency", "idempotency key", "idempotent requests", "retry"},
	guidesPath + "sign-in":                        {"login", "log in", "MFA", "2FA", "password"},
	guidesPath + "time-zones":                     {"daylight saving time", "summer time", "DST", "UTC"},
	guidesPath + "webhooks":                       {"events", "notifications", "callbacks"},
	guidesPath + "webhooks#verify-the-signature":  {"webhook signature", "webhook secret", "HMAC"},
	guidesPath + "booking#when-the-slot-is-taken": {"double booking", "overlap", "conflict"},
	guidesPath + "patient-data#erase":             {"GDPR", "right to erasure", "delete patient data"},
	guidesPath + "moving":                         {"migration", "import"},
	guidesPath + "sandbox":                        {"test server", "demo", "test data"},
}
