package importer

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chairside/internal/store"
)

// Patients with the same name and date of birth are found also if they are in different batches, of
// which PostgreSQL stores two at a time.
func TestSamePersonInAnotherBatch(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		createPractice(t, db)
		const rows = 3*batchRows + 10
		var file strings.Builder
		file.WriteString("id,last_name\n")
		for i := 1; i <= rows; i++ {
			name := fmt.Sprintf("Last%d", i)
			if i%batchRows == 1 {
				name = "Twin"
			}
			fmt.Fprintf(&file, "%d,%s\n", i, name)
		}
		dir, out := t.TempDir(), t.TempDir()
		for name, content := range map[string]string{
			"patients.csv": file.String(),
			"mapping.yaml": "source: old\nfiles:\n" + strings.Replace(patientsByName, `ethnicity: "99"`, `ethnicity: "99", first_name: Ann`, 1),
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		report := runImport(t, db, dir, Options{Rejects: out})
		if f := report.Files[0]; f.Created != rows || report.Warnings != 3 {
			t.Errorf("%+v, %d warnings, want 3", f, report.Warnings)
		}
		findings := readFiles(t, out)[Findings]
		for _, line := range []int{batchRows + 2, 2*batchRows + 2, 3*batchRows + 2} {
			if !strings.Contains(findings, fmt.Sprintf("patients.csv,%d,%d,warning,last_name,", line, line-1)) {
				t.Errorf("no warning of line %d:\n%s", line, findings)
			}
		}
		checkInts(t, db, map[string]int{ // ids are in the order of the file
			"SELECT count(*) FROM patients AS p JOIN patients AS q ON q.id = p.id + 1 WHERE CAST(q.legacy_id AS integer) <> CAST(p.legacy_id AS integer) + 1": 0,
			"SELECT count(*) FROM accounts": rows,
		})
	})
}
