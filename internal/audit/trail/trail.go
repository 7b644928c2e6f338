package trail

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"entgo.io/ent/dialect"
	"github.com/google/uuid"

	"chairside/internal/audit"
	"chairside/internal/principal"
	"chairside/internal/store"
)

const (
	// FlushEvery is how often entries are written.
	FlushEvery = time.Second
	// flushTime bounds one transaction.
	flushTime = 20 * time.Second
	// maxRequests and maxRecords are the most requests and records of one entry.
	maxRequests, maxRecords = 100, 2000
	// maxWritten is the most entries of one transaction.
	maxWritten = 500
	// maxWaiting is the most entries that wait while the database fails. While Flush is not called, such
	// as on a replica, it is twice as many.
	maxWaiting = 20_000
)

// Who is the caller of a request.
type Who struct {
	Practice       uuid.UUID // zero if none is known
	User           int64     // 0 if none is known
	Token, Session uuid.UUID // zero without one
	Application    uuid.UUID // zero without one
	SiteLifted     bool      // the token's limit to a site is lifted
}

// Caller returns the caller of a request; p may be nil.
func Caller(ctx context.Context, p *principal.Principal) (w Who) {
	w.Session, _ = principal.Session(ctx)
	if p == nil {
		return w
	}
	w.Practice, w.User, w.Token, w.SiteLifted = p.PracticeID, p.UserID, p.TokenID, p.SiteLifted
	if p.ApplicationID != nil {
		w.Application = *p.ApplicationID
	}
	return w
}

// Entry is an entry of the audit log.
type Entry struct {
	Who
	At        time.Time
	Action    string // of schema.AuditActions
	Resource  string // kind of the record; "" for none
	Record    string // its id, name of a report, id of a user; "" for none
	Patient   int64  // the patient of the record; 0 for none
	Request   string // id of the request; "" on the command line
	Operation string
	Status    int            // of a refusal; 0 for others
	Details   map[string]any // of an entry that is no read; nil for none
}

// details returns the details of an entry that is no read.
func (e *Entry) details() ([]byte, error) {
	all := map[string]any{}
	maps.Copy(all, e.Details)
	if e.SiteLifted {
		all["site_limit_lifted"] = true
	}
	return json.Marshal(all)
}

// batch is the entry of reads that are collected.
type batch struct {
	Entry
	reads    audit.Reads
	requests []string
}

// batchKey is what the reads of one entry have in common.
type batchKey struct {
	Who
	operation, record string
}

// Trail collects entries. It is safe for concurrent use.
type Trail struct {
	db     *store.DB
	logger *slog.Logger

	mu      sync.Mutex
	batches map[batchKey]*batch
	waiting []*batch
	writing sync.Mutex // held by Flush

	batchesWritten, entriesWritten, entriesLost atomic.Int64
}

// New returns a Trail that writes to db.
func New(db *store.DB, logger *slog.Logger) *Trail {
	return &Trail{db: db, logger: logger, batches: map[batchKey]*batch{}}
}

// Add adds an entry.
func (t *Trail) Add(e Entry) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wait(&batch{Entry: e})
}

// wait adds an entry to those that wait to be written. t.mu is held.
func (t *Trail) wait(b *batch) {
	if len(t.waiting) >= 2*maxWaiting {
		clear(t.batches) // so that no later read is added to an entry that is given up
		t.giveUp()
	}
	t.waiting = append(t.waiting, b)
}

// giveUp drops the oldest entries of more than maxWaiting. t.mu is held.
func (t *Trail) giveUp() {
	if lost := len(t.waiting) - maxWaiting; lost > 0 {
		t.logger.Error("entries of the audit log were given up: the log has a line about each", "entries", lost)
		t.waiting = slices.Clone(t.waiting[lost:])
		t.entriesLost.Add(int64(lost))
	}
}

// Read adds the reads of a request.
func (t *Trail) Read(e Entry, log *audit.Log) {
	key := batchKey{e.Who, e.Operation, e.Record}
	t.mu.Lock()
	defer t.mu.Unlock()
	b := t.batches[key]
	if b == nil {
		b = &batch{Entry: e}
		b.Action = "read"
		t.wait(b)
		t.batches[key] = b
	}
	log.AddTo(&b.reads)
	if b.requests = append(b.requests, e.Request); len(b.requests) >= maxRequests || b.reads.Size() >= maxRecords {
		delete(t.batches, key)
	}
}

// Run writes entries every second until ctx ends, and calls ran each time. Call Flush once the last
// request has ended.
func (t *Trail) Run(ctx context.Context, ran func(error)) {
	tick := time.NewTicker(FlushEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			ran(t.Flush(ctx))
		}
	}
}

// Flush writes the entries collected so far. While the database fails they wait; of more than
// 20,000 it gives up the oldest, which the server's log has.
func (t *Trail) Flush(ctx context.Context) error {
	t.writing.Lock()
	defer t.writing.Unlock()
	t.mu.Lock()
	taken := t.waiting
	t.waiting = nil
	clear(t.batches)
	t.mu.Unlock()
	if len(taken) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, flushTime)
	defer cancel()
	// After an outage many wait: what is written of them stays written.
	var err error
	for len(taken) > 0 && err == nil {
		some := taken[:min(len(taken), maxWritten)]
		if err = t.write(ctx, some); err == nil {
			taken = taken[len(some):]
			t.batchesWritten.Add(1)
			t.entriesWritten.Add(int64(len(some)))
		}
	}
	if err == nil {
		return nil
	}
	if !errors.Is(context.Cause(ctx), context.Canceled) { // at the end of Run, the last Flush writes them
		t.logger.Error("cannot write the audit log; its entries wait", "error", err, "entries", len(taken))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waiting = append(taken, t.waiting...)
	t.giveUp()
	return err
}

// Written returns the numbers of transactions that have written entries, of those entries, and of
// entries that were given up.
func (t *Trail) Written() (batches, entries, lost int64) {
	return t.batchesWritten.Load(), t.entriesWritten.Load(), t.entriesLost.Load()
}

// Waiting returns the number of entries that are not written yet.
func (t *Trail) Waiting() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.waiting)
}

func (t *Trail) write(ctx context.Context, all []*batch) error {
	tx, err := t.db.SQL.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // after a commit it does nothing
	for _, b := range all {
		if err := insert(ctx, t.db.Dialect, tx, b); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// Write writes an entry at once, for work that is no request.
func Write(ctx context.Context, db *store.DB, e Entry) error {
	tx, err := db.SQL.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // after a commit it does nothing
	if err := WriteIn(ctx, db, tx, e); err != nil {
		return err
	}
	return tx.Commit()
}

// WriteRead writes at once what work that is no request has read.
func WriteRead(ctx context.Context, db *store.DB, e Entry, log *audit.Log) error {
	b := &batch{Entry: e}
	b.Action = "read"
	log.AddTo(&b.reads)
	tx, err := db.SQL.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // after a commit it does nothing
	if err := insert(ctx, db.Dialect, tx, b); err != nil {
		return err
	}
	return tx.Commit()
}

// WriteIn writes an entry in tx, the transaction that makes the change, so that neither is stored
// without the other.
func WriteIn(ctx context.Context, db *store.DB, tx *sql.Tx, e Entry) error {
	return insert(ctx, db.Dialect, tx, &batch{Entry: e})
}

// insert writes an entry and, for reads, the rows that find it by patient.
func insert(ctx context.Context, dialectName string, tx *sql.Tx, b *batch) error {
	details, err := b.details()
	if err != nil {
		return err
	}
	if b.Action == "read" {
		if err := addPatientsOfItems(ctx, dialectName, tx, b); err != nil {
			return err
		}
		details = b.reads.AppendJSON(nil, b.requests, b.SiteLifted)
	}
	var id int64
	err = tx.QueryRowContext(ctx, `INSERT INTO audit_events (practice_id, at, action, resource, record_id, patient_id, user_id, token_id, session_id, application_id, request_id, operation, status, fields, details)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, '[]', $14) RETURNING id`,
		b.Practice, b.At, b.Action, orNull(b.Resource), orNull(b.Record), orNull(b.Patient), orNull(b.User), orNull(b.Token), orNull(b.Session), orNull(b.Application), orNull(b.Request), orNull(b.Operation), orNull(b.Status), string(details)).Scan(&id)
	if err != nil || b.Action != "read" {
		return err
	}
	patients := b.reads.Patients()
	if len(patients) == 0 {
		return nil
	}
	query, open, end := "SELECT CAST($1 AS uuid), CAST($2 AS bigint), CAST($3 AS timestamptz), id FROM unnest(CAST($4 AS bigint[])) AS id", byte('{'), byte('}')
	if dialectName != dialect.Postgres {
		query, open, end = "SELECT $1, $2, $3, value FROM json_each($4)", '[', ']'
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO audit_reads (practice_id, event_id, at, patient_id) "+query, b.Practice, id, b.At, list(patients, open, end))
	return err
}

// addPatientsOfItems adds the patients of invoice items, whose rows do not name them.
func addPatientsOfItems(ctx context.Context, dialectName string, tx *sql.Tx, b *batch) error {
	items := b.reads.UUIDs("invoice_items")
	if len(items) == 0 {
		return nil
	}
	condition, open, end := "ii.id = ANY(CAST($2 AS uuid[]))", byte('{'), byte('}')
	if dialectName != dialect.Postgres {
		condition, open, end = "ii.id IN (SELECT value FROM json_each($2))", '[', ']'
	}
	rows, err := tx.QueryContext(ctx, "SELECT DISTINCT i.patient_id FROM invoice_items AS ii JOIN invoices AS i ON i.id = ii.invoice_id WHERE i.practice_id = $1 AND "+condition, b.Practice, quoted(items, open, end))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return err
		}
		b.reads.AddPatients([]int64{id})
	}
	return rows.Err()
}
