package feed

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/internal/audit"
	"chairside/internal/list"
	"chairside/internal/store"
	"chairside/internal/store/feedlog"
	"chairside/ogent"
)

// snapshotPage is the number of records that are read together.
const snapshotPage = 500

// Stream receives a snapshot or an increment.
type Stream struct {
	// Start receives the cursor to go on from, before all records.
	Start func(cursor string) error
	// Records receives some records of a resource, and the log of reading them.
	Records func(resource string, records []list.Document, read *audit.Log) error
	// Deleted receives the ids of records that an increment no longer finds.
	Deleted func(resource string, ids []string) error
}

// Snapshot sends all records of the resources that the caller may see, in pieces, all of one
// snapshot of the database. A change behind the cursor may already be in the records; none
// before it is missing.
func (f *Feed) Snapshot(ctx context.Context, reads ogent.Reads, resources []string, to Stream) error {
	return f.inSnapshot(ctx, func(client *ent.Client, _ *sql.Tx, s state) error {
		if err := to.Start(s.cursor(s.last)); err != nil {
			return err
		}
		for _, name := range resources {
			if err := sendAll(ctx, reads.In(client), name, to); err != nil {
				return err
			}
		}
		return nil
	})
}

// inSnapshot runs work on one snapshot of the database, with the state of the feed in it.
func (f *Feed) inSnapshot(ctx context.Context, work func(client *ent.Client, tx *sql.Tx, s state) error) error {
	// Numbering what is committed keeps changes that the records have from coming again.
	if err := feedlog.Sequence(ctx, f.db.SQL, f.db.Dialect); err != nil {
		return err
	}
	return f.db.Snapshot(ctx, func(client *ent.Client, tx *sql.Tx) error {
		var s state
		if err := tx.QueryRowContext(ctx, "SELECT "+stateColumns(f.db)+" FROM feed_state AS s").Scan(s.columns()...); err != nil {
			return fmt.Errorf("feed: read the state: %w", err)
		}
		if err := s.complete(f.db); err != nil {
			return err
		}
		if store.VisitsReplica(ctx) {
			// The timeline of a replica changes some time after a failover, and the cursor is used on the primary.
			primary, _, err := f.read(ctx, uuid.Nil, []string{}, 0, 0)
			if err != nil {
				return err
			}
			s.identity = primary.identity
		}
		return work(client, tx, s)
	})
}

// sendAll sends all records of one resource.
func sendAll(ctx context.Context, reads ogent.Reads, resource string, to Stream) error {
	after := ""
	for {
		pageCtx, read := audit.With(ctx)
		found, err := ogent.Resources[resource].After(pageCtx, reads, after, snapshotPage)
		if err != nil {
			return err
		}
		if err := to.Records(resource, found, read); err != nil || len(found) < snapshotPage {
			return err
		}
		after = found[len(found)-1].ID
	}
}
