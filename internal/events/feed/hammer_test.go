package feed

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"chairside/internal/store"
	"chairside/internal/store/feedlog"
	"chairside/internal/store/storetest"
	"chairside/internal/test/testdb"
)

// commit is one committed write of a record: the transaction and what it did.
type commit struct {
	origin int64
	event  string
}

// hammer is writers in several processes, each with its own pool, and what they committed.
type hammer struct {
	t        *testing.T
	stores   []*store.DB
	practice uuid.UUID
	until    time.Time

	mu      sync.Mutex
	commits map[string]map[int]commit // by id of the record, then by its version
}

// TestFeedIsExactUnderLoad: whatever commits late, is rolled back or killed, readers see each
// committed write once, and the writes of a record in the order of their commits.
func TestFeedIsExactUnderLoad(t *testing.T) {
	t.Parallel()
	for name, database := range map[string]func(testing.TB) string{"sqlite": testdb.Practice.SQLite, "postgres": testdb.Practice.Postgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := database(t)
			h := &hammer{t: t, until: time.Now().Add(3 * time.Second), commits: map[string]map[int]commit{}}
			for range 3 {
				h.stores = append(h.stores, storetest.Open(t, url))
			}
			if err := h.stores[0].SQL.QueryRow("SELECT id FROM practices WHERE slug = 'demo'").Scan(&h.practice); err != nil {
				t.Fatal(err)
			}
			if err := feedlog.Sequence(t.Context(), h.stores[0].SQL, h.stores[0].Dialect); err != nil {
				t.Fatal(err)
			}
			h.run()
		})
	}
}

// run writes and reads at once, then compares.
func (h *hammer) run() {
	ctx, stop := context.WithCancel(h.t.Context())
	var writers, background sync.WaitGroup
	read := make([][]Change, 3)
	for i, db := range h.stores {
		f := New(db)
		background.Go(func() { f.Run(ctx, slog.New(slog.DiscardHandler), func(error) {}) })
		start := h.page(f, -1).Cursor
		background.Go(func() { read[i] = h.follow(ctx, f, start) })
	}
	for _, db := range h.stores { // each reader has its start: what was written before it would be missing
		for range 4 {
			writers.Go(func() { h.write(db) })
		}
	}
	writers.Wait()
	if err := feedlog.Sequence(h.t.Context(), h.stores[0].SQL, h.stores[0].Dialect); err != nil { // the last changes
		h.t.Error(err)
	}
	stop()
	background.Wait()
	writes := 0
	for _, versions := range h.commits {
		writes += len(versions)
	}
	if len(h.commits) < 5 || writes < 20 {
		h.t.Errorf("only %d writes of %d records", writes, len(h.commits))
	}
	h.t.Logf("%d writes of %d records", writes, len(h.commits))
	for i, changes := range read {
		h.compare(i, changes)
	}
}

// page reads the changes behind a seq; -1 is the current end.
func (h *hammer) page(f *Feed, after int64) (p Page) {
	limit := 50
	if after < 0 {
		limit = 0
	}
	s, changes, err := f.read(h.t.Context(), h.practice, []string{"treatment_categories"}, after, limit)
	if err != nil {
		h.t.Error(err)
		return p
	}
	p = Page{Changes: changes, end: s.last}
	if limit > 0 && len(changes) == limit {
		p.end = changes[limit-1].Version
	}
	p.Cursor = s.cursor(p.end)
	return p
}

// follow reads the feed until ctx ends and nothing is left.
func (h *hammer) follow(ctx context.Context, f *Feed, cursor string) (all []Change) {
	for {
		c, err := parseCursor(cursor)
		if err != nil {
			h.t.Error(err)
			return nil
		}
		ended := ctx.Err() != nil // before the page is read, which then has the last changes
		p := h.page(f, c.seq)
		all, cursor = append(all, p.Changes...), p.Cursor
		if len(p.Changes) == 0 {
			if ended {
				return all
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
}

// write runs transactions over the same few records.
func (h *hammer) write(db *store.DB) {
	for time.Now().Before(h.until) {
		ctx, cancel := context.WithCancel(context.Background())
		done, err := h.transaction(ctx, db)
		cancel()
		if err != nil {
			continue // killed, or it lost a race for a lock
		}
		h.mu.Lock()
		for id, versions := range done {
			if h.commits[id] == nil {
				h.commits[id] = map[int]commit{}
			}
			for version, c := range versions {
				h.commits[id][version] = c
			}
		}
		h.mu.Unlock()
	}
}

// transaction writes some records, slowly at times, and commits, rolls back or is killed.
func (h *hammer) transaction(ctx context.Context, db *store.DB) (done map[string]map[int]commit, err error) {
	tx, err := db.SQL.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	origin := int64(0)
	if storetest.Postgres(db) {
		if _, err := tx.Exec("SET LOCAL deadlock_timeout = '20ms'"); err != nil {
			return nil, err
		}
		if err := tx.QueryRow("SELECT txid_current()").Scan(&origin); err != nil {
			return nil, err
		}
	}
	done = map[string]map[int]commit{}
	for range 1 + rand.IntN(3) {
		id, version, event, err := h.one(tx)
		if err != nil {
			return nil, err
		}
		if event != "" {
			if done[id] == nil {
				done[id] = map[int]commit{}
			}
			done[id][version] = commit{origin, event}
		}
		if rand.IntN(4) == 0 {
			time.Sleep(time.Duration(rand.IntN(40)) * time.Millisecond)
		}
	}
	switch rand.IntN(10) {
	case 0:
		return nil, tx.Rollback()
	case 1:
		if storetest.Postgres(db) {
			_, _ = tx.Exec("SELECT pg_terminate_backend(pg_backend_pid())")
		}
		return nil, sql.ErrTxDone
	}
	return done, tx.Commit()
}

// one inserts, updates or deletes one record. Its name is its version.
func (h *hammer) one(tx *sql.Tx) (id string, version int, event string, err error) {
	const mine = " FROM treatment_categories WHERE name LIKE 'v%' ORDER BY random() LIMIT 1"
	now := time.Now()
	switch n := rand.IntN(10); {
	case n < 2:
		err = tx.QueryRow("INSERT INTO treatment_categories (practice_id, name, created_at, updated_at) VALUES ($1, 'v1', $2, $2) RETURNING CAST(id AS text)", h.practice, now).Scan(&id)
		return id, 1, "created", err
	case n < 9:
		err = tx.QueryRow("UPDATE treatment_categories SET name = 'v' || (CAST(substr(name, 2) AS integer) + 1) WHERE id = (SELECT id"+mine+") RETURNING CAST(id AS text), CAST(substr(name, 2) AS integer)").Scan(&id, &version)
		event = "updated"
	default:
		err = tx.QueryRow("DELETE FROM treatment_categories WHERE id = (SELECT id"+mine+") RETURNING CAST(id AS text), CAST(substr(name, 2) AS integer) + 1").Scan(&id, &version)
		event = "deleted"
	}
	if err == sql.ErrNoRows {
		return "", 0, "", nil
	}
	return id, version, event, err
}

// compare checks what a reader saw.
func (h *hammer) compare(reader int, changes []Change) {
	saw := map[string][]commit{}
	last := int64(0)
	for _, c := range changes {
		if c.Version <= last {
			h.t.Errorf("reader %d: version %d follows %d", reader, c.Version, last)
		}
		last = c.Version
		saw[c.ID] = append(saw[c.ID], commit{c.origin, c.Event})
	}
	for id, versions := range h.commits {
		var want []commit
		for version := 1; len(want) < len(versions); version++ {
			c, ok := versions[version]
			if !ok {
				h.t.Fatalf("record %s has no version %d of %d", id, version, len(versions))
			}
			want = append(want, c)
		}
		got := saw[id]
		if !storetest.Postgres(h.stores[0]) {
			for i := range got {
				got[i].origin = 0
			}
		}
		if !slices.Equal(got, want) {
			h.t.Errorf("reader %d, record %s:\n got %s\nwant %s", reader, id, fmt.Sprint(got), fmt.Sprint(want))
		}
		delete(saw, id)
	}
	for id, extra := range saw {
		h.t.Errorf("reader %d: record %s was never committed: %v", reader, id, extra)
	}
}
