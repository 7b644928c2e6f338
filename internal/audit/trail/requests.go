package trail

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"time"

	"entgo.io/ent/dialect"
	"github.com/google/uuid"

	"chairside/internal/clock"
	"chairside/internal/store"
)

const (
	// RequestsKept is how long the request log keeps entries.
	RequestsKept = 7 * 24 * time.Hour
	// RequestsPerPractice is the most entries that the request log keeps for each practice, and
	// trimAfter the number of new ones after which a process deletes those beyond it.
	RequestsPerPractice, trimAfter = 10_000, 500
	// likeSuccesses and likeErrors are the most entries of requests that are alike, of each
	// second. Further ones are counted in the last entry.
	likeSuccesses, likeErrors = 5, 50
	// maxRequestsWaiting is the most entries that wait to be written.
	maxRequestsWaiting = 5_000
	// expireEvery is how often old entries are deleted, and expireBatch the most that one
	// statement deletes.
	expireEvery, expireBatch = time.Minute, 5_000
)

// Request is an entry of the request log. Its JSON has the columns of the table.
type Request struct {
	Practice    uuid.UUID  `json:"practice_id"`
	Token       uuid.UUID  `json:"token_id"`
	Application *uuid.UUID `json:"application_id"`
	User        int64      `json:"user_id"`
	At          time.Time  `json:"-"`
	Micros      int64      `json:"at"` // At, in microseconds since 1970
	ID          string     `json:"request_id"`
	Method      string     `json:"method"`
	Route       string     `json:"route"`
	Status      int        `json:"status"`
	ErrorCode   *string    `json:"error_code"`
	Duration    int64      `json:"duration_us"`
	Further     int        `json:"further"`
}

// likeness is what requests that are alike have in common.
type likeness struct {
	token         uuid.UUID
	method, route string
	status        int
	code          string
}

// like are the requests of the last second that are alike.
type like struct {
	entries int
	last    *Request
}

// Requests is the request log: it collects entries and writes them every second in one statement,
// so that no request waits for it. A crash loses the entries of the last second. It is safe for
// concurrent use.
type Requests struct {
	db     *store.DB
	logger *slog.Logger

	mu      sync.Mutex
	waiting []*Request
	alike   map[likeness]*like
	lost    int // entries that were given up since the last flush

	flushing sync.Mutex        // held by Flush
	added    map[uuid.UUID]int // entries that were written since a practice was trimmed; of Flush
}

// NewRequests returns a request log that writes to db.
func NewRequests(db *store.DB, logger *slog.Logger) *Requests {
	return &Requests{db: db, logger: logger, alike: map[likeness]*like{}, added: map[uuid.UUID]int{}}
}

// Add adds a request.
func (q *Requests) Add(r Request) {
	key, most := likeness{token: r.Token, method: r.Method, route: r.Route, status: r.Status}, likeSuccesses
	if r.ErrorCode != nil {
		key.code, most = *r.ErrorCode, likeErrors
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.alike[key]
	switch {
	case l != nil && l.entries >= most:
		l.last.Further++
		return
	case len(q.waiting) >= maxRequestsWaiting:
		q.lost++
		return
	case l == nil:
		l = &like{}
		q.alike[key] = l
	}
	l.entries, l.last = l.entries+1, &r
	q.waiting = append(q.waiting, &r)
}

// Run writes entries every second, and deletes old ones every minute, until ctx ends. It
// calls ran after each write. Call Flush once the last request has ended.
func (q *Requests) Run(ctx context.Context, ran func(error)) {
	write, expire := time.NewTicker(FlushEvery), time.NewTicker(expireEvery)
	defer write.Stop()
	defer expire.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-write.C:
			ran(q.Flush(ctx))
		case <-expire.C:
			if err := q.Expire(clock.Refresh(ctx)); err != nil && ctx.Err() == nil {
				q.logger.Warn("cannot delete old entries of the request log", "error", err)
			}
		}
	}
}

// take returns the entries that wait, and the number of those that were given up.
func (q *Requests) take() (taken []*Request, lost int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	taken, lost = q.waiting, q.lost
	q.waiting, q.lost = nil, 0
	clear(q.alike)
	return taken, lost
}

// Flush writes the entries collected so far. If the database fails it gives them up: the server's
// log has a line about each request. It logs its errors.
func (q *Requests) Flush(ctx context.Context) error {
	q.flushing.Lock()
	defer q.flushing.Unlock()
	taken, lost := q.take()
	ctx, cancel := context.WithTimeout(ctx, flushTime)
	defer cancel()
	var err error
	for len(taken) > 0 && err == nil {
		some := taken[:min(len(taken), maxWritten)]
		if err = q.write(ctx, some); err == nil {
			taken = taken[len(some):]
			err = q.trim(ctx, some)
		}
	}
	if lost += len(taken); lost > 0 || err != nil {
		q.logger.Warn("entries of the request log were given up", "entries", lost, "error", err)
	}
	return err
}

// write inserts entries in one statement, whose text does not depend on their number.
func (q *Requests) write(ctx context.Context, some []*Request) error {
	for _, r := range some {
		r.Micros = r.At.UnixMicro()
	}
	rows, err := json.Marshal(some)
	if err != nil {
		return err
	}
	const columns = "practice_id, token_id, application_id, user_id, at, request_id, method, route, status, error_code, duration_us, further"
	source := `SELECT practice_id, token_id, application_id, user_id, TIMESTAMPTZ 'epoch' + at * INTERVAL '1 microsecond', request_id, method, route, status, error_code, duration_us, further
		FROM jsonb_to_recordset(CAST($1 AS jsonb)) AS r(practice_id uuid, token_id uuid, application_id uuid, user_id bigint, at bigint, request_id text, method text, route text, status bigint, error_code text, duration_us bigint, further bigint)`
	if q.db.Dialect != dialect.Postgres {
		source = `SELECT value->>'practice_id', value->>'token_id', value->>'application_id', value->>'user_id', value->>'at', value->>'request_id', value->>'method', value->>'route', value->>'status', value->>'error_code', value->>'duration_us', value->>'further'
		FROM json_each($1)`
	}
	_, err = q.db.SQL.ExecContext(ctx, "INSERT INTO logged_requests ("+columns+") "+source, string(rows))
	return err
}

// trim deletes the oldest entries of practices that have too many.
func (q *Requests) trim(ctx context.Context, written []*Request) error {
	for _, r := range written {
		q.added[r.Practice]++
	}
	var all error
	for practice, n := range q.added {
		if n < trimAfter {
			continue
		}
		delete(q.added, practice)
		all = errors.Join(all, q.Trim(ctx, practice))
	}
	return all
}

// Trim deletes the entries of a practice beyond RequestsPerPractice, the oldest ones.
func (q *Requests) Trim(ctx context.Context, practice uuid.UUID) error {
	// The boundary is a query of its own: a statement that locks rows would lock the kept ones too.
	var through int64
	err := q.db.SQL.QueryRowContext(ctx, "SELECT coalesce(min(id), 0) FROM (SELECT id FROM logged_requests WHERE practice_id = $1 ORDER BY id DESC LIMIT 1 OFFSET $2) AS oldest", practice, RequestsPerPractice).Scan(&through)
	if err != nil || through == 0 {
		return err
	}
	return q.delete(ctx, "practice_id = $1 AND id <= $2", practice, through)
}

// Expire deletes the entries older than RequestsKept.
func (q *Requests) Expire(ctx context.Context) error {
	return q.delete(ctx, "at < $1", clock.Now(ctx).Add(-RequestsKept))
}

// delete deletes entries in batches. Several processes may do so: each skips what others delete.
func (q *Requests) delete(ctx context.Context, condition string, args ...any) error {
	lock := ""
	if q.db.Dialect == dialect.Postgres {
		lock = " FOR UPDATE SKIP LOCKED"
	}
	for {
		result, err := q.db.SQL.ExecContext(ctx, "DELETE FROM logged_requests WHERE id IN (SELECT id FROM logged_requests WHERE "+condition+" LIMIT 5000"+lock+")", args...)
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil || n < expireBatch {
			return err
		}
	}
}
