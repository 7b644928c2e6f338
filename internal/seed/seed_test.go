package seed

import (
	"context"
	"fmt"
	"testing"
	"time"

	"chairside/internal/civil"
	"chairside/internal/store"
)

func TestSmoke(t *testing.T) {
	ctx := context.Background()
	db, err := store.Open(ctx, "sqlite:/tmp/seedlab.db")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Migrate(ctx); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if err := Run(ctx, db, Options{RandomSeed: 1, AsOf: civil.MustParse("2026-07-01")}); err != nil {
		t.Fatal(err)
	}
	fmt.Println(time.Since(start))
}
