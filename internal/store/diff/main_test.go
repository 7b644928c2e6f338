package main

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ariga.io/atlas/sql/migrate"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/dialect/sql/schema"
	"entgo.io/ent/schema/field"

	"chairside/ent"
	"chairside/internal/localpg/pgtest"
	"chairside/internal/migrations"
	"chairside/internal/store"
)

// TestMain finds a PostgreSQL server.
func TestMain(m *testing.M) { pgtest.Main(m) }

// edit changes the schema's tables, as an edit of schema/ would.
type edit func(tables map[string]*schema.Table)

// diff runs the command on the migrations in dir.
func diff(t *testing.T, dir string, change edit, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	c, err := parse(append([]string{"-postgres", pgtest.New(t)}, args...), &out)
	if err != nil {
		return "", err
	}
	c.root, c.tables = dir, edited(change)
	err = c.run(t.Context())
	return out.String(), err
}

func edited(change edit) func(string) ([]*schema.Table, error) {
	return func(dialectName string) ([]*schema.Table, error) {
		tables, err := store.Desired(dialectName)
		if err != nil || change == nil {
			return tables, err
		}
		byName := map[string]*schema.Table{}
		for _, t := range tables {
			byName[t.Name] = t
		}
		change(byName)
		var left []*schema.Table
		for _, t := range tables {
			if byName[t.Name] == t {
				left = append(left, t)
				delete(byName, t.Name)
			}
		}
		for _, t := range byName {
			left = append(left, t)
		}
		return left, nil
	}
}

// withCheck adds a check to a table, whose annotation other tables may share.
func withCheck(t *schema.Table, name, expression string) {
	annotation := entsql.Annotation{}
	if t.Annotation != nil {
		annotation = *t.Annotation
	}
	annotation.Checks = maps.Clone(annotation.Checks)
	if annotation.Checks == nil {
		annotation.Checks = map[string]string{}
	}
	annotation.Checks[name] = expression
	t.Annotation = &annotation
}

// released is a copy of the migrations.
func released(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := errors.Join(
		os.CopyFS(filepath.Join(dir, "postgres"), migrations.Postgres()),
		os.CopyFS(filepath.Join(dir, "sqlite"), migrations.SQLite()),
	); err != nil {
		t.Fatal(err)
	}
	return dir
}

// text is what a directory's files after the baseline say, with their names.
func text(t *testing.T, dir string) string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.sql"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, path := range paths[1:] {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all.WriteString("== " + filepath.Base(path) + "\n" + string(content))
	}
	return all.String()
}

func column(t *schema.Table, name string) *schema.Column {
	c, _ := t.Column(name)
	return c
}

// renameColumn renames a column, and its check as the generator would.
func renameColumn(t *schema.Table, old, fresh string) {
	c := column(t, old)
	c.Name = fresh
	checks := maps.Clone(t.Annotation.Checks)
	for _, l := range ent.Limits {
		if l.Table == t.Name && l.Name == old {
			delete(checks, l.Constraint())
			l.Name = fresh
			checks[l.Constraint()] = l.Condition(c.Collation != "") // only PostgreSQL has collations
		}
	}
	t.Annotation.Checks = checks
}

// dropColumn takes a column away, with its check.
func dropColumn(t *schema.Table, name string) {
	t.Columns = slices.DeleteFunc(slices.Clone(t.Columns), func(c *schema.Column) bool { return c.Name == name })
	delete(t.Annotation.Checks, t.Name+"_"+name+"_check")
}

func TestBaselineFromNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if out, err := diff(t, dir, nil, "baseline"); err != nil {
		t.Fatal(out, err)
	}
	if out, err := diff(t, dir, nil, "-check"); err != nil {
		t.Errorf("the schema differs from its baseline: %s %v", out, err)
	}
	for _, name := range []string{"postgres", "sqlite"} {
		paths, _ := filepath.Glob(filepath.Join(dir, name, "*_baseline.sql"))
		if len(paths) != 1 {
			t.Fatalf("%s: %v", name, paths)
		}
		content, err := os.ReadFile(paths[0])
		if err != nil {
			t.Fatal(err)
		}
		for _, useless := range []string{"\nDELETE FROM", "\nINSERT INTO", "CONCURRENTLY"} {
			if strings.Contains(string(content), useless) {
				t.Errorf("%s: the baseline contains %q", name, useless)
			}
		}
	}
}

func TestRenamedColumnIsRefusedUntilNamed(t *testing.T) {
	t.Parallel()
	dir := released(t)
	rename := func(tables map[string]*schema.Table) { renameColumn(tables["patients"], "town", "city") }
	_, err := diff(t, dir, rename, "rename_town")
	if err == nil || !strings.Contains(err.Error(), "--rename patients.town=city") || !strings.Contains(err.Error(), "--drop patients.town --because") {
		t.Fatalf("a renamed column: %v", err)
	}
	for _, wrong := range []string{"patients.town=county", "patients.postcode=city", "patients.city=town", "letters.town=city"} {
		if _, err := diff(t, dir, rename, "rename_town", "--rename", wrong); err == nil {
			t.Errorf("--rename %s was accepted", wrong)
		}
	}
	if _, err := diff(t, dir, rename, "rename_town", "--rename", "patients.town=city", "--drop", "patients.county", "--because", "not needed"); err == nil || !strings.Contains(err.Error(), "--drop patients.county") {
		t.Errorf("a drop of a column that stays: %v", err)
	}
	if out, err := diff(t, dir, rename, "rename_town", "--rename", "patients.town=city"); err != nil {
		t.Fatal(out, err)
	}
	for _, name := range []string{"postgres", "sqlite"} {
		got := text(t, filepath.Join(dir, name))
		if !strings.Contains(got, `ALTER TABLE "patients" RENAME COLUMN "town" TO "city"`) || strings.Contains(got, "DROP COLUMN") {
			t.Errorf("%s: %s", name, got)
		}
		if name == "postgres" && (!strings.Contains(got, `RENAME CONSTRAINT "patients_town_check" TO "patients_city_check"`) || strings.Contains(got, "ADD CONSTRAINT") || strings.Contains(got, "VALIDATE")) {
			t.Errorf("the check was made anew: %s", got)
		}
	}
	if out, err := diff(t, dir, rename, "-check"); err != nil {
		t.Errorf("-check: %s %v", out, err)
	}
	migrated(t, dir, func(t *testing.T, query func(string) string) {
		if got := query("SELECT count(city) || ' ' || min(city) FROM patients"); got != "41 Leeds" {
			t.Errorf("after the rename: %s", got)
		}
	})
}

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
		delete(tables, "total_changes") // only PostgreSQL has it, and nothing points at it
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
		"--drop total_changes --because", "--rename-table total_changes=NEW", `--backfill patients.town="EXPRESSION"`, "--retype patients.county --because",
		"--assert patients.patient_town --because", "--assert patients.patients_postcode --because", "--drop patients.address_line_2 --because",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in: %v", want, err)
		}
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*", "*.sql"))
	if len(files) != 2 {
		t.Errorf("wrote %v", files)
	}
}

// A file edited by hand is judged as one that diff wrote.
func TestDropWrittenByHandFailsTheCheck(t *testing.T) {
	t.Parallel()
	dir := released(t)
	const drop = `DROP TABLE "imported_records";` + "\n"
	path := filepath.Join(dir, "postgres", "20990101000000_drop.sql")
	gone := func(tables map[string]*schema.Table) { delete(tables, "imported_records") }
	for _, test := range []struct{ text, want string }{
		{drop, "[destructive]"},
		{"-- atlas:nolint destructive\n" + drop, "needs a reason"},
		{"-- atlas:nolint destructive\n-- Because: nobody imports any more\n" + drop, ""},
	} {
		for _, to := range []string{path, strings.Replace(path, "postgres", "sqlite", 1)} {
			if err := os.WriteFile(to, []byte(test.text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := diff(t, dir, gone, "-check"); err == nil || !strings.Contains(err.Error(), "diff -hash") {
			t.Errorf("without -hash: %v", err)
		}
		if _, err := diff(t, dir, gone, "-hash"); err != nil {
			t.Fatal(err)
		}
		out, err := diff(t, dir, gone, "-check")
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %s %v", test.text, out, err)
		}
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{}, {"a", "b"}, {"-check", "a"}, {"-check", "-hash"}, {"UPPER"}, {"a", "--drop", "t.c"}, {"a", "--because", "no drop"},
		{"a", "--drop", "t.c", "--because", "short"}, {"a", "--rename", "t.c"}, {"a", "--rename", "c=d"}, {"a", "--rename", "t.c=d e"},
	} {
		var usage *usageError
		if _, err := parse(args, nil); !errors.As(err, &usage) {
			t.Errorf("%q: %v", args, err)
		}
	}
}

// migrated applies the files in dir to databases of both kinds that have a row in
// every table, and 40 more patients, since the baseline.
func migrated(t *testing.T, dir string, test func(t *testing.T, query func(string) string)) {
	t.Helper()
	for name, url := range map[string]string{"postgres": pgtest.New(t), "sqlite": "sqlite:" + t.TempDir() + "/test.db"} {
		db, err := store.Open(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		conn, err := db.SQL.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if name == "sqlite" { // as migrations are applied
			if _, err := conn.ExecContext(t.Context(), "PRAGMA foreign_keys = off"); err != nil {
				t.Fatal(err)
			}
		}
		local, err := migrate.NewLocalDir(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		files, err := local.Files()
		if err != nil {
			t.Fatal(err)
		}
		driver, err := db.Atlas()
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range files {
			statements, err := migrate.FileStmtDecls(driver, f)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range statements {
				if _, err := conn.ExecContext(t.Context(), s.Text); err != nil {
					t.Fatalf("%s: %v\n%s", f.Name(), err, s.Text)
				}
			}
			if i == 0 {
				fill(t, conn, name)
			}
		}
		t.Run(name, func(t *testing.T) {
			test(t, func(query string) (value string) {
				if err := conn.QueryRowContext(t.Context(), query).Scan(&value); err != nil {
					t.Error(err)
				}
				return value
			})
			for _, query := range map[string][]string{
				"sqlite":   {"SELECT count(*) FROM pragma_foreign_key_check WHERE \"table\" = 'patients'"},
				"postgres": {"SELECT count(*) FROM pg_constraint WHERE NOT convalidated", "SELECT count(*) FROM pg_index WHERE NOT indisvalid"},
			}[name] {
				var n int
				if err := conn.QueryRowContext(t.Context(), query).Scan(&n); err != nil || n != 0 && name == "postgres" {
					t.Errorf("%s: %d %v", query, n, err)
				}
			}
			if name == "postgres" { // fill has put rows past the triggers
				return
			}
			if found, err := db.Counters.Check(t.Context()); err != nil || len(found) > 0 {
				t.Errorf("totals: %v %v", found, err)
			}
		})
	}
}

// sample is a value within the limits of a column, in SQL, "" where it has none.
func sample(table, column string) string {
	// Rules between columns ask for these.
	switch table + "." + column {
	case "appointments.state":
		return "'Cancelled'"
	case "appointments.duration":
		return "60"
	case "invoices.status":
		return "'void'"
	case "invoices.paid":
		return "false"
	case "appointments.did_not_attend_at", "invoices.paid_on":
		return "NULL"
	case "invoices.amount_outstanding":
		return "0"
	case "working_sessions.start_minute":
		return "1"
	case "working_sessions.finish_minute":
		return "2"
	}
	for _, l := range ent.Limits {
		if l.Table == table && l.Name == column {
			switch v := l.Inside().(type) {
			case int64:
				return fmt.Sprint(max(v, 1))
			case string:
				return "'" + v + "'"
			}
		}
	}
	return ""
}

// fill puts a row into every table, and 41 into patients.
func fill(t *testing.T, conn *sql.Conn, kind string) {
	t.Helper()
	columns := `SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1, ordinal_position`
	if kind == "sqlite" {
		columns = `SELECT t.name, c.name, c.type FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite%' ORDER BY 1, c.cid`
	} else if _, err := conn.ExecContext(t.Context(), "SET session_replication_role = replica"); err != nil {
		t.Fatal(err)
	}
	rows, err := conn.QueryContext(t.Context(), columns)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	names, values := map[string][]string{}, map[string][]string{}
	for rows.Next() {
		var table, name, kind string
		if err := rows.Scan(&table, &name, &kind); err != nil {
			t.Fatal(err)
		}
		value := map[string]string{
			"uuid": "'01934c04-c000-7000-a2f6-00114deeb300'", "bigint": "1", "integer": "1", "boolean": "true", "bool": "true",
			"jsonb": "'[]'", "json": "'[]'", "timestamp with time zone": "'2026-07-01T09:00:00Z'", "datetime": "1782896400000000", "date": "'2026-07-01'",
		}[strings.ToLower(kind)]
		switch {
		case name == "town":
			value = "'Leeds'"
		case value == "":
			value = "'x'"
		case name == "finish_time":
			value = strings.NewReplacer("T09", "T10", "1782896400", "1782900000").Replace(value)
		}
		if within := sample(table, name); within != "" && name != "town" {
			value = within
		}
		names[table], values[table] = append(names[table], `"`+name+`"`), append(values[table], value)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		t.Fatal(err)
	}
	for table := range names {
		if table == "kept_totals" || table == "total_changes" {
			continue
		}
		n := 1
		if table == "patients" {
			n = 41
		}
		for i := range n {
			row := slices.Clone(values[table])
			for j, name := range names[table] {
				if name == `"id"` && n > 1 {
					row[j] = strings.Replace(row[j], "b300'", fmt.Sprintf("b3%02d'", i), 1)
					if row[j] == "1" {
						row[j] = fmt.Sprint(i + 1)
					}
				}
			}
			insert := fmt.Sprintf(`INSERT INTO "%s" (%s) VALUES (%s)`, table, strings.Join(names[table], ", "), strings.Join(row, ", "))
			if _, err := conn.ExecContext(t.Context(), insert); err != nil {
				t.Fatalf("%s: %v: %s", table, err, insert)
			}
		}
	}
	if kind == "sqlite" {
		return
	}
	if _, err := conn.ExecContext(t.Context(), "RESET session_replication_role"); err != nil {
		t.Fatal(err)
	}
}
