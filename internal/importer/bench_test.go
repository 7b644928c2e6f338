package importer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chairside/internal/test/testdb"
)

// BenchmarkImport measures one file at a time on PostgreSQL, from reading it to the totals. The
// files that it refers to are imported before. GOGC is as in the program:
//
//	GOGC=400 go test -run '^$' -bench Import -benchtime 1x ./internal/importer
func BenchmarkImport(b *testing.B) {
	const independentRows, otherRows = 200_000, 20_000
	dirs := map[int]string{independentRows: b.TempDir(), otherRows: b.TempDir()}
	for rows, dir := range dirs {
		writeBigPractice(b, dir, rows)
	}
	for _, m := range []struct {
		file   string
		rows   int
		before string
	}{
		{"treatments.csv", independentRows, ""},
		{"sources.csv", independentRows, ""},
		{"patients.csv", otherRows, ""},
		{"diary.csv", otherRows, "patients.csv"},
		{"invoices.csv", otherRows, "patients.csv"},
		{"payments.csv", otherRows, "patients.csv invoices.csv"},
	} {
		b.Run(strings.TrimSuffix(m.file, ".csv"), func(b *testing.B) {
			dir := dirs[m.rows]
			rows := 0
			for b.Loop() {
				b.StopTimer()
				db := open(b, testdb.Migrated.Postgres(b))
				createPractice(b, db)
				for _, file := range strings.Fields(m.before) {
					runImport(b, db, dir, Options{Mapping: mappingOf(b, dir, file)})
				}
				mapping := mappingOf(b, dir, m.file)
				b.StartTimer()
				for _, f := range runImport(b, db, dir, Options{Mapping: mapping}).Files {
					rows += f.Rows
				}
			}
			b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// mappingOf writes a mapping for one file of writeBigPractice and returns its path.
func mappingOf(b *testing.B, dir, file string) string {
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
