package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"entgo.io/ent/dialect/sql/schema"
	"entgo.io/ent/schema/field"
)

// An optional column, a required one that is filled, indexes and a check, on
// tables with rows.
func TestNewColumnsIndexesAndConstraints(t *testing.T) {
	t.Parallel()
	dir := released(t)
	grow := func(tables map[string]*schema.Table) {
		patients := tables["patients"]
		city := &schema.Column{Name: "city", Type: field.TypeString}
		colour := &schema.Column{Name: "colour", Type: field.TypeString, Nullable: true}
		for _, c := range []*schema.Column{city, colour} {
			if column(patients, "town").Collation != "" {
				c.Collation = "C"
			}
			patients.Columns = append(patients.Columns, c)
		}
		patients.Indexes = append(patients.Indexes,
			&schema.Index{Name: "patient_city", Columns: []*schema.Column{column(patients, "practice_id"), city}},
			&schema.Index{Name: "patient_city_id", Unique: true, Columns: []*schema.Column{city, column(patients, "id")}})
		withCheck(patients, "patients_colour", "CAST(colour AS text) IN ('red', 'blue')")
		column(tables["sites"], "name").Nullable = true
	}
	_, err := diff(t, dir, grow, "grow")
	if err == nil || !strings.Contains(err.Error(), `--backfill patients.city="EXPRESSION"`) {
		t.Fatalf("a required column: %v", err)
	}
	if out, err := diff(t, dir, grow, "grow", "--backfill", "patients.city=upper(town)"); err != nil {
		t.Fatal(out, err)
	}
	postgres := text(t, filepath.Join(dir, "postgres"))
	for _, want := range []string{
		"_grow.sql", "_grow_backfill.sql\n-- atlas:txmode none", "_grow_index.sql\n-- atlas:txmode none", "_grow_constrain.sql",
		"_grow_validate.sql\n-- atlas:txmode none", "_grow_require.sql", `CREATE INDEX CONCURRENTLY "patient_city"`, "NOT VALID",
		`ALTER TABLE "patients" VALIDATE CONSTRAINT "patients_colour"`, "SKIP LOCKED",
	} {
		if !strings.Contains(postgres, want) {
			t.Errorf("no %q in:\n%s", want, postgres)
		}
	}
	if out, err := diff(t, dir, grow, "-check"); err != nil {
		t.Errorf("-check: %s %v", out, err)
	}
	migrated(t, dir, func(t *testing.T, query func(string) string) {
		if got := query("SELECT count(city) || ' ' || min(city) FROM patients"); got != "41 LEEDS" {
			t.Errorf("the new column: %s", got)
		}
	})
	// What was added is then taken away.
	_, err = diff(t, dir, nil, "shrink")
	if err == nil || !strings.Contains(err.Error(), "--drop patients.city") || !strings.Contains(err.Error(), "--drop patients.colour") || !strings.Contains(err.Error(), "--backfill sites.name") {
		t.Errorf("dropped columns: %v", err)
	}
	if out, err := diff(t, dir, nil, "shrink", "--drop", "patients.city", "--drop", "patients.colour", "--because", "only a test", "--backfill", "sites.name='?'"); err != nil {
		t.Fatal(out, err)
	}
	migrated(t, dir, func(t *testing.T, query func(string) string) {
		if got := query("SELECT count(town) || ' ' || min(town) FROM patients"); got != "41 Leeds" {
			t.Errorf("after the drop: %s", got)
		}
	})
}

// Each change that may lose data, or fail on rows, is refused with the flag that decides it.
func TestRefusals(t *testing.T) {
	t.Parallel()
	dir := released(t)
	_, err := diff(t, dir, func(tables map[string]*schema.Table) {
		patients := tables["patients"]
		delete(tables, "counter_changes") // only PostgreSQL has it, and nothing points at it
		column(patients, "town").Nullable = false
		column(patients, "county").SchemaType = map[string]string{"postgres": "varchar(10)", "sqlite": "blob"}
		patients.Indexes = append(patients.Indexes, &schema.Index{Name: "patient_town", Unique: true, Columns: []*schema.Column{column(patients, "town")}})
		withCheck(patients, "patients_postcode", "postcode <> ''")
		dropColumn(patients, "address_line_2")
	}, "unsafe")
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{
		"--drop counter_changes --because", "--rename-table counter_changes=NEW", `--backfill patients.town="EXPRESSION"`, "--retype patients.county --because",
		"--assert patients.patient_town --because", "--assert patients.patients_postcode --because", "--drop patients.address_line_2 --because",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in: %v", want, err)
		}
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*", "*.sql"))
	if before, _ := filepath.Glob(filepath.Join(released(t), "*", "*.sql")); len(files) != len(before) {
		t.Errorf("wrote %v", files)
	}
}

// A counter that the last release did not have is filled.
func TestNewCounter(t *testing.T) {
	t.Parallel()
	dir := released(t)
	for path, line := range map[string]*regexp.Regexp{
		"postgres": regexp.MustCompile(`(?m)^    \('appointments\.practitioner', .*\n`),
		"sqlite":   regexp.MustCompile(`(?m)^  INSERT INTO counters .*\n  SELECT 'appointments\.practitioner'.*\n.*\n`),
	} {
		paths, err := filepath.Glob(filepath.Join(dir, path, "*.sql"))
		if err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(paths[0])
		if err != nil {
			t.Fatal(err)
		}
		older := line.ReplaceAll(content, nil)
		if bytes.Equal(older, content) {
			t.Fatalf("%s does not count the appointments of practitioners", paths[0])
		}
		if err := os.WriteFile(paths[0], older, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := diff(t, dir, nil, "-hash"); err != nil {
		t.Fatal(err)
	}
	if out, err := diff(t, dir, nil, "count_them"); err != nil {
		t.Fatal(out, err)
	}
	if out, err := diff(t, dir, nil, "-check"); err != nil {
		t.Errorf("-check: %s %v", out, err)
	}
	migrated(t, dir, func(t *testing.T, query func(string) string) {
		if got := query("SELECT count(*) FROM appointments"); got != "1" {
			t.Error(got)
		}
	})
}

// A narrower type and a tighter CHECK, and an index that keeps its name.
func TestNarrowedTypeCheckAndIndex(t *testing.T) {
	t.Parallel()
	dir := released(t)
	narrow := func(tables map[string]*schema.Table) {
		column(tables["appointments"], "duration").SchemaType = map[string]string{"postgres": "integer"}
		withCheck(tables["invoice_items"], "invoice_items_quantity_check", "quantity >= 1 AND quantity <= 50")
		patients := tables["patients"]
		for _, i := range patients.Indexes {
			switch i.Name {
			case "patient_active":
				i.Columns = append(i.Columns[:2:2], column(patients, "town"), i.Columns[2])
			case "patient_practice_id_created_at_id":
				i.Name = "patient_created"
				i.Columns = append(i.Columns[:2:2], column(patients, "town"), i.Columns[2])
			}
		}
	}
	flags := []string{"--retype", "appointments.duration", "--because", "a day has 1440 minutes", "--assert", "invoice_items.invoice_items_quantity_check", "--because", "no invoice has more"}
	for _, missing := range [][]string{nil, flags[:4], flags[4:]} {
		_, err := diff(t, dir, narrow, append([]string{"narrow"}, missing...)...)
		if err == nil || !strings.Contains(err.Error(), "need a decision") {
			t.Errorf("with %q: %v", missing, err)
		}
	}
	if out, err := diff(t, dir, narrow, append([]string{"narrow"}, flags...)...); err != nil {
		t.Fatal(out, err)
	}
	postgres := text(t, filepath.Join(dir, "postgres"))
	for _, want := range []string{
		`ALTER COLUMN "duration" TYPE integer`, "-- Because: a day has 1440 minutes",
		`ADD CONSTRAINT "invoice_items_quantity_check" CHECK ((quantity >= 1) AND (quantity <= 50)) NOT VALID`, `VALIDATE CONSTRAINT "invoice_items_quantity_check"`,
		`CREATE INDEX CONCURRENTLY "new_patient_active"`, `ALTER INDEX IF EXISTS "new_patient_active" RENAME TO "patient_active"`,
	} {
		if !strings.Contains(postgres, want) {
			t.Errorf("no %q in:\n%s", want, postgres)
		}
	}
	if built, dropped := strings.Index(postgres, `CONCURRENTLY "patient_created"`), strings.Index(postgres, `DROP INDEX CONCURRENTLY IF EXISTS "patient_practice_id_created_at_id"`); built < 0 || dropped < built {
		t.Errorf("the old index is dropped at %d, before its successor at %d", dropped, built)
	}
	if out, err := diff(t, dir, narrow, "-check"); err != nil {
		t.Errorf("-check: %s %v", out, err)
	}
	migrated(t, dir, func(t *testing.T, query func(string) string) {
		if got := query("SELECT duration FROM appointments"); got != "60" {
			t.Errorf("the duration: %s", got)
		}
	})
}
