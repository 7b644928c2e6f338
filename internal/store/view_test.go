package store

import (
	"testing"

	"chairside/ent"
	"chairside/internal/caller"
)

func TestViewShowsOneStateAndWritesNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		db := migrated(t, url)
		ctx := caller.System(t.Context())
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
				t.Errorf("a view keeps others from writing: %v", err)
			}
			if n := count(); n != 1 {
				t.Errorf("a view shows what was written meanwhile: %d practices", n)
			}
			_, err := addPractice(ctx, client, "inside")
			if db.postgres() && err == nil {
				t.Error("a view writes")
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
