package feed

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"chairside/ent"
	"chairside/internal/apierror"
	"chairside/internal/entx/table"
	"chairside/internal/principal"
	"chairside/ogent"
)

// siteOwners returns the resources whose records have the site of records of the named ones, as
// patients have that of notes.
func siteOwners(names []string) (owners []string) {
	for _, s := range ent.FeedSources {
		if !s.Part && s.SiteTable != "" && slices.Contains(names, s.Resource) {
			owners = append(owners, source(func(o table.FeedSource) bool { return o.Table == s.SiteTable }).Resource)
		}
	}
	slices.Sort(owners)
	return slices.Compact(owners)
}

// source returns the table that has the records of a resource.
func source(is func(table.FeedSource) bool) table.FeedSource {
	return ent.FeedSources[slices.IndexFunc(ent.FeedSources, func(s table.FeedSource) bool { return !s.Part && is(s) })]
}

// withoutMoves returns the changes of the named resources. It returns apierror.CursorExpired if
// a record has come to the caller's site, or left it, with records of those resources that it
// has, such as a patient with notes: they have no change of their own.
func (f *Feed) withoutMoves(ctx context.Context, changes []Change, names []string) ([]Change, error) {
	caller, owners := principal.Must(ctx), siteOwners(names)
	for _, owner := range owners {
		var moved []string
		for _, c := range changes {
			switch {
			case c.Resource != owner || c.Event == deleted || c.siteKey == "":
			case c.siteKey == caller.SiteID.String():
				return nil, apierror.CursorExpired()
			default:
				moved = append(moved, c.ID)
			}
		}
		arrived, err := f.atSite(ctx, source(func(s table.FeedSource) bool { return s.Resource == owner }).Table, moved)
		if err != nil {
			return nil, err
		}
		if len(arrived) > 0 {
			return nil, apierror.CursorExpired()
		}
	}
	return slices.DeleteFunc(changes, func(c Change) bool { return !slices.Contains(names, c.Resource) }), nil
}

// ofSite returns the changes that a caller limited to a site may see: of records that it can
// read, and of those that were deleted or have left the site by what led them there. A record
// that has left it is deleted for the caller.
func (f *Feed) ofSite(ctx context.Context, changes []Change) (visible []Change, err error) {
	left := map[string][]string{} // by resource: the sites, or the rows that have them
	for _, c := range changes {
		if c.siteKey != "" {
			left[c.Resource] = append(left[c.Resource], c.siteKey)
		}
	}
	for resource, keys := range left {
		owner := source(func(s table.FeedSource) bool { return s.Resource == resource }).SiteTable
		if owner == "" {
			left[resource] = []string{principal.Must(ctx).SiteID.String()}
		} else if left[resource], err = f.atSite(ctx, owner, keys); err != nil {
			return nil, err
		}
	}
	for _, c := range changes {
		switch {
		case c.Record != nil:
		case c.siteKey != "":
			if !slices.Contains(left[c.Resource], c.siteKey) {
				continue
			}
			c.Event = deleted
		case c.Event != deleted || !ogent.Resources[c.Resource].AnySite:
			continue
		}
		visible = append(visible, c)
	}
	return visible, nil
}

// atSite returns which rows of a table are at the caller's site.
func (f *Feed) atSite(ctx context.Context, owner string, ids []string) (here []string, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	caller := principal.Must(ctx)
	rows, err := f.db.Pool(ctx).QueryContext(ctx, "SELECT CAST(id AS text) FROM "+owner+" WHERE practice_id = $1 AND site_id = $2 AND "+f.among("CAST(id AS text)", 3), caller.PracticeID, caller.SiteID, string(list))
	if err != nil {
		return nil, fmt.Errorf("feed: read the sites of records: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("feed: read the sites of records: %w", err)
		}
		here = append(here, id)
	}
	return here, rows.Err()
}
