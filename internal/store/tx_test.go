package store_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"chairside/ent"
	"chairside/internal/apierror"
	"chairside/internal/principal"
	"chairside/internal/store"
	"chairside/internal/store/storetest"
)

func addPractice(ctx context.Context, client *ent.Client, slug string) (*ent.Practice, error) {
	return client.Practice.Create().SetName(slug).SetSlug(slug).SetCountry("GB").SetTimeZone("Europe/London").Save(ctx)
}

// newPractice adds a practice in a transaction of its own.
func newPractice(ctx context.Context, db *store.DB, slug string) (practice *ent.Practice, err error) {
	err = db.Tx(ctx, func(tx *ent.Client) error {
		practice, err = addPractice(ctx, tx, slug)
		return err
	})
	return practice, err
}

func TestTx(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		db := migrated(t, url)
		ctx := principal.AsSystem(t.Context())
		count := func() int {
			n, err := db.Ent.Practice.Query().Count(ctx)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}

		err := db.Tx(ctx, func(tx *ent.Client) error {
			_, err := addPractice(ctx, tx, "kept")
			return err
		})
		if err != nil || count() != 1 {
			t.Fatalf("after a commit %d practices, %v", count(), err)
		}

		refusal := errors.New("refused")
		err = db.Tx(ctx, func(tx *ent.Client) error {
			if _, err := addPractice(ctx, tx, "refused"); err != nil {
				t.Error(err)
			}
			return refusal
		})
		if err != refusal || count() != 1 {
			t.Errorf("after an error %d practices, %v", count(), err)
		}

		func() {
			defer func() {
				if recover() != "mistake" {
					t.Error("the panic was swallowed")
				}
			}()
			db.Tx(ctx, func(tx *ent.Client) error {
				if _, err := addPractice(ctx, tx, "panicked"); err != nil {
					t.Error(err)
				}
				panic("mistake")
			})
		}()
		if count() != 1 {
			t.Errorf("after a panic %d practices", count())
		}

		cancelled, cancel := context.WithCancel(ctx)
		err = db.Tx(cancelled, func(tx *ent.Client) error {
			if _, err := addPractice(ctx, tx, "cancelled"); err != nil {
				t.Error(err)
			}
			cancel()
			return nil
		})
		if !errors.Is(err, context.Canceled) || count() != 1 {
			t.Errorf("after a cancellation %d practices, %v", count(), err)
		}
		// After a cancellation database/sql rolls back in the background.
		for deadline := time.Now().Add(storetest.Timeout); db.SQL.Stats().InUse > 0; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%d connections were not released", db.SQL.Stats().InUse)
			}
		}
	})
}

func TestTxIsVisibleToHooks(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		db := migrated(t, url)
		ctx := principal.AsSystem(t.Context())
		seen := false
		db.Ent.Practice.Use(func(next ent.Mutator) ent.Mutator {
			return ent.MutateFunc(func(ctx context.Context, m ent.Mutation) (ent.Value, error) {
				_, err := m.(*ent.PracticeMutation).Tx()
				seen = err == nil
				return next.Mutate(ctx, m)
			})
		})
		err := db.Tx(ctx, func(tx *ent.Client) error {
			_, err := addPractice(ctx, tx, "x")
			return err
		})
		if err != nil || !seen {
			t.Errorf("a hook saw the transaction: %v, %v", seen, err)
		}
	})
}

func TestAPIErrorOfEntErrors(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		db := migrated(t, url)
		ctx := principal.AsSystem(t.Context())
		practice, err := newPractice(ctx, db, "twice")
		if err != nil {
			t.Fatal(err)
		}
		other := practice.ID
		other[0]++
		_, err = db.Ent.Practice.Get(ctx, other)
		var f *apierror.Error
		if !errors.As(store.APIError(ctx, err), &f) || f.Status != http.StatusNotFound {
			t.Errorf("no such row: %v", err)
		}
		_, err = newPractice(ctx, db, "twice")
		if got := store.APIError(ctx, err); !ent.IsConstraintError(got) {
			t.Errorf("a duplicate: %v", got)
		}
	})
}

// TestDatabaseKeepsPracticesApart checks that the database itself refuses a reference to a row of
// another practice.
func TestDatabaseKeepsPracticesApart(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		db := migrated(t, url)
		ctx := principal.AsSystem(t.Context())
		ours, err := newPractice(ctx, db, "ours")
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := newPractice(ctx, db, "theirs")
		if err != nil {
			t.Fatal(err)
		}
		var site *ent.Site
		err = db.Tx(ctx, func(tx *ent.Client) error {
			site, err = tx.Site.Create().SetPracticeID(ours.ID).SetName("Main").Save(ctx)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		addRoom := func(practice *ent.Practice) error {
			return db.Tx(ctx, func(tx *ent.Client) error {
				return tx.Room.Create().SetPracticeID(practice.ID).SetSiteID(site.ID).SetName("1").Exec(ctx)
			})
		}
		if err := addRoom(ours); err != nil {
			t.Errorf("a room of our own site: %v", err)
		}
		if err := addRoom(theirs); !ent.IsConstraintError(err) {
			t.Errorf("a room of another practice's site: %v", err)
		}
	})
}
