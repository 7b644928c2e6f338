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
	Query  string         // of the search
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
		m.Guides = guides.All()
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
