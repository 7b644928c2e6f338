package importer

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chairside/internal/store"
)

// writeNewFiles writes files into a new directory.
func writeNewFiles(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// With merge_by, the first record with the name of a plan that the practice has updates it. A second
// record of that name, and one with the name of an imported plan, are plans of their own.
func TestMergeByName(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		createPractice(t, db)
		const plans = "SELECT count(*) FROM payment_plans"
		before := queryInt(t, db, plans)
		dir := writeNewFiles(t, map[string]string{
			"mapping.yaml": "source: old\nfiles:\n  - {file: plans.csv, entity: payment_plans, merge_by: name}\n  - {file: drugs.csv, entity: treatments, merge_by: nomenclature}\n",
			"plans.csv":    "id,name,active,nhs\n1,Private,no,no\n2,Private,yes,no\n3,Club,yes,no\n",
			"drugs.csv":    "id,nomenclature\n1,Composite filling\n2,Composite filling\n",
		})
		for _, f := range runImport(t, db, dir, Options{}).Files {
			if f.Created != f.Rows-1 || f.Rejected > 0 {
				t.Errorf("%+v", f)
			}
		}
		checkInts(t, db, map[string]int{
			plans: before + 2,
			"SELECT count(*) FROM payment_plans WHERE name = 'Private' AND NOT active":                                                1,
			"SELECT count(*) FROM payment_plans WHERE name = 'Private' AND active":                                                    1,
			"SELECT count(*) FROM treatments WHERE nomenclature = 'Composite filling'":                                                2,
			"SELECT count(*) FROM imported_records WHERE source = 'old'":                                                              5,
			"SELECT count(DISTINCT record_id) FROM imported_records WHERE source = 'old'":                                             5,
			"SELECT count(*) FROM fees AS f JOIN treatments AS t ON t.id = f.treatment_id WHERE t.nomenclature = 'Composite filling'": 2,
		})
		for _, f := range runImport(t, db, dir, Options{Rejects: t.TempDir()}).Files {
			if f.Unchanged != f.Rows {
				t.Errorf("again: %+v", f)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, "plans.csv"), []byte("id,name\n4,Club\n5,NHS\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if again := runImport(t, db, dir, Options{Rejects: t.TempDir()}).Files[0]; again.Created != 1 || again.Unchanged != 1 {
			t.Errorf("%+v", again)
		}
	})
}

func TestMergeByIsForNames(t *testing.T) {
	t.Parallel()
	db := openDemo(t, "sqlite")
	dir := writeNewFiles(t, map[string]string{
		"mapping.yaml": "source: old\npractice: demo\nfiles:\n  - {file: a.csv, entity: payment_plans, merge_by: nhs}\n  - {file: b.csv, entity: users, merge_by: email}\n  - {file: c.csv, entity: recalls, merge_by: name}\n",
		"a.csv":        "id,name\n", "b.csv": "id,first_name,last_name,email,role\n", "c.csv": "id,patient_id,recall_type,due_on\n",
	})
	_, err := Import(t.Context(), db, dir, Options{})
	var mistakes MappingError
	if !errors.As(err, &mistakes) || len(mistakes) != 3 || !strings.Contains(err.Error(), "a.csv: merge_by: must be name") {
		t.Errorf("%v", err)
	}
}

// An optional mapping does without files and columns, but not without those that each record needs.
func TestOptionalMapping(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		createPractice(t, db)
		mapping := "source: old\noptional: true\nfiles:\n  - {file: plans.csv, entity: payment_plans, only: {Gone: ~}, columns: {Name: name, Works: active}}\n  - {file: drugs.csv, entity: treatments}\n"
		dir := writeNewFiles(t, map[string]string{"mapping.yaml": mapping, "plans.csv": "id,NAME\n1,Club\n"})
		report := runImport(t, db, dir, Options{})
		if len(report.Missing) != 1 || report.Missing[0] != "drugs.csv" || report.Files[0].Created != 1 {
			t.Errorf("%+v", report)
		}
		explained, err := Explain(t.Context(), db, dir, Options{})
		if err != nil || len(explained) != 1 || strings.Join(explained[0].Missing, " ") != "Gone Works" {
			t.Errorf("%+v: %v", explained, err)
		}
		dir = writeNewFiles(t, map[string]string{"mapping.yaml": mapping, "plans.csv": "id,Works\n1,yes\n"})
		if _, err := Import(t.Context(), db, dir, Options{}); err == nil || !strings.Contains(err.Error(), "no column gives name") {
			t.Errorf("%v", err)
		}
		dir = writeNewFiles(t, map[string]string{"mapping.yaml": mapping})
		if _, err := Import(t.Context(), db, dir, Options{}); err == nil || !strings.Contains(err.Error(), "plans.csv") || !strings.Contains(err.Error(), "drugs.csv") {
			t.Errorf("%v", err)
		}
	})
}

// Each ready mapping has its name as its source, and a first line that says what it is for.
func TestReadyMappingsAreDescribed(t *testing.T) {
	t.Parallel()
	for _, r := range ReadyMappings {
		m, err := parseMapping(r.Name, []byte(r.Content))
		if err != nil || m.Source != r.Name || !m.Optional || !strings.HasSuffix(r.About, ".") {
			t.Errorf("%s: %v: %+v", r.Name, err, m)
		}
	}
	if _, ok := FindReady("mapping.yaml"); ok || len(ReadyMappings) < 3 {
		t.Errorf("%d mappings", len(ReadyMappings))
	}
}
