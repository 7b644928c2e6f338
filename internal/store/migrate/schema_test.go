package migrate

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	engine "ariga.io/atlas/sql/migrate"
	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql/schema"

	"chairside/ent"
	"chairside/internal/store/counters"
	"chairside/internal/store/rowsecurity"
	"chairside/internal/store/storetest"
	"chairside/internal/test/localpg/pgtest"
)

func TestMigrationsMakeTheSchema(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		db := openTest(t, url)
		if _, err := db.Up(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := db.Verify(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// SQLite has no functions.
func TestVerifyComparesFunctions(t *testing.T) {
	db := openTest(t, pgtest.New(t))
	if _, err := db.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	storetest.Exec(t, db.DB, "CREATE OR REPLACE FUNCTION practice_search_keys(practice_id uuid, search_text text) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$ SELECT ARRAY[search_text] $$")
	var drift *DriftError
	if err := db.Verify(t.Context()); !errors.As(err, &drift) || !slices.Equal(drift.Differences, []string{"function practice_search_keys differs"}) {
		t.Errorf("Verify: %v", err)
	}
}

// Every release a practice may still run is a prefix of the migrations, and
// has data when the rest is applied.
func TestEveryPrefixOfTheMigrationsMigratesUp(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		all := openTest(t, url).files
		paths, err := fs.Glob(all, "*.sql")
		if err != nil {
			t.Fatal(err)
		}
		var db *testDB
		for i := range paths {
			// Checksums of a prefix are the first ones of the whole.
			prefix := map[string]string{}
			for _, path := range paths[:i+1] {
				content, err := fs.ReadFile(all, path)
				if err != nil {
					t.Fatal(err)
				}
				prefix[path] = string(content)
			}
			db = openTest(t, url)
			db.files = migrationFiles(t, prefix)
			applied, err := db.Up(t.Context())
			if err != nil || len(applied) != 1 {
				t.Fatalf("up to %s: %v %v", paths[i], applied, err)
			}
			if i > 0 && i == len(paths)-1 && strings.Contains(prefix[paths[i]], counters.Table) { // the first file finds no rows
				totalsAreRight(t, db)
			}
			putARowIntoEveryTable(t, db)
		}
		db.files = all
		if err := db.Verify(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// totalsAreRight looks whether a migration has counted the rows it found.
func totalsAreRight(t *testing.T, db *testDB) {
	t.Helper()
	if found, err := db.Counters.Check(t.Context()); err != nil || len(found) > 0 {
		t.Errorf("totals: %v %v", found, err)
	}
	want := 0
	for _, total := range ent.Counters {
		rows := 0 // of a table that the migration has created
		if err := db.SQL.QueryRowContext(t.Context(), "SELECT count(*) FROM "+total.Table).Scan(&rows); err != nil {
			t.Fatal(err)
		}
		if total.Where == "" && rows > 0 { // the one appointment is cancelled
			want++
		}
	}
	var kept int
	if err := db.SQL.QueryRowContext(t.Context(), "SELECT count(*) FROM "+counters.Table).Scan(&kept); err != nil || kept != want {
		t.Errorf("%d totals are kept, want %d: %v", kept, want, err)
	}
}

// putARowIntoEveryTable fills the tables that have no row, but for those of the
// totals, which the rows of others decide. A column's type decides its value, so
// that every key points at the one row there is;
// limits of the column and rules of the row come first.
func putARowIntoEveryTable(t *testing.T, db *testDB) {
	t.Helper()
	columns := `SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = 'public' AND table_name <> 'atlas_schema_revisions' AND to_regclass(quote_ident(table_name)) NOT IN (SELECT inhrelid FROM pg_inherits) ORDER BY 1, ordinal_position`
	freely, strictly := "SET session_replication_role = replica", "RESET session_replication_role"
	if db.Dialect == dialect.SQLite {
		columns = `SELECT t.name, c.name, c.type FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite%' AND t.name <> 'atlas_schema_revisions' ORDER BY 1, c.cid`
		freely, strictly = "PRAGMA foreign_keys = off", "PRAGMA foreign_keys = on"
	}
	conn, err := db.SQL.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	rows, err := conn.QueryContext(t.Context(), columns)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	names, values := map[string][]string{}, map[string][]string{}
	for rows.Next() {
		var table, column, kind string
		if err := rows.Scan(&table, &column, &kind); err != nil {
			t.Fatal(err)
		}
		value, known := map[string]string{
			"uuid": "'01934c04-c000-7000-a2f6-00114deeb39f'", "bigint": "1", "integer": "1", "boolean": "true", "bool": "true",
			"character varying": "'x'", "text": "'x'", "jsonb": "'[]'", "json": "'[]'", "bytea": "'x'", "blob": "'x'",
			"timestamp with time zone": "'2026-07-01T09:00:00Z'", "datetime": "1782896400000000", "date": "'2026-07-01'",
		}[strings.ToLower(kind)]
		if column == "finish_time" { // after start_time
			value = strings.NewReplacer("T09", "T10", "1782896400", "1782900000").Replace(value)
		}
		if !known {
			t.Fatalf("%s.%s is a %s", table, column, kind)
		}
		if within := sample(table, column); within != "" {
			value = within
		}
		names[table], values[table] = append(names[table], `"`+column+`"`), append(values[table], value)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.ExecContext(t.Context(), freely); err != nil {
		t.Fatal(err)
	}
	for table := range names {
		if table == counters.Table || table == counters.ChangesTable {
			continue
		}
		insert := fmt.Sprintf(`INSERT INTO "%s" (%s) SELECT %s WHERE NOT EXISTS (SELECT 1 FROM "%[1]s")`,
			table, strings.Join(names[table], ", "), strings.Join(values[table], ", "))
		if _, err := conn.ExecContext(t.Context(), insert); err != nil {
			t.Fatalf("%s: %v", insert, err)
		}
	}
	if _, err := conn.ExecContext(t.Context(), strictly); err != nil {
		t.Fatal(err)
	}
}

// keyless are the tables whose practice no foreign key checks, and why.
var keyless = map[string]string{
	"audit_events":        "written beside a row that has the key",
	"audit_reads":         "written beside an entry of the audit log",
	"audit_blocks":        "part of the audit log, which also has events of no practice",
	"audit_cuts":          "part of the audit log, which also has events of no practice",
	"imported_records":    "written beside a row that has the key",
	"idempotency_keys":    "deleted after a day, and written for a token of the practice",
	"logged_requests":     "deleted after a week, and written for a token of the practice",
	"feed_changes":        "written by triggers, of rows that have the key",
	counters.Table:        "written by triggers, of rows that have the key",
	counters.ChangesTable: "written by triggers, of rows that have the key",
}

// A table without a foreign key to the practice, or one that points at another
// table by its id alone, would let rows of two practices be mixed.
func TestNoKeyCrossesPractices(t *testing.T) {
	for _, dialectName := range []string{dialect.Postgres, dialect.SQLite} {
		tables, err := Desired(dialectName)
		if err != nil {
			t.Fatal(err)
		}
		for _, table := range tables {
			owner := rowsecurity.PracticeColumn(table)
			if owner == "" || table.Name == "practices" {
				continue
			}
			owned := slices.ContainsFunc(table.ForeignKeys, func(key *schema.ForeignKey) bool { return key.Columns[0].Name == owner })
			if _, may := keyless[table.Name]; owned == may {
				t.Errorf("%s: %s has a foreign key with its practice: %v", dialectName, table.Name, owned)
			}
			for _, key := range table.ForeignKeys {
				if key.RefTable.Name == "applications" { // users of every practice can authorise them
					continue
				}
				if rowsecurity.PracticeColumn(key.RefTable) != "" && key.Columns[0].Name != owner {
					t.Errorf("%s: %s.%s points at %s whatever its practice", dialectName, table.Name, key.Columns[0].Name, key.RefTable.Name)
				}
			}
		}
	}
}

func TestMigrationFilesAreSound(t *testing.T) {
	for name, files := range map[string]fs.FS{"postgres": Files(dialect.Postgres), "sqlite": Files(dialect.SQLite)} {
		_, list, err := open(files)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !slices.IsSortedFunc(list, func(a, b engine.File) int { return strings.Compare(a.Version(), b.Version()) }) {
			t.Errorf("%s: the files are not in the order of their versions", name)
		}
		for _, f := range list {
			if len(f.Version()) != len("20260101000000") || f.Desc() == "" {
				t.Errorf("%s/%s is not named VERSION_NAME.sql", name, f.Name())
			}
		}
	}
	if _, _, err := open(fstest.MapFS{"1_x.sql": {Data: []byte("SELECT 1")}}); !errors.Is(err, ErrChanged) {
		t.Errorf("a directory without atlas.sum: %v", err)
	}
}

// Stock builds of SQLite refuse a database whose schema nests deeper than 100
// levels of their parser; this program's build does not notice.
func TestSchemaOpensWithStockSQLite(t *testing.T) {
	_, list, err := open(Files(dialect.SQLite))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		depth := 0
		for i, c := range string(f.Bytes()) {
			switch c {
			case '(':
				depth++
			case ')':
				depth--
			}
			if depth > 20 {
				t.Fatalf("%s nests %d levels deep at byte %d", f.Name(), depth, i)
			}
		}
	}
}
