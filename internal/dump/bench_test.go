package dump

import (
	"path/filepath"
	"testing"

	"chairside/internal/civil"
	"chairside/internal/seed"
	"chairside/internal/test/testdb"
)

// BenchmarkExport and BenchmarkRestore measure a practice of 20,000 patients on PostgreSQL,
// including indexes and checks:
//
//	GOGC=400 go test -run '^$' -bench 'Export|Restore' -benchtime 1x ./internal/dump
func BenchmarkExport(b *testing.B) {
	db := open(b, testdb.Migrated.Postgres(b))
	o := seed.Options{Patients: 20_000, Years: 2, RandomSeed: 1, AsOf: civil.MustParse("2026-07-01")}
	if err := seed.Run(b.Context(), db, o); err != nil {
		b.Fatal(err)
	}
	var rows int64
	for b.Loop() {
		dir := filepath.Join(b.TempDir(), "export")
		if err := Export(b.Context(), db, dir, ExportOptions{}); err != nil {
			b.Fatal(err)
		}
		m, _, err := readManifest(dir)
		if err != nil {
			b.Fatal(err)
		}
		for _, f := range m.Files {
			rows += f.Rows
		}
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
}

func BenchmarkRestore(b *testing.B) {
	source := open(b, testdb.Migrated.SQLite(b))
	o := seed.Options{Patients: 20_000, Years: 2, RandomSeed: 1, AsOf: civil.MustParse("2026-07-01")}
	if err := seed.Run(b.Context(), source, o); err != nil {
		b.Fatal(err)
	}
	dir := filepath.Join(b.TempDir(), "export")
	if err := Export(b.Context(), source, dir, ExportOptions{}); err != nil {
		b.Fatal(err)
	}
	var rows int64
	for b.Loop() {
		b.StopTimer()
		db := open(b, testdb.Migrated.Postgres(b))
		b.StartTimer()
		done, err := Restore(b.Context(), db, dir, RestoreOptions{})
		if err != nil {
			b.Fatal(err)
		}
		rows += done.Rows
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
}
