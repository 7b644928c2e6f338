package seed

import (
	"testing"

	"chairside/internal/store"
	"chairside/internal/store/migrate"
	"chairside/internal/test/localpg/pgtest"
	"chairside/internal/test/testkeys"
)

// BenchmarkRun measures filling an empty PostgreSQL database, with indexes:
//
//	go test -run '^$' -bench Run -benchtime 1x ./internal/seed
func BenchmarkRun(b *testing.B) {
	rows := 0
	for b.Loop() {
		b.StopTimer()
		db, err := store.Open(b.Context(), pgtest.New(b))
		if err != nil {
			b.Fatal(err)
		}
		db.Keys = testkeys.Keys()
		if _, err := migrate.Up(b.Context(), db); err != nil {
			b.Fatal(err)
		}
		o := demo
		o.Patients = 20_000
		b.StartTimer()
		if err := Run(b.Context(), db, o); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		for _, table := range new(batch).tables() {
			var n int
			if err := db.SQL.QueryRowContext(b.Context(), "SELECT count(*) FROM "+table.name).Scan(&n); err != nil {
				b.Fatal(err)
			}
			rows += n
		}
		if err := db.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
}
