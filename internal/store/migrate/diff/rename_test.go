package main

import (
	"path/filepath"
	"strings"
	"testing"

	"entgo.io/ent/dialect/sql/schema"
)

func TestRenamedColumnIsRefusedUntilNamed(t *testing.T) {
	t.Parallel()
	dir := released(t) // the change feed compares no columns of sites, so its triggers have no names of columns
	rename := func(tables map[string]*schema.Table) { renameColumn(tables["sites"], "town", "city") }
	_, err := diff(t, dir, rename, "rename_town")
	if err == nil || !strings.Contains(err.Error(), "--rename sites.town=city") || !strings.Contains(err.Error(), "--drop sites.town --because") {
		t.Fatalf("a renamed column: %v", err)
	}
	for _, wrong := range []string{"sites.town=county", "sites.postcode=city", "sites.city=town", "letters.town=city"} {
		if _, err := diff(t, dir, rename, "rename_town", "--rename", wrong); err == nil {
			t.Errorf("--rename %s was accepted", wrong)
		}
	}
	if _, err := diff(t, dir, rename, "rename_town", "--rename", "sites.town=city", "--drop", "sites.county", "--because", "not needed"); err == nil || !strings.Contains(err.Error(), "--drop sites.county") {
		t.Errorf("a drop of a column that stays: %v", err)
	}
	if out, err := diff(t, dir, rename, "rename_town", "--rename", "sites.town=city"); err != nil {
		t.Fatal(out, err)
	}
	for _, name := range []string{"postgres", "sqlite"} {
		got := text(t, filepath.Join(dir, name))
		if !strings.Contains(got, `ALTER TABLE "sites" RENAME COLUMN "town" TO "city"`) || strings.Contains(got, "DROP COLUMN") {
			t.Errorf("%s: %s", name, got)
		}
		if name == "postgres" && (!strings.Contains(got, `RENAME CONSTRAINT "sites_town_check" TO "sites_city_check"`) || strings.Contains(got, "ADD CONSTRAINT") || strings.Contains(got, "VALIDATE")) {
			t.Errorf("the check was made anew: %s", got)
		}
	}
	if out, err := diff(t, dir, rename, "-check"); err != nil {
		t.Errorf("-check: %s %v", out, err)
	}
	migrated(t, dir, func(t *testing.T, query func(string) string) {
		if got := query("SELECT min(city) || ' ' || max(city) FROM sites"); got != "Leeds Leeds" {
			t.Errorf("after the rename: %s", got)
		}
	})
}

// A column that counters, CHECKs and a partial index mention keeps its values, and
// the counters stay right.
func TestRenamedColumnOfCounters(t *testing.T) {
	t.Parallel()
	dir := releasedBefore(t, "cancelled_at", "called_off_at")
	_, err := diff(t, dir, nil, "name_it")
	if err == nil || !strings.Contains(err.Error(), "--rename appointments.called_off_at=cancelled_at") {
		t.Fatalf("a renamed column: %v", err)
	}
	if out, err := diff(t, dir, nil, "name_it", "--rename", "appointments.called_off_at=cancelled_at"); err != nil {
		t.Fatal(out, err)
	}
	for _, name := range []string{"postgres", "sqlite"} {
		got := text(t, filepath.Join(dir, name))
		if !strings.Contains(got, `RENAME COLUMN "called_off_at" TO "cancelled_at"`) || strings.Contains(got, "DROP COLUMN") {
			t.Errorf("%s: %s", name, got)
		}
		if name == "postgres" && (!strings.Contains(got, "LOCK TABLE appointments IN SHARE ROW EXCLUSIVE MODE") || strings.Contains(got, "ADD CONSTRAINT") || strings.Contains(got, "CREATE INDEX")) {
			t.Errorf("the counters are not replaced under a lock, or a check or an index is made anew: %s", got)
		}
	}
	if out, err := diff(t, dir, nil, "-check"); err != nil {
		t.Errorf("-check: %s %v", out, err)
	}
	migrated(t, dir, func(t *testing.T, query func(string) string) {
		if got := query("SELECT count(cancelled_at) FROM appointments"); got != "1" {
			t.Errorf("after the rename: %s", got)
		}
	})
}

// A table keeps its rows, and leaves no counters behind under its old name.
func TestRenamedTable(t *testing.T) {
	t.Parallel()
	dir := releasedBefore(t, "payments", "receipts")
	_, err := diff(t, dir, nil, "name_it")
	if err == nil || !strings.Contains(err.Error(), "--rename-table receipts=") || !strings.Contains(err.Error(), "--drop receipts --because") {
		t.Fatalf("a renamed table: %v", err)
	}
	if out, err := diff(t, dir, nil, "name_it", "--rename-table", "receipts=payments"); err != nil {
		t.Fatal(out, err)
	}
	for _, name := range []string{"postgres", "sqlite"} {
		got := text(t, filepath.Join(dir, name))
		if !strings.Contains(got, `ALTER TABLE "receipts" RENAME TO "payments"`) {
			t.Errorf("%s: %s", name, got)
		}
		if name == "postgres" && (strings.Contains(got, "DROP TABLE") || strings.Contains(got, "ADD CONSTRAINT") || strings.Contains(got, "CREATE INDEX")) {
			t.Errorf("it is made anew: %s", got)
		}
	}
	if out, err := diff(t, dir, nil, "-check"); err != nil {
		t.Errorf("-check: %s %v", out, err)
	}
	migrated(t, dir, func(t *testing.T, query func(string) string) {
		for count, want := range map[string]string{
			"SELECT count(*) FROM payments":                                 "1",
			"SELECT count(*) FROM counters WHERE counter LIKE 'receipts.%'": "0",
		} {
			if got := query(count); got != want {
				t.Errorf("%s: %s, want %s", count, got, want)
			}
		}
	})
}
