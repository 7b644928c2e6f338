package importer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chairside/internal/test/testdb"
)

// plainFile writes rows of bigPractice that are stored two batches at a time,
// and gives their directory.
func plainFile(t *testing.T, rows int) string {
	t.Helper()
	dir := t.TempDir()
	bigPractice(t, dir, rows)
	const mapping = "source: big\nfiles: [{file: treatments.csv, entity: treatments}]"
	if err := os.WriteFile(filepath.Join(dir, "mapping.yaml"), []byte(mapping), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// outOfOrder counts imported treatments whose ids, changes and memory are not in
// the order of the file.
const outOfOrder = `SELECT count(*) FROM (
		SELECT CAST(substr(m.legacy_id, 2) AS integer) AS line,
			row_number() OVER (ORDER BY t.id) AS by_row, row_number() OVER (ORDER BY c.id) AS by_change, row_number() OVER (ORDER BY m.id) AS by_memory
		FROM imported_records AS m
		JOIN treatments AS t ON CAST(t.id AS text) = m.record_id
		JOIN changes AS c ON c.record_id = m.record_id AND c.resource = 'Treatment'
		WHERE m.resource = 'treatments') AS x
	WHERE line <> by_row OR line <> by_change OR line <> by_memory`

func TestBatchesAtTheSameTimeKeepTheOrder(t *testing.T) {
	t.Parallel()
	db := open(t, testdb.Migrated.Postgres(t))
	bright(t, db)
	const rows = 4*batchRows + 7
	report := importing(t, db, plainFile(t, rows), Options{})
	if f := report.Files[0]; f.Rows != rows || f.Created != rows {
		t.Errorf("%+v", f)
	}
	if n := number(t, db, outOfOrder); n != 0 {
		t.Errorf("%d rows are not in the order of the file", n)
	}
}

// A row that the database refuses costs only itself, whatever is stored at the
// same time.
func TestBatchesAtTheSameTimeAreRefusedAlone(t *testing.T) {
	t.Parallel()
	db := open(t, testdb.Migrated.Postgres(t))
	bright(t, db)
	execute(t, db, "ALTER TABLE treatments ADD CONSTRAINT odd CHECK (nomenclature NOT IN ('Filling of 3 surfaces', 'Filling of 2600 surfaces', 'Filling of 5001 surfaces'))")
	rejects := t.TempDir()
	report := importing(t, db, plainFile(t, 3*batchRows), Options{Rejects: rejects})
	if f := report.Files[0]; f.Rows != 3*batchRows || f.Rejected != 3 || f.Created != f.Rows-3 {
		t.Errorf("%+v", f)
	}
	lines := strings.Split(contents(t, rejects)["treatments.csv"], "\n")
	for i, want := range []string{"4,,violates a constraint of the database,T3,", "2601,,violates a constraint of the database,T2600,", "5002,,violates a constraint of the database,T5001,"} {
		if !strings.HasPrefix(lines[i+1], want) {
			t.Errorf("rejects %q, want %s", lines[i+1], want)
		}
	}
}

// Where a batch fails, those before it are in, and none after it.
func TestBatchesAtTheSameTimeStopTogether(t *testing.T) {
	t.Parallel()
	db := open(t, testdb.Migrated.Postgres(t))
	bright(t, db)
	before := number(t, db, "SELECT count(*) FROM treatments")
	execute(t, db, "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'the disk is full'; END $$")
	execute(t, db, "CREATE TRIGGER fail BEFORE INSERT ON treatments FOR EACH ROW WHEN (NEW.nomenclature = 'Filling of 4000 surfaces') EXECUTE FUNCTION fail()")
	dir, rejects := plainFile(t, 6*batchRows), t.TempDir()
	if _, err := Import(t.Context(), db, dir, Options{Rejects: rejects}); err == nil || !strings.Contains(err.Error(), "the disk is full") {
		t.Fatalf("the import says %v", err)
	}
	if n := number(t, db, "SELECT count(*) FROM treatments") - before; n != batchRows {
		t.Errorf("%d rows are in, want %d", n, batchRows)
	}
	execute(t, db, "DROP TRIGGER fail ON treatments")
	report := importing(t, db, dir, Options{Rejects: rejects})
	if f := report.Files[0]; !report.Resumed || f.Rows != 6*batchRows || f.Created != f.Rows {
		t.Errorf("resumed: %v, %+v", report.Resumed, f)
	}
	if n := number(t, db, outOfOrder); n != 0 {
		t.Errorf("%d rows are not in the order of the file", n)
	}
}
