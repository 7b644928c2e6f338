package store_test

import (
	"testing"

	"chairside/ent"
	"chairside/ent/practice"
	"chairside/internal/principal"
	"chairside/internal/store/storetest"
	"chairside/internal/test/localpg/pgtest"
)

// BenchmarkGet reads one row by its id through Ent.
func BenchmarkGet(b *testing.B) {
	var postgres string
	for _, variant := range []struct{ name, parameters string }{
		{"sqlite", ""}, {"postgres/cached", "statement_cache=on"}, {"postgres/uncached", "statement_cache=off"},
	} {
		b.Run(variant.name, func(b *testing.B) {
			url := "sqlite:" + b.TempDir() + "/x.db"
			if variant.parameters != "" {
				if postgres == "" {
					postgres = pgtest.New(b)
				}
				url = storetest.With(postgres, variant.parameters)
			}
			ctx := principal.AsSystem(b.Context())
			db := migrated(b, url)
			if _, err := newPractice(ctx, db, "x"); err != nil && !ent.IsConstraintError(err) {
				b.Fatal(err)
			}
			id, err := db.Ent.Practice.Query().Where(practice.Slug("x")).OnlyID(ctx)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := db.Ent.Practice.Get(ctx, id); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
