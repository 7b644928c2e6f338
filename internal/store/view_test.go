package store_test

import (
	"context"
	"database/sql"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"entgo.io/ent/dialect"

	"chairside/ent"
	"chairside/internal/principal"
	"chairside/internal/store"
	"chairside/internal/store/storetest"
)

func TestViewIsASnapshotAndReadOnly(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		db := migrated(t, url)
		ctx := principal.AsSystem(t.Context())
		if _, err := newPractice(ctx, db, "before"); err != nil {
			t.Fatal(err)
		}
		err := db.View(ctx, func(client *ent.Client) error {
			count := func() int {
				n, err := client.Practice.Query().Count(ctx)
				if err != nil {
					t.Fatal(err)
				}
				return n
			}
			if n := count(); n != 1 {
				t.Errorf("%d practices", n)
			}
			if _, err := newPractice(ctx, db, "meanwhile"); err != nil {
				t.Errorf("a view blocks a writer: %v", err)
			}
			if n := count(); n != 1 {
				t.Errorf("a view shows what was written meanwhile: %d practices", n)
			}
			if _, err := addPractice(ctx, client, "inside"); !errors.Is(err, store.ErrReadOnly) {
				t.Errorf("a view creates: %v", err)
			}
			if _, err := client.Practice.Update().SetName("x").Save(ctx); !errors.Is(err, store.ErrReadOnly) {
				t.Errorf("a view updates: %v", err)
			}
			if _, err := client.Practice.Delete().Exec(ctx); !errors.Is(err, store.ErrReadOnly) {
				t.Errorf("a view deletes: %v", err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if n, err := db.Ent.Practice.Query().Count(ctx); n != 2 || err != nil {
			t.Errorf("%d practices after the view, %v", n, err)
		}
	})
}

// TestViewIsReadOnlyInTheDatabase checks that the database itself refuses writes in a view, and
// that its connection can write again, however the view ends.
func TestViewIsReadOnlyInTheDatabase(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		db := migrated(t, url)
		db.SQL.SetMaxOpenConns(1)
		ctx := principal.AsSystem(t.Context())
		if _, err := newPractice(ctx, db, "before"); err != nil {
			t.Fatal(err)
		}
		write := func(ctx context.Context, d dialect.Driver) error {
			return d.Exec(ctx, "UPDATE practices SET name = 'x'", []any{}, nil)
		}
		for name, end := range map[string]func(cancel func()) error{
			"success":   func(func()) error { return nil },
			"an error":  func(func()) error { return errors.New("no") },
			"a panic":   func(func()) error { panic("no") },
			"cancelled": func(cancel func()) error { cancel(); return nil },
		} {
			within, cancel := context.WithCancel(ctx)
			func() {
				defer func() { _ = recover() }()
				var inside dialect.Driver
				_ = db.ViewThrough(within, func(d dialect.Driver) dialect.Driver { inside = d; return d }, func(*ent.Client) error {
					if err := write(within, inside); err == nil {
						t.Errorf("%s: a view writes", name)
					}
					return end(cancel)
				})
			}()
			cancel()
			if _, err := db.SQL.ExecContext(t.Context(), "UPDATE practices SET town = 'x'"); err != nil {
				t.Errorf("after %s: %v", name, err)
			}
		}
	})
}

// TestViewUsesOneProcessor checks that PostgreSQL starts no parallel workers for a view.
func TestViewUsesOneProcessor(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		db := migrated(t, url)
		if db.Dialect != dialect.Postgres { // SQLite has none
			return
		}
		ctx := principal.AsSystem(t.Context())
		err := db.Snapshot(ctx, func(_ *ent.Client, tx *sql.Tx) (err error) {
			var workers string
			err = tx.QueryRowContext(ctx, "SHOW max_parallel_workers_per_gather").Scan(&workers)
			if workers != "0" {
				t.Errorf("%s parallel workers", workers)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// TestReportsTakeTurns checks that at most half of the processors run reports, and that other views do not
// wait for them.
func TestReportsTakeTurns(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		db := migrated(t, url)
		ctx := principal.AsSystem(t.Context())
		turns := int64(max(1, runtime.GOMAXPROCS(0)/2))
		var running atomic.Int64
		var group sync.WaitGroup
		for range turns + 3 {
			group.Go(func() {
				err := db.ViewForReport(ctx, func(client *ent.Client) error {
					if n := running.Add(1); n > turns {
						t.Errorf("%d reports run at once", n)
					}
					defer running.Add(-1)
					_, err := client.Practice.Query().Count(ctx)
					time.Sleep(20 * time.Millisecond)
					return err
				})
				if err != nil {
					t.Errorf("report: %v", err)
				}
			})
		}
		group.Wait()

		held := make(chan struct{})
		var taken sync.WaitGroup
		taken.Add(int(turns))
		for range turns {
			group.Go(func() {
				err := db.ViewForReport(ctx, func(*ent.Client) error {
					taken.Done()
					<-held
					return nil
				})
				if err != nil {
					t.Errorf("report: %v", err)
				}
			})
		}
		taken.Wait()
		err := db.View(ctx, func(client *ent.Client) error {
			_, err := client.Practice.Query().Count(ctx)
			return err
		})
		if err != nil {
			t.Errorf("a view while reports have all turns: %v", err)
		}
		close(held)
		group.Wait()
	})
}
