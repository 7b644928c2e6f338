package web

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"chairside/ent"
	"chairside/internal/report"
	"chairside/schema"
)

// choices are the options of a report's form.
type choices struct{ Sites, Practitioners []choice }

// site returns the name of a site, "All sites" for none.
func (c choices) site(id string) string {
	for _, s := range c.Sites {
		if s.ID == id {
			return s.Name
		}
	}
	return "All sites"
}

// choice is one option.
type choice struct {
	ID     string
	Name   string
	Active bool
}

// readChoices returns the practice's sites, and its practitioners if the report can
// be limited to one. Inactive ones come last: reports also cover the past.
func readChoices(ctx context.Context, client *ent.Client, r *report.Report) (c choices, err error) {
	sites, err := client.Site.Query().All(ctx)
	if err != nil {
		return c, err
	}
	for _, s := range sites {
		c.Sites = append(c.Sites, choice{s.ID.String(), s.Name, s.Active})
	}
	slices.SortFunc(c.Sites, byName)
	if !r.Practitioners {
		return c, nil
	}
	people, err := client.Practitioner.Query().WithUser().All(ctx)
	if err != nil {
		return c, err
	}
	for _, p := range people {
		name := fmt.Sprintf("Practitioner %d", p.ID)
		if u := p.Edges.User; u != nil {
			name = schema.FullName(u.FirstName, u.LastName)
		}
		c.Practitioners = append(c.Practitioners, choice{strconv.FormatInt(p.ID, 10), name, p.Active})
	}
	slices.SortFunc(c.Practitioners, byName)
	return c, nil
}

// byName compares choices: active ones first, then by name.
func byName(a, b choice) int {
	switch {
	case a.Active && !b.Active:
		return -1
	case b.Active && !a.Active:
		return 1
	}
	return cmp.Or(strings.Compare(schema.Fold(a.Name), schema.Fold(b.Name)), strings.Compare(a.ID, b.ID))
}
