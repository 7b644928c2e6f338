package feed

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"entgo.io/ent/dialect"

	"chairside/ent"
	"chairside/internal/entx/table"
	"chairside/internal/principal"
	"chairside/ogent"
)

// ofSite returns the changes that a caller limited to a site may see: of records that it can
// read, and of deleted ones by what led them to their site.
func (f *Feed) ofSite(ctx context.Context, changes []Change) (visible []Change, err error) {
	here := map[string][]string{} // by resource: the site, or the rows of the site
	for _, c := range changes {
		if _, read := here[c.Resource]; c.Event == deleted && !read {
			if here[c.Resource], err = f.keysOfSite(ctx, c.Resource, changes); err != nil {
				return nil, err
			}
		}
	}
	return slices.DeleteFunc(changes, func(c Change) bool {
		switch {
		case c.Event != deleted:
			return c.Record == nil
		case c.siteKey == "":
			return !ogent.Resources[c.Resource].AnySite
		}
		return !slices.Contains(here[c.Resource], c.siteKey)
	}), nil
}

// keysOfSite returns which of the keys of a resource's deleted records lead to the caller's
// site.
func (f *Feed) keysOfSite(ctx context.Context, resource string, changes []Change) (keys []string, err error) {
	caller := principal.Must(ctx)
	i := slices.IndexFunc(ent.FeedSources, func(s table.FeedSource) bool { return s.Resource == resource && !s.Part })
	owner := ent.FeedSources[i].SiteTable
	if owner == "" {
		return []string{caller.SiteID.String()}, nil
	}
	var asked []string
	for _, c := range changes {
		if c.Resource == resource && c.siteKey != "" {
			asked = append(asked, c.siteKey)
		}
	}
	list, err := json.Marshal(asked)
	if err != nil {
		return nil, err
	}
	among := "SELECT jsonb_array_elements_text(CAST($3 AS jsonb))"
	if f.db.Dialect == dialect.SQLite {
		among = "SELECT value FROM json_each($3)"
	}
	rows, err := f.db.SQL.QueryContext(ctx, "SELECT CAST(id AS text) FROM "+owner+" WHERE practice_id = $1 AND site_id = $2 AND CAST(id AS text) IN ("+among+")", caller.PracticeID, caller.SiteID, string(list))
	if err != nil {
		return nil, fmt.Errorf("feed: read the sites of deleted records: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var key string
		if err := rows.Scan(&key); err != nil {
			return nil, fmt.Errorf("feed: read the sites of deleted records: %w", err)
		}
		keys = append(keys, key)
	}
	return keys, rows.Err()
}
