package webhook

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/google/uuid"
)

// collectPage is the number of changes that become deliveries together.
const collectPage = 500

// follower is an active webhook on its way through the feed.
type follower struct {
	id, practice uuid.UUID
	events       []string
	cursor       string
}

// collect turns changes behind the cursor of each active webhook into deliveries: a page for
// each, so that a bulk load delays no other webhook.
func (d *Deliverer) collect(ctx context.Context) error {
	followers, err := d.followers(ctx)
	if err != nil || len(followers) == 0 {
		d.collected = nil
		return err
	}
	last, err := d.feed.Last(ctx)
	if err != nil {
		return err
	}
	collected, failed := map[uuid.UUID]int64{}, []error(nil)
	for _, w := range followers {
		more := false
		if seen, known := d.collected[w.id]; !known || seen != last {
			more, err = d.collectFor(ctx, &w)
		}
		switch {
		case errors.Is(err, errMoved): // the next poll collects it
		case err != nil:
			failed = append(failed, err) // one webhook does not stop the others
		case !more:
			collected[w.id] = last
		}
		err = nil
	}
	d.collected = collected
	return errors.Join(failed...)
}

func (d *Deliverer) followers(ctx context.Context) (all []follower, err error) {
	rows, err := d.db.SQL.QueryContext(ctx, "SELECT id, practice_id, events, feed_cursor FROM webhooks WHERE active")
	if err != nil {
		return nil, fmt.Errorf("webhook: read the webhooks: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var w follower
		var events []byte
		if err := rows.Scan(&w.id, &w.practice, &events, &w.cursor); err != nil {
			return nil, fmt.Errorf("webhook: read the webhooks: %w", err)
		}
		if err := json.Unmarshal(events, &w.events); err != nil {
			return nil, fmt.Errorf("webhook: read the events of %s: %w", w.id, err)
		}
		all = append(all, w)
	}
	return all, rows.Err()
}

// collectFor collects one page for a webhook, and moves its cursor in the same transaction. It
// returns errMoved, and has stored nothing, if another process has moved it meanwhile or the
// webhook has other events since.
func (d *Deliverer) collectFor(ctx context.Context, w *follower) (more bool, err error) {
	page, err := d.feed.Behind(ctx, w.practice, w.cursor, collectPage)
	switch {
	case err != nil:
		return false, err
	case page.Gap && w.cursor != "": // a new one has no position yet
		d.logger.Warn("changes may be missing for a webhook: they are no longer kept, or the database was restored or failed over", slog.String("webhook_id", w.id.String()))
	case page.Cursor == w.cursor:
		return false, nil
	}
	users := make([]*int64, len(page.Changes))
	for i, c := range page.Changes {
		if Wants(w.events, c.Resource, c.Event) {
			if users[i], err = d.feed.User(ctx, w.practice, c); err != nil {
				return false, err
			}
		}
	}
	err = d.transaction(ctx, func(tx *sql.Tx) error {
		var stored []byte
		var events []string
		err := tx.QueryRowContext(ctx, "UPDATE webhooks SET feed_cursor = $1 WHERE id = $2 AND feed_cursor = $3 RETURNING events", page.Cursor, w.id, w.cursor).Scan(&stored)
		if errors.Is(err, sql.ErrNoRows) {
			return errMoved
		}
		if err == nil {
			err = json.Unmarshal(stored, &events)
		}
		if err != nil {
			return fmt.Errorf("webhook: move the cursor of %s: %w", w.id, err)
		}
		if !slices.Equal(events, w.events) {
			return errMoved
		}
		for i, c := range page.Changes {
			if !Wants(w.events, c.Resource, c.Event) {
				continue
			}
			err := insert(ctx, tx, delivery{
				practice: w.practice, webhook: w.id, eventID: EventID(w.id, page.After(c)), event: c.Resource + "." + c.Event,
				resource: c.Resource, record: c.ID, user: users[i], changedAt: c.At,
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return page.More, err
}

// errMoved undoes a page that is collected again: another process has collected it, or the
// webhook's events have changed.
var errMoved = errors.New("webhook: the cursor or the events have changed")

// EventID returns the id of the change before a cursor for a webhook: the same whenever it is
// collected, but not that of a change with its number in a database that was restored.
func EventID(webhook uuid.UUID, cursor string) string {
	return "evt_" + uuid.NewSHA1(webhook, []byte(cursor)).String()
}

// insert stores a delivery that is due now, or with the earlier ones of its record.
func insert(ctx context.Context, tx *sql.Tx, x delivery) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO webhook_deliveries
		(practice_id, webhook_id, event_id, event, resource, record_id, user_id, changed_at, leased_until, attempt, succeeded, due_at)
		VALUES ($1, $2, $3, $4, CAST($5 AS text), CAST($6 AS text), $7, $8, $9, 0, false, coalesce((
			SELECT max(due_at) FROM webhook_deliveries WHERE webhook_id = $2 AND resource = CAST($5 AS text) AND record_id = CAST($6 AS text) AND settled_at IS NULL AND due_at > $9), $9))`,
		x.practice, x.webhook, x.eventID, x.event, x.resource, x.record, x.user, x.changedAt, now())
	return err
}

// transaction runs work in a transaction.
func (d *Deliverer) transaction(ctx context.Context, work func(tx *sql.Tx) error) error {
	tx, err := d.db.SQL.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // after a commit it does nothing
	if err := work(tx); err != nil {
		return err
	}
	return tx.Commit()
}
