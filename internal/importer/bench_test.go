package importer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chairside/internal/test/testdb"
)

// BenchmarkImport measures CSV files of another system on PostgreSQL, each kind
// alone: with checks, references, derived columns, the audit log, the
// memory of ids, and the totals of the practice. What a file refers to is
// there already. The program collects its garbage less often than Go does:
//
//	GOGC=400 go test -run '^$' -bench Import -benchtime 1x ./internal/importer
func BenchmarkImport(b *testing.B) {
	const plain, others = 200_000, 20_000
	dirs := map[int]string{plain: b.TempDir(), others: b.TempDir()}
	for rows, dir := range dirs {
		bigPractice(b, dir, rows)
	}
	for _, m := range []struct {
		file   string
		rows   int
		before string
	}{
		{"treatments.csv", plain, ""},
		{"sources.csv", plain, ""},
		{"patients.csv", others, ""},
		{"diary.csv", others, "patients.csv"},
		{"invoices.csv", others, "patients.csv"},
		{"payments.csv", others, "patients.csv invoices.csv"},
	} {
		b.Run(strings.TrimSuffix(m.file, ".csv"), func(b *testing.B) {
			dir := dirs[m.rows]
			rows := 0
			for b.Loop() {
				b.StopTimer()
				db := open(b, testdb.Migrated.Postgres(b))
				bright(b, db)
				for _, file := range strings.Fields(m.before) {
					importing(b, db, dir, Options{Mapping: alone(b, dir, file)})
				}
				mapping := alone(b, dir, m.file)
				b.StartTimer()
				for _, f := range importing(b, db, dir, Options{Mapping: mapping}).Files {
					rows += f.Rows
				}
			}
			b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// alone writes a mapping of one of the files of bigPractice.
func alone(b *testing.B, dir, file string) string {
	b.Helper()
	whole, err := os.ReadFile(filepath.Join(dir, "mapping.yaml"))
	if err != nil {
		b.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(whole)) {
		if !strings.Contains(line, "{file: ") || strings.Contains(line, "{file: "+file+",") {
			lines = append(lines, line)
		}
	}
	path := filepath.Join(b.TempDir(), "mapping.yaml")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600); err != nil {
		b.Fatal(err)
	}
	return path
}
