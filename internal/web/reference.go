package web

import (
	"net/http"
	"slices"
	"strings"

	"chairside/internal/apierror"
	"chairside/internal/entx/table"
	"chairside/internal/guides"
)

const referencePath = "/docs"

// menu is the navigation of the reference, which takes the place of the sections.
type menu struct {
	Tags   []menuTag
	Guides []guides.Guide // nil away from the guides
	Here   string         // the current address
}

type menuTag struct {
	Name       string
	Title      string
	Text       string
	Operations []*apiOperation
	Open       bool
}

// menuOf returns the menu, with the operations of one tag.
func (s *Site) menuOf(tag, here string) *menu {
	m := &menu{Here: here}
	if strings.HasPrefix(here, guidesPath) {
		m.Guides = guides.All
	}
	for _, t := range s.document.Tags {
		entry := menuTag{t.Name, table.Title(t.Name), t.Description, nil, t.Name == tag}
		for _, o := range s.document.operations {
			if slices.Contains(o.Tags, t.Name) {
				entry.Operations = append(entry.Operations, o)
			}
		}
		m.Tags = append(m.Tags, entry)
	}
	return m
}

// reference shows authorization, all operations and schemas, and every error code.
func (s *Site) reference(w http.ResponseWriter, r *http.Request) error {
	s.show(w, r, http.StatusOK, "reference", view{Title: "API reference", Menu: s.menuOf("", referencePath), Page: s.document})
	return nil
}

// operation shows an operation.
func (s *Site) operation(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("id")
	i := slices.IndexFunc(s.document.operations, func(o *apiOperation) bool { return o.ID == id })
	if i < 0 {
		return apierror.NotFound()
	}
	o := s.document.operations[i]
	s.show(w, r, http.StatusOK, "reference_operation", view{Title: o.Label, Menu: s.menuOf(o.Tags[0], r.URL.Path), Page: o})
	return nil
}

// schema shows a schema.
func (s *Site) schema(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("name")
	for _, c := range s.document.Components.Schemas {
		if c.Name == name {
			s.show(w, r, http.StatusOK, "reference_schema", view{Title: name, Menu: s.menuOf("", r.URL.Path), Page: c.Value})
			return nil
		}
	}
	return apierror.NotFound()
}

// found is a page that a search found.
type found struct{ Address, Name, Text string }

// searchReference lists the operations, guides and schemas that contain every word of the query.
func (s *Site) searchReference(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query().Get("q")
	var hits, further []found // by name, by the rest of the text
	words := strings.Fields(strings.ToLower(query))
	add := func(f found, rest string) {
		all := func(text string) bool {
			text = strings.ToLower(text)
			return len(words) > 0 && !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, word) })
		}
		if title := f.Name + " " + f.Text; all(title) {
			hits = append(hits, f)
		} else if all(title + " " + rest) {
			further = append(further, f)
		}
	}
	for _, o := range s.document.operations {
		add(found{"/docs/operations/" + o.ID, o.Summary, o.Method + " " + o.Path}, o.ID+" "+o.Description)
	}
	for _, g := range guides.All {
		add(found{guidesPath + g.Name, g.Title, g.Summary}, "")
		for _, part := range g.Sections {
			add(found{guidesPath + g.Name + "#" + part.ID, g.Title + ": " + part.Title, part.Lead}, part.Text)
		}
	}
	for _, c := range s.document.Components.Schemas {
		var members []string
		for _, p := range c.Value.Properties {
			members = append(members, p.Name)
		}
		add(found{"/docs/schemas/" + c.Name, c.Name, c.Value.Description}, strings.Join(members, " "))
	}
	s.show(w, r, http.StatusOK, "reference_search", view{Title: "Search the reference and the guides", Menu: s.menuOf("", r.URL.Path), Page: struct {
		Query string
		Found []found
	}{query, append(hits, further...)}})
	return nil
}
