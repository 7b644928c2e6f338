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

// choices are what the lists of a report's form offer.
type choices struct{ Sites, Practitioners []choice }

// choice is one entry of a list.
type choice struct {
	ID     string
	Name   string
	Active bool
}

// readChoices gives the practice's sites, and practitioners where the report can
// be limited to one. Those that are not active come last: reports are about
// the past, too.
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

// byName puts what is active first.
func byName(a, b choice) int {
	switch {
	case a.Active && !b.Active:
		return -1
	case b.Active && !a.Active:
		return 1
	}
	return cmp.Or(strings.Compare(schema.Fold(a.Name), schema.Fold(b.Name)), strings.Compare(a.ID, b.ID))
}
