package web

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"chairside/ent"
	"chairside/ent/practitioner"
	"chairside/ent/site"
	"chairside/internal/report"
	"chairside/schema"
)

// choices are what the lists of a report's form offer.
type choices struct{ Sites, Practitioners []choice }

// choice is one entry of a list.
type choice struct{ ID, Name string }

// readChoices gives the practice's active sites, and practitioners where the
// report can be limited to one; what is chosen already is among them, active
// or not.
func readChoices(ctx context.Context, client *ent.Client, r *report.Report, f report.Filter) (c choices, err error) {
	wanted := site.Active(true)
	if f.SiteID != nil {
		wanted = site.Or(wanted, site.ID(*f.SiteID))
	}
	sites, err := client.Site.Query().Where(wanted).All(ctx)
	if err != nil {
		return c, err
	}
	for _, s := range sites {
		c.Sites = append(c.Sites, choice{s.ID.String(), s.Name})
	}
	slices.SortFunc(c.Sites, byName)
	if !r.Practitioners {
		return c, nil
	}
	able := practitioner.Active(true)
	if f.PractitionerID != nil {
		able = practitioner.Or(able, practitioner.ID(*f.PractitionerID))
	}
	people, err := client.Practitioner.Query().Where(able).WithUser().All(ctx)
	if err != nil {
		return c, err
	}
	for _, p := range people {
		name := fmt.Sprintf("Practitioner %d", p.ID)
		if u := p.Edges.User; u != nil {
			name = schema.FullName(u.FirstName, u.LastName)
		}
		c.Practitioners = append(c.Practitioners, choice{strconv.FormatInt(p.ID, 10), name})
	}
	slices.SortFunc(c.Practitioners, byName)
	return c, nil
}

func byName(a, b choice) int {
	return cmp.Or(strings.Compare(schema.Fold(a.Name), schema.Fold(b.Name)), strings.Compare(a.ID, b.ID))
}
