package feed

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"entgo.io/ent/dialect"
	"github.com/go-faster/jx"
	"github.com/google/uuid"

	"chairside/internal/apierror"
	"chairside/internal/principal"
	"chairside/internal/store"
	"chairside/internal/store/feedlog"
	"chairside/ogent"
)

// The most changes of a page, and the number without limit=.
const (
	MaxPage     = 1000
	DefaultPage = 100
)

// DefaultRetention is how long changes are kept unless the server is told otherwise.
const DefaultRetention = 14 * 24 * time.Hour

// Feed is the change feed of a database.
type Feed struct {
	db       *store.DB
	hub      hub
	position atomic.Pointer[string] // set by Run
}

// New returns the feed of a database.
func New(db *store.DB) *Feed { return &Feed{db: db, hub: newHub()} }

// Query asks for a page of changes.
type Query struct {
	Cursor    string   // "" asks for the current end
	Resources []string // names; none are all that the caller may read
	Limit     int
	Records   bool // also the current document of each record
}

// Page is a page of changes, oldest first.
type Page struct {
	Changes []Change
	Cursor  string // to go on from
	More    bool   // whether the next page has changes now, perhaps of other sites
	Gap     bool   // of Behind: changes before the page may be missing
	end     int64  // seq that the page ends with
	state   state  // of Behind
}

// Change is one change of one record.
type Change struct {
	Resource, ID, Event string
	Version             int64 // grows with each change of a record
	At                  time.Time
	Record              jx.Raw // with Query.Records; nil if the record is gone
	siteKey             string // of a record that was deleted or moved: its site before, or the row that has the site
	origin              int64
}

// Allowed returns the asked resources, or all that the caller may read. It refuses resources
// whose scope the caller lacks.
func Allowed(ctx context.Context, asked []string) (names []string, err error) {
	scopes := principal.Must(ctx).Scopes
	for name, r := range ogent.Resources {
		if len(asked) == 0 && scopes.Allows(r.Scope) {
			names = append(names, name)
		}
	}
	for _, name := range asked {
		if r := ogent.Resources[name]; !scopes.Allows(r.Scope) {
			return nil, apierror.InsufficientScope(r.Scope)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names, nil
}

// Read returns the page behind a cursor. It first numbers what is committed, so a caller sees
// its own writes, but no more than 10,000 changes: others come with later pages. It returns
// apierror.CursorExpired for a cursor that the feed cannot go on from. The caller holds a place at
// the database.
func (f *Feed) Read(ctx context.Context, reads ogent.Reads, q Query) (page Page, err error) {
	names, err := Allowed(ctx, q.Resources)
	if err != nil {
		return page, err
	}
	var after cursor
	if q.Cursor != "" {
		if after, err = parseCursor(q.Cursor); err != nil {
			return page, err
		}
	}
	unnumbered, err := feedlog.SequenceSome(ctx, f.db.SQL, f.db.Dialect)
	if err != nil {
		return page, err
	}
	caller := principal.Must(ctx)
	limit := q.Limit
	if q.Cursor == "" {
		limit = 0
	}
	asked := names
	if caller.SiteID != nil {
		asked = slices.Concat(names, siteOwners(names))
	}
	s, changes, err := f.read(ctx, caller.PracticeID, asked, after.seq, limit)
	if err != nil {
		return page, err
	}
	if q.Cursor != "" {
		if err := s.check(after); err != nil {
			return page, err
		}
	}
	page.Changes, page.end = changes, s.end(after)
	if page.More = limit > 0 && len(changes) == limit; page.More {
		page.end = changes[limit-1].Version
	}
	page.More = page.More || limit > 0 && unnumbered
	page.Cursor = s.cursor(page.end)
	if caller.SiteID != nil {
		if page.Changes, err = f.withoutMoves(ctx, changes, names); err != nil {
			return page, err
		}
	}
	if q.Records || caller.SiteID != nil {
		if err := addRecords(ctx, reads, page.Changes); err != nil {
			return page, err
		}
	}
	if caller.SiteID != nil {
		page.Changes, err = f.ofSite(ctx, page.Changes)
		for i := range page.Changes {
			if !q.Records {
				page.Changes[i].Record = nil // it was only read to know whether the caller may see it
			}
		}
	}
	return page, err
}

// read returns the state of the feed and changes after a seq, of one snapshot.
func (f *Feed) read(ctx context.Context, practice uuid.UUID, resources []string, after int64, limit int) (s state, changes []Change, err error) {
	list, err := json.Marshal(resources)
	if err != nil {
		return s, nil, err
	}
	rows, err := f.db.Pool(ctx).QueryContext(ctx, `
		SELECT `+stateColumns(f.db)+`, c.seq, c.resource, c.record_id, c.event, c.at, c.site_key, c.origin
		FROM feed_state AS s LEFT JOIN (
			SELECT * FROM feed_changes
			WHERE practice_id = $1 AND seq > $2 AND `+f.among("resource", 3)+`
			ORDER BY seq LIMIT $4
		) AS c ON true ORDER BY c.seq`, practice, after, string(list), limit)
	if err != nil {
		return s, nil, fmt.Errorf("feed: read the changes: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var seq, origin sql.NullInt64
		var resource, id, event, site sql.NullString
		var at sql.NullTime
		if err := rows.Scan(append(s.columns(), &seq, &resource, &id, &event, &at, &site, &origin)...); err != nil {
			return s, nil, fmt.Errorf("feed: read the changes: %w", err)
		}
		if seq.Valid {
			changes = append(changes, Change{Version: seq.Int64, Resource: resource.String, ID: id.String, Event: event.String, At: at.Time, siteKey: site.String, origin: origin.Int64})
		}
	}
	if err := rows.Err(); err != nil {
		return s, nil, fmt.Errorf("feed: read the changes: %w", err)
	}
	return s, changes, s.complete(f.db)
}

// among returns the SQL condition that a column has one of the texts of a JSON array, which is
// the argument at that place.
func (f *Feed) among(column string, place int) string {
	if f.db.Dialect == dialect.SQLite {
		return fmt.Sprintf("%s IN (SELECT value FROM json_each($%d))", column, place)
	}
	return fmt.Sprintf("%s IN (SELECT jsonb_array_elements_text(CAST($%d AS jsonb)))", column, place)
}

// addRecords sets the documents of the records that exist and that the caller may see, with one
// statement for each resource.
func addRecords(ctx context.Context, reads ogent.Reads, changes []Change) error {
	ids := map[string][]string{}
	for _, c := range changes {
		if c.Event != deleted && !slices.Contains(ids[c.Resource], c.ID) {
			ids[c.Resource] = append(ids[c.Resource], c.ID)
		}
	}
	documents := map[[2]string]jx.Raw{}
	for resource, list := range ids {
		found, err := ogent.Resources[resource].ByID(ctx, reads, list)
		if err != nil {
			return err
		}
		for _, d := range found {
			documents[[2]string{resource, d.ID}] = d.JSON
		}
	}
	for i, c := range changes {
		if c.Event != deleted {
			changes[i].Record = documents[[2]string{c.Resource, c.ID}]
		}
	}
	return nil
}

const deleted = "deleted"
