package migrate

import (
	"testing"
	"testing/fstest"

	engine "ariga.io/atlas/sql/migrate"
	"entgo.io/ent/dialect/sql/schema"
	"entgo.io/ent/schema/field"

	"chairside/internal/store"
	"chairside/internal/store/storetest"
	"chairside/internal/test/localpg/pgtest"
)

// TestMain finds a PostgreSQL server.
func TestMain(m *testing.M) { pgtest.Main(m) }

// testDB is a database and what migrates it.
type testDB struct {
	*store.DB
	*migrator
}

func openTest(t *testing.T, url string) *testDB {
	t.Helper()
	db := storetest.Open(t, url)
	return &testDB{db, of(db)}
}

// migrationFiles makes a directory of migrations with its checksums.
func migrationFiles(t *testing.T, files map[string]string) fstest.MapFS {
	t.Helper()
	tree, dir := fstest.MapFS{}, &engine.MemDir{}
	for name, content := range files {
		tree[name] = &fstest.MapFile{Data: []byte(content)}
		if err := dir.WriteFile(name, []byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	sum, err := dir.Checksum()
	if err != nil {
		t.Fatal(err)
	}
	text, err := sum.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	tree["atlas.sum"] = &fstest.MapFile{Data: text}
	return tree
}

// memos is a table of one text column, in Ent's form.
func memos() []*schema.Table {
	id := &schema.Column{Name: "id", Type: field.TypeInt64}
	body := &schema.Column{Name: "body", Type: field.TypeString, Nullable: true}
	return []*schema.Table{{Name: "memos", Columns: []*schema.Column{id, body}, PrimaryKey: []*schema.Column{id}}}
}
