package webhook

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"entgo.io/ent/dialect"
	"github.com/google/uuid"

	"chairside/internal/audit/trail"
	"chairside/internal/clock"
	"chairside/internal/events/feed"
	"chairside/internal/seal"
	"chairside/internal/store"
	"chairside/ogent"
)

const (
	// DeliverEvery is how often a process looks for changes and for due deliveries.
	DeliverEvery = 250 * time.Millisecond
	// lease is how long a process holds a delivery: longer than an attempt takes. After it,
	// another process makes the next attempt.
	lease = 30 * time.Second
	// writeTime bounds one statement or transaction that records what became of a delivery.
	writeTime = 5 * time.Second
	// parallel is the most attempts for one webhook at once, in each process, so that a slow
	// receiver delays no other; allParallel is that for all webhooks.
	parallel, allParallel = 8, 32
	// reserved is how many attempts of allParallel only webhooks make that have none in progress:
	// slow receivers cannot take them all.
	reserved = 8
	// hold is how long nothing is sent to a webhook after its first failure.
	hold = time.Second
)

// A lease is long enough to read a record, to send it and to record the outcome: otherwise this
// does not compile.
const _ = uint(lease - lease/2 - sendTime - writeTime)

// backOff are the pauses between attempts: two days in all. After the last attempt a delivery
// is given up.
var backOff = []time.Duration{
	5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 4 * time.Hour,
	8 * time.Hour, 8 * time.Hour, 12 * time.Hour, 12 * time.Hour,
}

// Options configure a Deliverer.
type Options struct {
	DB           *store.DB
	Feed         *feed.Feed
	Reads        ogent.Reads   // to read the records that are sent
	Trail        *trail.Trail  // records in the audit log what was sent
	AllowPrivate bool          // also send to loopback and private addresses
	Retention    time.Duration // of the log and of waiting events; 0 is feed.DefaultRetention
	Logger       *slog.Logger
}

// Deliverer delivers the events of all webhooks of a database.
type Deliverer struct {
	db     *store.DB
	feed   *feed.Feed
	reads  ogent.Reads
	client *http.Client
	logger *slog.Logger
	trail  *trail.Trail

	lease, hold, retention time.Duration
	backOff                []time.Duration

	collected map[uuid.UUID]int64 // the end of the feed when a webhook was last collected; used by Run alone
	wake      chan struct{}       // an attempt has ended
	running   sync.WaitGroup
	mu        sync.Mutex
	busy      map[uuid.UUID]int // attempts in progress by webhook
	allBusy   int
}

// New returns a Deliverer.
func New(o Options) *Deliverer {
	return &Deliverer{
		db: o.DB, feed: o.Feed, reads: o.Reads, trail: o.Trail, logger: o.Logger, client: newClient(o.AllowPrivate),
		lease: lease, hold: hold, retention: cmp.Or(o.Retention, feed.DefaultRetention), backOff: backOff, wake: make(chan struct{}, 1), busy: map[uuid.UUID]int{},
	}
}

// Run delivers until ctx ends, then waits for the attempts in progress. Any number of processes
// may run it. It calls delivered and swept after each run, logs errors and continues.
func (d *Deliverer) Run(ctx context.Context, delivered, swept func(error)) {
	defer d.running.Wait()
	tick := time.NewTicker(DeliverEvery)
	defer tick.Stop()
	d.running.Go(func() { d.sweepUntil(ctx, swept) })
	for {
		err := errors.Join(d.collect(ctx), d.deliverDue(ctx))
		delivered(err)
		if err != nil && ctx.Err() == nil {
			d.logger.Warn("cannot deliver all events of webhooks; they wait", "error", err)
		}
		for waiting := true; waiting; {
			select {
			case <-ctx.Done():
				return
			case <-d.wake:
				if err := d.deliverDue(ctx); err != nil && ctx.Err() == nil {
					d.logger.Warn("cannot deliver all events of webhooks; they wait", "error", err)
				}
			case <-tick.C:
				waiting = false
			}
		}
	}
}

// deliverDue starts the attempts that are due: first of the webhooks with the fewest in progress,
// and of each no more than its share.
func (d *Deliverer) deliverDue(ctx context.Context) error {
	webhooks, err := d.due(ctx)
	failed := []error{err}
	d.order(webhooks)
	for i, w := range webhooks {
		id := w.id
		claimed, err := d.claim(ctx, id, d.free(w, len(webhooks)-i)) // those claimed before an error are sent
		failed = append(failed, err)
		for _, x := range claimed {
			d.count(id, 1)
			d.running.Go(func() {
				// An attempt that has started is finished, so that it need not be repeated.
				if _, err := d.attempt(context.WithoutCancel(ctx), x); err != nil {
					d.logger.Warn("cannot record an attempt to deliver to a webhook; the event is sent again", "error", err, "webhook_id", id.String())
				}
				d.count(id, -1)
				select {
				case d.wake <- struct{}{}:
				default: // Run has not looked since the last attempt ended
				}
			})
		}
	}
	return errors.Join(failed...)
}

// count adds n to the attempts in progress of a webhook.
func (d *Deliverer) count(id uuid.UUID, n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.allBusy += n
	if d.busy[id] += n; d.busy[id] == 0 {
		delete(d.busy, id)
	}
}

// order puts the webhooks with the fewest attempts in progress first.
func (d *Deliverer) order(webhooks []dueWebhook) {
	d.mu.Lock()
	defer d.mu.Unlock()
	slices.SortStableFunc(webhooks, func(a, b dueWebhook) int { return cmp.Compare(d.busy[a.id], d.busy[b.id]) })
}

// free returns how many attempts for a webhook may start when so many webhooks share what is
// free. While it fails, they are made one at a time.
func (d *Deliverer) free(w dueWebhook, webhooks int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	busy, unreserved := d.busy[w.id], max(0, allParallel-reserved-d.allBusy)
	most := min(parallel-busy, (unreserved+webhooks-1)/webhooks)
	if w.failing {
		most = min(most, 1-busy)
	}
	if busy == 0 { // the first may be a reserved one
		most = max(most, min(1, allParallel-d.allBusy))
	}
	return max(0, most)
}

// dueWebhook is a webhook that has something to send.
type dueWebhook struct {
	id      uuid.UUID
	failing bool // the last attempt failed
}

// due returns the active webhooks that have something to send and are not held.
func (d *Deliverer) due(ctx context.Context) (all []dueWebhook, err error) {
	rows, err := d.db.SQL.QueryContext(ctx, `SELECT id, failures_in_row > 0 FROM webhooks AS w WHERE active AND (held_until IS NULL OR held_until <= $1) AND EXISTS
		(SELECT * FROM webhook_deliveries AS d WHERE d.webhook_id = w.id AND d.settled_at IS NULL AND d.due_at <= $1)`, now())
	if err != nil {
		return nil, fmt.Errorf("webhook: look for deliveries: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var w dueWebhook
		if err := rows.Scan(&w.id, &w.failing); err != nil {
			return nil, fmt.Errorf("webhook: look for deliveries: %w", err)
		}
		all = append(all, w)
	}
	return all, rows.Err()
}

// Overdue returns since when the oldest delivery has been waiting to be claimed, of all practices, or
// the zero time. Deliveries that wait for another attempt or for a webhook that is held are not overdue.
func Overdue(ctx context.Context, db *store.DB) (since time.Time, err error) {
	err = db.SQL.QueryRowContext(ctx, `SELECT d.due_at FROM webhook_deliveries AS d JOIN webhooks AS w ON w.id = d.webhook_id
		WHERE w.active AND (w.held_until IS NULL OR w.held_until <= $1) AND d.settled_at IS NULL AND d.due_at <= $1 AND d.leased_until <= $1
		ORDER BY d.due_at LIMIT 1`, now()).Scan(&since)
	if errors.Is(err, sql.ErrNoRows) {
		return since, nil
	}
	if err != nil {
		return since, fmt.Errorf("webhook: look for overdue deliveries: %w", err)
	}
	return since, nil
}

// maxWaiting is the most deliveries that Waiting counts.
const maxWaiting = 100_000

// Waiting returns the number of deliveries that are not settled, at most 100,000: those under way,
// those that are due and those whose next attempt is later.
func Waiting(ctx context.Context, db *store.DB) (n int, err error) {
	err = db.SQL.QueryRowContext(ctx, "SELECT count(*) FROM (SELECT 1 FROM webhook_deliveries WHERE settled_at IS NULL LIMIT $1) AS waiting", maxWaiting).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("webhook: count deliveries: %w", err)
	}
	return n, nil
}

// now is the machine's time. Leases need the real time, not that of a test.
func now() time.Time { return clock.Truncate(clock.Deadline(0)) }

// claim leases deliveries of a webhook that are due: of each record only the oldest, so that
// its events stay in order.
// Those that the webhook no longer wants are dropped: its URL may have changed with its events.
func (d *Deliverer) claim(ctx context.Context, webhook uuid.UUID, limit int) (claimed []delivery, err error) {
	if limit == 0 {
		return nil, nil
	}
	skip := ""
	if d.db.Dialect == dialect.Postgres {
		skip = "FOR UPDATE SKIP LOCKED"
	}
	at := now()
	until := at.Add(d.lease)
	leased, err := d.leased(ctx, `
		WITH due AS MATERIALIZED (
			SELECT d.id FROM webhook_deliveries AS d
			WHERE d.webhook_id = $1 AND d.settled_at IS NULL AND d.due_at <= $2 AND d.leased_until <= $2 AND NOT EXISTS (
				SELECT * FROM webhook_deliveries AS o
				WHERE o.webhook_id = d.webhook_id AND o.resource = d.resource AND o.record_id = d.record_id AND o.settled_at IS NULL AND o.id < d.id)
			ORDER BY d.due_at, d.id LIMIT $3 `+skip+`
		)
		UPDATE webhook_deliveries SET leased_until = $4, attempt = attempt + 1 WHERE id IN (SELECT id FROM due)
		RETURNING id, attempt`, webhook, at, limit, until)
	if err != nil {
		return nil, fmt.Errorf("webhook: claim deliveries: %w", err)
	}
	var failed []error
	for _, l := range leased {
		x, err := d.read(ctx, l.id)
		x.number, x.until = l.number, until
		switch {
		case errors.Is(err, sql.ErrNoRows): // the webhook has been deleted
		case err != nil: // it has not failed, and the others are sent
			failed = append(failed, err, d.postpone(ctx, x))
		case !x.wanted():
			if _, err := d.db.SQL.ExecContext(ctx, "DELETE FROM webhook_deliveries WHERE id = $1", x.id); err != nil {
				failed = append(failed, fmt.Errorf("webhook: drop a delivery: %w", err), d.postpone(ctx, x))
			}
		default:
			claimed = append(claimed, x)
		}
	}
	return claimed, errors.Join(failed...)
}

// leased returns the ids and the attempts' numbers that a statement returns. The numbers are
// those of its leases: read later, they could be of another process's.
func (d *Deliverer) leased(ctx context.Context, statement string, args ...any) (all []delivery, err error) {
	rows, err := d.db.SQL.QueryContext(ctx, statement, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var x delivery
		if err := rows.Scan(&x.id, &x.number); err != nil {
			return nil, err
		}
		all = append(all, x)
	}
	return all, rows.Err()
}

// read reads a delivery and what sending it needs, without its lease.
func (d *Deliverer) read(ctx context.Context, id int64) (x delivery, err error) {
	x.id = id
	var previousUntil sql.NullTime
	var events []byte
	err = d.db.SQL.QueryRowContext(ctx, `
		SELECT d.practice_id, d.webhook_id, d.event_id, d.event, d.resource, d.record_id, d.user_id, d.changed_at,
			w.url, w.events, w.secret, w.previous_secret, w.previous_until, p.time_zone, p.country
		FROM webhook_deliveries AS d JOIN webhooks AS w ON w.id = d.webhook_id JOIN practices AS p ON p.id = d.practice_id
		WHERE d.id = $1`, id).
		Scan(&x.practice, &x.webhook, &x.eventID, &x.event, &x.resource, &x.record, &x.user, &x.changedAt,
			&x.url, &events, &x.secret, &x.previous, &previousUntil, &x.zoneName, &x.country)
	if !previousUntil.Valid || !previousUntil.Time.After(now()) {
		x.previous = seal.Value{}
	}
	if err == nil {
		err = json.Unmarshal(events, &x.events)
	}
	if err != nil {
		return x, fmt.Errorf("webhook: read a delivery: %w", err)
	}
	return x, nil
}
