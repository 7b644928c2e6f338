package migrate

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"chairside/internal/store/storetest"
)

// copiesIn are the names of the copies in a directory.
func copiesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*"+copyMark+"*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range found {
		names = append(names, filepath.Base(path))
	}
	return names
}

// Before an embedded database in use is migrated it is copied; the copy is the
// whole database as it was, for its owner alone, and the last two are kept.
func TestMigrationKeepsACopy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	url := "sqlite:" + dir + "/x.db"
	files := twoFiles(url)
	migrate := func() (said []string) {
		t.Helper()
		if _, err := openWith(t, url, files).Up(t.Context(), func(s string) { said = append(said, s) }); err != nil {
			t.Fatal(err)
		}
		return said
	}
	if said := migrate(); len(said) > 0 || len(copiesIn(t, dir)) > 0 {
		t.Errorf("a new database was copied: %q", said)
	}
	storetest.Exec(t, openWith(t, url, files).DB, "INSERT INTO memos VALUES (1, 'kept')")
	if err := os.WriteFile(dir+"/x.db"+copyMark+"easter", nil, 0o600); err != nil { // somebody's own
		t.Fatal(err)
	}

	old := twoFiles(url)
	files["20260103000000_third.sql"] = "UPDATE memos SET body = 'lost';"
	files["20260103000001_fourth.sql"] = "DELETE FROM memos;"
	said := migrate()
	path := filepath.Join(dir, "x.db"+copyMark+"20260103000000")
	if len(said) != 1 || !strings.Contains(said[0], path) {
		t.Errorf("reported: %q", said)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the copy's mode is %v", info.Mode())
	}
	copied := openWith(t, "sqlite:"+path, old)
	var body string
	if err := copied.SQL.QueryRow("SELECT body FROM memos").Scan(&body); err != nil || body != "kept" {
		t.Errorf("the copy holds %q, %v", body, err)
	}
	if err := copied.Check(t.Context()); err != nil {
		t.Errorf("the old program on the copy: %v", err)
	}
	if err := copied.Close(); err != nil {
		t.Fatal(err)
	}
	if said := migrate(); len(said) > 0 {
		t.Errorf("copied with nothing to do: %q", said)
	}
	for _, version := range []string{"20260104000000", "20260105000000"} {
		files[version+"_more.sql"] = "SELECT 1;"
		migrate()
	}
	want := []string{"x.db.before-20260104000000", "x.db.before-20260105000000", "x.db.before-easter"}
	if names := copiesIn(t, dir); !slices.Equal(names, want) {
		t.Errorf("kept: %q", names)
	}
}

// Without a copy nothing is changed.
func TestMigrationStopsWithoutACopy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	url := "sqlite:" + dir + "/x.db"
	if _, err := openWith(t, url, twoFiles(url)).Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	files := twoFiles(url)
	files["20260103000000_third.sql"] = "DROP TABLE memos;"
	db := openWith(t, url, files)
	obstacle := filepath.Join(dir, "x.db"+copyMark+"20260103000000.partial")
	if err := os.MkdirAll(filepath.Join(obstacle, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Up(t.Context()); !errors.Is(err, ErrNoCopy) || !strings.Contains(err.Error(), "nothing was changed") {
		t.Errorf("Up: %v", err)
	}
	storetest.Exec(t, db.DB, "INSERT INTO memos VALUES (1, 'x')")
	if err := db.Check(t.Context()); !errors.Is(err, ErrPending) {
		t.Errorf("Check: %v", err)
	}
	if err := os.RemoveAll(obstacle); err != nil {
		t.Fatal(err)
	}
	// What a killed process has left is no obstacle.
	if err := os.WriteFile(obstacle, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if applied, err := db.Up(t.Context()); err != nil || len(applied) != 1 {
		t.Errorf("%v %v", applied, err)
	}
	if names := copiesIn(t, dir); len(names) != 1 {
		t.Errorf("kept: %q", names)
	}
}
