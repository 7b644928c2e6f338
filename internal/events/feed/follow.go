package feed

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"

	"entgo.io/ent/dialect"
	"github.com/google/uuid"

	"chairside/internal/store/feedlog"
	"chairside/ogent"
)

// Last numbers what is committed, and returns the last seq: a cheap way to see that nothing has
// changed.
func (f *Feed) Last(ctx context.Context) (seq int64, err error) { return f.last(ctx) }

// End returns the cursor of the current end. Everything that commits later is behind it.
func (f *Feed) End(ctx context.Context) (cursor string, err error) {
	if err := feedlog.Sequence(ctx, f.db.SQL, f.db.Dialect); err != nil {
		return "", err
	}
	s, _, err := f.read(ctx, uuid.Nil, []string{}, 0, 0)
	return s.cursor(s.last), err
}

// Behind returns changes of a practice, of all its resources and sites, without records. It is
// for work in the background on the primary, which must go on where it can: a cursor that it cannot go on
// from starts a page with a Gap, at its number, or at the current end if that is before it. Changes
// may then be missing.
func (f *Feed) Behind(ctx context.Context, practice uuid.UUID, after string, limit int) (page Page, err error) {
	c, err := parseCursor(after)
	if err != nil {
		page.Gap = true
		page.Cursor, err = f.End(ctx)
		return page, err
	}
	s, changes, err := f.read(ctx, practice, slices.Collect(maps.Keys(ogent.Resources)), c.seq, limit)
	if err != nil {
		return page, err
	}
	page.Gap = s.check(c) != nil || c.seq > s.last
	page.Changes, page.end, page.More, page.state = changes, s.last, len(changes) == limit, s
	if page.More {
		page.end = changes[limit-1].Version
	}
	page.Cursor = s.cursor(page.end)
	return page, nil
}

// After returns the cursor behind a change of a page of Behind.
func (p Page) After(c Change) string { return p.state.cursor(c.Version) }

// User returns the user who made a change, or nil if it was not made through Chairside, or only
// to rows that are part of the record. On PostgreSQL the entry of the audit log has the change's
// transaction. On SQLite it is the first
// one of the record after the change, unless the record has changed again before it.
func (f *Feed) User(ctx context.Context, practice uuid.UUID, c Change) (user *int64, err error) {
	query := `SELECT user_id FROM audit_events WHERE practice_id = $1 AND record_id = $2
		AND resource = $4 AND xid = $3 ORDER BY id DESC LIMIT 1`
	entity := ogent.Resources[c.Resource].Entity
	args := []any{practice, c.ID, c.origin, entity}
	if f.db.Dialect == dialect.SQLite {
		query = `SELECT user_id FROM (SELECT id, user_id FROM audit_events WHERE practice_id = $1 AND record_id = $2 AND id > $3 AND resource = $4 ORDER BY id LIMIT 1) AS entry
			WHERE NOT EXISTS (SELECT * FROM feed_changes WHERE practice_id = $1 AND seq > $5 AND resource = $6 AND record_id = $2 AND origin < entry.id)`
		args = append(args, c.Version, c.Resource)
	}
	err = f.db.Pool(ctx).QueryRowContext(ctx, query, args...).Scan(&user)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("feed: find the user of a change: %w", err)
	}
	return user, nil
}
