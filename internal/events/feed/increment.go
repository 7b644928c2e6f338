package feed

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"chairside/ent"
	"chairside/internal/audit"
	"chairside/internal/principal"
	"chairside/ogent"
)

// Increment sends the records of the resources that have changed since a cursor, each once and as it
// is in one snapshot of the database, and the ids of those that are gone. Applied to what the
// cursor belongs to, it gives the records of the snapshot, except for members that are not the record's own
// (codec.Member). It returns apierror.CursorExpired for a cursor that the feed cannot go on from.
//
// The caller sees all sites. A change that is committed and has no number yet may be in the records; it comes
// again behind the cursor that Start receives.
func (f *Feed) Increment(ctx context.Context, reads ogent.Reads, resources []string, since string, to Stream) error {
	after, err := parseCursor(since)
	if err != nil {
		return err
	}
	return f.inSnapshot(ctx, func(client *ent.Client, tx *sql.Tx, s state) error {
		if err := s.check(after); err != nil {
			return err
		}
		if err := to.Start(s.cursor(s.end(after))); err != nil {
			return err
		}
		i := increment{ctx: ctx, tx: tx, reads: reads.In(client), after: after.seq, last: s.last, to: to}
		changed, err := i.texts("SELECT DISTINCT resource FROM feed_changes WHERE practice_id = $1 AND seq > $2 AND seq <= $3")
		if err != nil {
			return err
		}
		for _, name := range resources {
			if err := i.send(name, changed); err != nil {
				return err
			}
		}
		return nil
	})
}

// increment is a running Increment.
type increment struct {
	ctx         context.Context
	tx          *sql.Tx
	reads       ogent.Reads
	after, last int64 // the changes: of numbers beyond after, up to last
	to          Stream
}

// texts returns the texts that a query of the practice's changes finds.
func (i *increment) texts(query string, args ...any) (all []string, err error) {
	rows, err := i.tx.QueryContext(i.ctx, query, append([]any{principal.Must(i.ctx).PracticeID, i.after, i.last}, args...)...)
	if err != nil {
		return nil, fmt.Errorf("feed: read the changed records: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, fmt.Errorf("feed: read the changed records: %w", err)
		}
		all = append(all, text)
	}
	return all, rows.Err()
}

// send sends the changed records of one resource: all records, if a member depends on a resource that
// has changed.
func (i *increment) send(resource string, changed []string) error {
	depends := func(on string) bool { return slices.Contains(changed, on) }
	all := false
	for _, m := range ogent.Resources[resource].Members {
		all = all || slices.ContainsFunc(m.DependsOn, depends)
	}
	if all {
		if err := sendAll(i.ctx, i.reads, resource, i.to); err != nil {
			return err
		}
	}
	if !slices.Contains(changed, resource) {
		return nil
	}
	after := ""
	for {
		ids, err := i.texts("SELECT DISTINCT record_id FROM feed_changes WHERE practice_id = $1 AND seq > $2 AND seq <= $3 AND resource = $4 AND record_id > $5 ORDER BY record_id LIMIT $6", resource, after, snapshotPage)
		if err != nil || len(ids) == 0 {
			return err
		}
		after = ids[len(ids)-1]
		if err := i.sendSome(resource, ids, !all); err != nil {
			return err
		}
	}
}

// sendSome sends the records with these ids, if asked to, and the ids of those that are gone.
func (i *increment) sendSome(resource string, ids []string, records bool) error {
	ctx, read := audit.With(i.ctx)
	found, err := ogent.Resources[resource].ByID(ctx, i.reads, ids)
	if err != nil {
		return err
	}
	if records && len(found) > 0 {
		if err := i.to.Records(resource, found, read); err != nil {
			return err
		}
	}
	for _, d := range found {
		ids = slices.DeleteFunc(ids, func(id string) bool { return id == d.ID })
	}
	if len(ids) == 0 {
		return nil
	}
	return i.to.Deleted(resource, ids)
}
