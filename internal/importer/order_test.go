package importer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chairside/internal/test/testdb"
)

// writeIndependentRows writes a file that is stored two batches at a time, and returns its
// directory.
func writeIndependentRows(t *testing.T, rows int) string {
	t.Helper()
	dir := t.TempDir()
	writeBigPractice(t, dir, rows)
	const mapping = "source: big\nfiles: [{file: treatments.csv, entity: treatments}]"
	if err := os.WriteFile(filepath.Join(dir, "mapping.yaml"), []byte(mapping), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// outOfOrder counts treatments whose IDs, audit entries or legacy IDs are not in the order of the
// file.
const outOfOrder = `SELECT count(*) FROM (
		SELECT CAST(substr(m.legacy_id, 2) AS integer) AS line,
			row_number() OVER (ORDER BY t.id) AS by_row, row_number() OVER (ORDER BY c.id) AS by_change, row_number() OVER (ORDER BY m.id) AS by_legacy_id
		FROM imported_records AS m
		JOIN treatments AS t ON CAST(t.id AS text) = m.record_id
		JOIN audit_events AS c ON c.record_id = m.record_id AND c.resource = 'Treatment'
		WHERE m.resource = 'treatments') AS x
	WHERE line <> by_row OR line <> by_change OR line <> by_legacy_id`

func TestConcurrentBatchesKeepTheOrder(t *testing.T) {
	t.Parallel()
	db := open(t, testdb.Migrated.Postgres(t))
	createPractice(t, db)
	const rows = 4*batchRows + 7
	report := runImport(t, db, writeIndependentRows(t, rows), Options{})
	if f := report.Files[0]; f.Rows != rows || f.Created != rows {
		t.Errorf("%+v", f)
	}
	if n := queryInt(t, db, outOfOrder); n != 0 {
		t.Errorf("%d rows are not in the order of the file", n)
	}
}

// A row that the database refuses is rejected alone, even if two batches are stored at a time.
func TestConcurrentBatchesRejectOneRow(t *testing.T) {
	t.Parallel()
	db := open(t, testdb.Migrated.Postgres(t))
	createPractice(t, db)
	execSQL(t, db, "ALTER TABLE treatments ADD CONSTRAINT odd CHECK (nomenclature NOT IN ('Filling of 3 surfaces', 'Filling of 2600 surfaces', 'Filling of 5001 surfaces'))")
	rejects := t.TempDir()
	report := runImport(t, db, writeIndependentRows(t, 3*batchRows), Options{Rejects: rejects})
	if f := report.Files[0]; f.Rows != 3*batchRows || f.Rejected != 3 || f.Created != f.Rows-3 {
		t.Errorf("%+v", f)
	}
	lines := strings.Split(readFiles(t, rejects)["treatments.csv"], "\n")
	for i, want := range []string{"4,,violates a constraint of the database,T3,", "2601,,violates a constraint of the database,T2600,", "5002,,violates a constraint of the database,T5001,"} {
		if !strings.HasPrefix(lines[i+1], want) {
			t.Errorf("rejects %q, want %s", lines[i+1], want)
		}
	}
}

// If a batch fails, earlier batches are stored and later ones are not.
func TestConcurrentBatchesStopTogether(t *testing.T) {
	t.Parallel()
	db := open(t, testdb.Migrated.Postgres(t))
	createPractice(t, db)
	before := queryInt(t, db, "SELECT count(*) FROM treatments")
	execSQL(t, db, "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'the disk is full'; END $$")
	execSQL(t, db, "CREATE TRIGGER fail BEFORE INSERT ON treatments FOR EACH ROW WHEN (NEW.nomenclature = 'Filling of 4000 surfaces') EXECUTE FUNCTION fail()")
	dir, rejects := writeIndependentRows(t, 6*batchRows), t.TempDir()
	if _, err := Import(t.Context(), db, dir, Options{Rejects: rejects}); err == nil || !strings.Contains(err.Error(), "the disk is full") {
		t.Fatalf("the error is %v", err)
	}
	if n := queryInt(t, db, "SELECT count(*) FROM treatments") - before; n != batchRows {
		t.Errorf("%d rows are stored, want %d", n, batchRows)
	}
	execSQL(t, db, "DROP TRIGGER fail ON treatments")
	report := runImport(t, db, dir, Options{Rejects: rejects})
	if f := report.Files[0]; !report.Resumed || f.Rows != 6*batchRows || f.Created != f.Rows {
		t.Errorf("resumed: %v, %+v", report.Resumed, f)
	}
	if n := queryInt(t, db, outOfOrder); n != 0 {
		t.Errorf("%d rows are not in the order of the file", n)
	}
}
