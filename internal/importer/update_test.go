package importer

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"chairside/internal/store"
)

// writeFiles writes files to a new directory and returns it.
func writeFiles(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func rewrite(t testing.TB, dir, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// minimalMapping maps files whose columns are named like fields.
const minimalMapping = `
source: old
files:
  - {file: patients.csv, entity: patient, constants: {payment_plan_id: Private, ethnicity: "99"}}
  - {file: diary.csv, entity: appointments, constants: {practitioner_id: ann@bright.test}}
  - {file: money.csv, entity: payments}
`

// Columns that are named like fields need no mapping. A second import updates what differs in the
// file, and keeps columns that the file does not have.
func TestSecondImportUpdatesWhatDiffers(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		createPractice(t, db)
		const patients = "legacy_id,Title,First Name,Last-Name,DATE OF BIRTH,Gender,Address Line 1,Postcode,opening_balance\n"
		const diary = "ID,patient_id,start_time,finish_time,reason,state\n"
		dir := writeFiles(t, map[string]string{
			"mapping.yaml": minimalMapping,
			"patients.csv": patients + "7,Mr,Al,Ford,1990-01-02,M,1 Road,X1 1XX,\n8,Mrs,Bo,Ford,1990-01-03,F,1 Road,X1 1XX,5\n",
			"diary.csv":    diary + "1,7,2026-06-01 09:00,2026-06-01T09:30:00,exam,Cancelled\n2,8,2026-08-01 09:00,2026-08-01 09:30,Review,Pending\n",
			"money.csv":    "id,patient_id,dated_on,amount,method\n1,7,2026-06-01,12.5,Card\n",
		})
		first := runImport(t, db, dir, Options{})
		if first.Rejected() > 0 || first.Warnings+first.Differences > 0 {
			t.Fatalf("%+v", first)
		}
		// A user changes a column that the file does not have.
		execSQL(t, db, "UPDATE patients SET occupation = 'smith' WHERE legacy_id = '7'")
		rewrite(t, dir, "patients.csv", patients+"7,Mr,Al,Førd,1990-01-02,M,1 Road,X1 1XX,3.00\n8,Mrs,Bo,Ford,1990-01-03,F,1 Road,X1 1XX,5\n9,Ms,Cy,New,1990-01-04,F,1 Road,X1 1XX,\n")
		rewrite(t, dir, "diary.csv", diary+"1,7,2026-06-01 09:00,2026-06-01 09:30,Exam,Pending\n2,8,2026-08-01 09:00,2026-08-01 09:45,Review,Pending\n")
		rewrite(t, dir, "money.csv", "id,patient_id,dated_on,amount,method\n1,7,2026-06-01,20,Card\n")
		second := runImport(t, db, dir, Options{})
		want := []FileReport{
			{"patients.csv", "patients", 3, 1, 1, 1, 0},
			{"diary.csv", "appointments", 2, 0, 2, 0, 0},
			{"money.csv", "payments", 1, 0, 1, 0, 0},
		}
		for i, f := range second.Files {
			if f != want[i] {
				t.Errorf("%+v, want %+v", f, want[i])
			}
		}
		for _, query := range []string{
			"SELECT count(*) FROM patients WHERE legacy_id = '7' AND last_name_folded = 'førd' AND search_text LIKE '% førd%' AND occupation = 'smith'",
			"SELECT count(*) FROM accounts AS a JOIN patients AS p ON p.id = a.patient_id WHERE p.legacy_id = '7' AND opening_balance = 300 AND current_balance = 2300",
			"SELECT count(*) FROM appointments WHERE state = 'Pending' AND cancelled_at IS NULL AND pending_at IS NOT NULL AND duration = 30",
			"SELECT count(*) FROM appointments WHERE reason = 'Review' AND duration = 45",
			"SELECT count(*) FROM payments WHERE amount = 2000 AND amount_unexplained = 2000",
			`SELECT count(*) FROM audit_events WHERE resource = 'Patient' AND action = 'update' AND CAST(fields AS text) LIKE '%last_name%' AND CAST(fields AS text) NOT LIKE '%postcode%'`,
		} {
			if n := queryInt(t, db, query); n != 1 {
				t.Errorf("%d rows, want 1: %s", n, query)
			}
		}
		for _, query := range invariants {
			if n := queryInt(t, db, query); n != 0 {
				t.Errorf("%d rows are inconsistent: %s", n, query)
			}
		}

		// An appointment that was deleted here is not imported again.
		execSQL(t, db, "DELETE FROM appointments WHERE reason = 'Review'")
		third := runImport(t, db, dir, Options{})
		if n := queryInt(t, db, "SELECT count(*) FROM appointments"); n != 1 || third.Rejected() > 0 {
			t.Errorf("%d appointments; %+v", n, third)
		}
	})
}

// Patients whose legacy_id an API client wrote are matched.
func TestLegacyIDsOfAPIClients(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		createPractice(t, db)
		dir := writeFiles(t, map[string]string{
			"mapping.yaml": minimalMapping[:strings.Index(minimalMapping, "  - {file: diary")],
			"patients.csv": "id,title,first_name,last_name,date_of_birth,gender,address_line_1,postcode\n7,Mr,Al,Ford,1990-01-02,M,1 Road,X1 1XX\n",
		})
		runImport(t, db, dir, Options{})
		execSQL(t, db, "DELETE FROM imported_records")
		report := runImport(t, db, dir, Options{})
		if f := report.Files[0]; f.Unchanged != 1 || queryInt(t, db, "SELECT count(*) FROM imported_records") != 1 {
			t.Errorf("%+v", f)
		}
	})
}

// A dry run reports what an import would do, and changes nothing.
func TestDryRun(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		createPractice(t, db)
		before := dumpTables(t, db)
		dryRejects, rejects := t.TempDir(), t.TempDir()
		dry := runImport(t, db, "testdata/oldsoft", Options{DryRun: true, Rejects: dryRejects})
		sameFiles(t, dumpTables(t, db), before)
		if n := queryInt(t, db, "SELECT count(*) FROM import_runs"); n != 0 {
			t.Errorf("%d runs were recorded", n)
		}
		report := runImport(t, db, "testdata/oldsoft", Options{Rejects: rejects})
		if len(dry.Files) != len(report.Files) || dry.Rejected() != report.Rejected() || dry.Differences != report.Differences {
			t.Errorf("dry run: %+v, import: %+v", dry, report)
		}
		want := readFiles(t, rejects)
		for name, got := range readFiles(t, dryRejects) {
			if name != Findings && got != want[name] {
				t.Errorf("%s differs", name)
			}
		}
	})
}

// Problems with values and with references of a row are reported together.
func TestProblemsWithValuesAndReferences(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		createPractice(t, db)
		dir := writeFiles(t, map[string]string{
			"mapping.yaml": "source: old\nfiles: [{file: rooms.csv, entity: rooms, columns: {site: {field: site_id, by: name}}}]\n",
			"rooms.csv":    "id,name,site\n1,,Nowhere\n",
		})
		out := t.TempDir()
		runImport(t, db, dir, Options{Rejects: out})
		if got := readFiles(t, out)["rooms.csv"]; !strings.Contains(got, "\n2,\"name, site_id\",\"name can't be blank; site_id is not the name of a record in sites") {
			t.Error(got)
		}
	})
}

// A row with NUL is rejected, because PostgreSQL cannot store it.
func TestRowsWithNUL(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		createPractice(t, db)
		dir := writeFiles(t, map[string]string{
			"mapping.yaml": "source: old\nfiles: [{file: rooms.csv, entity: rooms, columns: {site: {field: site_id, by: name}}}, {file: questions.csv, entity: custom_fields}]\n",
			"questions.csv": "id,name,type,customizable_type,position,options\n" +
				`1,Colour,enum,Patient,1,"[{""name"":""\\u0000 is no NUL"",""position"":1}]"` + "\n" +
				`2,Shade,enum,Patient,2,"[{""name"":""x\u0000"",""position"":1}]"` + "\n",
			"rooms.csv": "id,name,site\n1,Red,\n2\x00,Blue,\n3,Gre\x00en,\n4,Grey,x\x00\n",
		})
		out := t.TempDir()
		if report := runImport(t, db, dir, Options{Rejects: out}); !slices.Contains(report.Files, FileReport{"rooms.csv", "rooms", 4, 1, 0, 0, 3}) {
			t.Errorf("%+v\n%s", report.Files, readFiles(t, out)["rooms.csv"])
		}
		if rejects := readFiles(t, out)["questions.csv"]; strings.Count(rejects, "must not contain NUL") != 1 || strings.Contains(rejects, "Colour") {
			t.Error(rejects)
		}
		if rejects := readFiles(t, out)["rooms.csv"]; strings.Count(rejects, "must not contain NUL") != 3 {
			t.Error(rejects)
		}
	})
}

// An import sees only the records of its practice, and practices cannot share users.
func TestImportIsLimitedToItsPractice(t *testing.T) {
	t.Parallel()
	db := openDemo(t, "sqlite")
	createPractice(t, db)
	dir := writeFiles(t, map[string]string{
		"mapping.yaml": "source: old\nfiles: [{file: staff.csv, entity: users}, {file: p.csv, entity: payments}]",
		"staff.csv":    "id,first_name,last_name,email,role\n1,A,A,admin@demo.chairside.test,nurse\n",
		"p.csv":        "id,patient_id,dated_on,amount,method\n",
	})
	if _, err := Import(t.Context(), db, dir, Options{}); !errors.Is(err, ErrPractice) {
		t.Errorf("without a practice: %v", err)
	}
	before := queryInt(t, db, "SELECT count(*) FROM users")
	rewrite(t, dir, "p.csv", "id,patient_id,dated_on,amount,method\n1,1,2026-01-01,5,Card\n")
	mapping := "source: old\nfiles: [{file: staff.csv, entity: users}, {file: p.csv, entity: payments, columns: {patient_id: {field: patient_id, by: id}}}]"
	rewrite(t, dir, "mapping.yaml", mapping)
	report := runImport(t, db, dir, Options{Practice: "bright"})
	if report.Rejected() != 2 || queryInt(t, db, "SELECT count(*) FROM users") != before {
		t.Errorf("%+v", report)
	}
}

// If two processes import the same files, one gets ErrBusy.
func TestTwoImportsOfTheSameFiles(t *testing.T) {
	digest := strings.Repeat("5a", 32)
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		im := importer{ctx: t.Context(), db: db, started: now}
		if resumed, err := im.startRun(digest); err != nil || resumed {
			t.Fatalf("%v, %v", resumed, err)
		}
		other := importer{ctx: t.Context(), db: db, started: now}
		if resumed, err := other.startRun(digest); err != nil || !resumed {
			t.Fatalf("%v, %v", resumed, err)
		}
		if err := other.startStage(stageTotals); err != nil {
			t.Fatal(err)
		}
		if err := im.startStage(stageTotals); !errors.Is(err, ErrBusy) {
			t.Errorf("got %v", err)
		}
		if err := other.startStage(stageCheck); err != nil {
			t.Error(err)
		}
	})
}

// A missing time is not midnight, a missing amount not 0.00, and 0900 not 900 minutes.
func TestMissingValuesAreNotZero(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		createPractice(t, db)
		dir := writeFiles(t, map[string]string{
			"mapping.yaml": minimalMapping + `  - file: bills.csv
    entity: invoices
  - {file: lines.csv, entity: invoice_items}
  - {file: hours.csv, entity: working_sessions, constants: {practitioner_id: ann@bright.test, weekday: "1"}}
`,
			"patients.csv": "legacy_id,Title,First Name,Last-Name,DATE OF BIRTH,Gender,Address Line 1,Postcode\n7,Mr,Al,Ford,1990-01-02,M,1 Road,X1 1XX\n",
			"diary.csv":    "ID,patient_id,start_time,finish_time,reason,state\n1,7,2026-06-01,2026-06-01T09:30:00,exam,Cancelled\n",
			"money.csv":    "id,patient_id,dated_on,amount,method\n1,7,2026-06-01,,Card\n2,7,2026-06-01,0.00,Card\n",
			"bills.csv":    "id,patient_id,dated_on\n1,7,2026-06-01\n",
			"lines.csv":    "id,invoice_id,name,total_price\n1,1,Crown,\n2,1,Filling,10.00\n",
			"hours.csv":    "id,start_minute,finish_minute\n1,0900,1100\n2,09:00,11:00\n3,540,660\n",
		})
		out := t.TempDir()
		report := runImport(t, db, dir, Options{Rejects: out})
		if report.Rejected() != 4 {
			t.Errorf("%d rows were rejected, want 4", report.Rejected())
		}
		var rejects strings.Builder
		for _, text := range readFiles(t, out) {
			rejects.WriteString(text)
		}
		for _, want := range []string{"start_time,is a day without a time", "amount,can't be blank", "item_price,is missing", `start_minute,"must be a time such as 09:00`} {
			if !strings.Contains(rejects.String(), want) {
				t.Errorf("the rejects do not have %s", want)
			}
		}
		rewrite(t, dir, "lines.csv", "id,invoice_id,name,total_price\n2,1,Filling,4.00\n")
		runImport(t, db, dir, Options{Rejects: t.TempDir()})
		if n := queryInt(t, db, "SELECT item_price FROM invoice_items"); n != 4_00 {
			t.Errorf("the price is %d after its total changed to 4.00", n)
		}
	})
}

// An administrator keeps the role, whatever the file says.
func TestAdministratorsStayAdministrators(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		createPractice(t, db)
		dir := writeFiles(t, map[string]string{
			"mapping.yaml": "source: old\nfiles: [{file: people.csv, entity: users}]\n",
			"people.csv":   "id,email,first_name,last_name,role,active\n1,ann@bright.test,Anne,Archer,nurse,N\n2,bo@bright.test,Bo,Bell,nurse,N\n",
		})
		report := runImport(t, db, dir, Options{Rejects: t.TempDir()})
		if report.Warnings != 1 || report.Rejected() > 0 {
			t.Errorf("%+v", report)
		}
		if n := queryInt(t, db, "SELECT COUNT(*) FROM users WHERE first_name = 'Anne' AND role = 'administrator' AND active"); n != 1 {
			t.Error("the administrator has lost the role")
		}
	})
}

// A corrected file of rejects is imported with the mapping of the original file, even if that
// has another delimiter and encoding. Rows that are still wrong are rejected with their
// original line.
func TestCorrectedRejects(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		createPractice(t, db)
		dir := writeFiles(t, map[string]string{
			"mapping.yaml": `
source: old
encoding: latin-1
delimiter: ";"
decimal_mark: ","
files:
  - {file: patients.csv, entity: patients, id: No, columns: {Name: last_name, Né: date_of_birth, Solde: opening_balance}, constants: {first_name: Al, payment_plan_id: Private, ethnicity: "99", title: Mr, gender: m, address_line_1: 1 Road, postcode: X1 1XX}}
  - {file: diary.csv, entity: appointments, id: line, columns: {No: patient_id, Début: start_time}, constants: {practitioner_id: ann@bright.test, reason: Exam, duration: "30"}}
`,
			"patients.csv": "No;Name;N\xe9;Solde\n\n1;N\xfa\xf1ez;1990-02-30;1,50\n2;M\xfcller;1990-02-29;2,50\n3;Ford;1990-02-28;3,50\n",
			"diary.csv":    "No;D\xe9but\n1;2026-03-02 09:00\n3;2026-03-02 10:00\n2;2026-03-02 11:00\n",
		})
		importAndCorrect := func(old, corrected string) *Report {
			t.Helper()
			o := Options{Rejects: t.TempDir()}
			report := runImport(t, db, dir, o)
			for name, content := range readFiles(t, o.Rejects) {
				if name != Findings {
					rewrite(t, dir, name, strings.ReplaceAll(content, old, corrected))
				}
			}
			return report
		}
		for i, want := range [][]FileReport{
			{{"patients.csv", "patients", 3, 1, 0, 0, 2}, {"diary.csv", "appointments", 3, 1, 0, 0, 2}},
			{{"patients.csv", "patients", 2, 1, 0, 0, 1}, {"diary.csv", "appointments", 2, 1, 0, 0, 1}},
			{{"patients.csv", "patients", 1, 1, 0, 0, 0}, {"diary.csv", "appointments", 1, 1, 0, 0, 0}},
		} {
			report := importAndCorrect([]string{"1990-02-30", "1990-02-29", "nothing"}[i], "1990-02-27")
			if !slices.Equal(report.Files, want) {
				t.Errorf("%+v, want %+v", report.Files, want)
			}
		}
		checkInts(t, db, map[string]int{
			"SELECT count(*) FROM patients WHERE last_name IN ('Núñez', 'Müller', 'Ford')":                         3,
			"SELECT sum(current_balance) FROM accounts":                                                            750,
			"SELECT count(*) FROM imported_records WHERE resource = 'appointments' AND legacy_id IN ('2','3','4')": 3,
		})
	})
}

// A source file in the rejects directory is refused, because rejects would overwrite it.
func TestSourcesAreNotOverwritten(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		createPractice(t, db)
		const staff = "id,first_name,last_name,email,role\n1,A,A,same@x.test,nurse\n"
		dir := writeFiles(t, map[string]string{"mapping.yaml": "source: old\nfiles: [{file: staff.csv, entity: users}]", "staff.csv": staff})
		for _, dry := range []bool{true, false} {
			_, err := Import(t.Context(), db, dir, Options{Rejects: dir, DryRun: dry})
			if err == nil || !strings.Contains(err.Error(), "staff.csv is in the rejects directory") {
				t.Errorf("%v", err)
			}
		}
		if got := readFiles(t, dir)["staff.csv"]; got != staff {
			t.Errorf("the file is %q", got)
		}
	})
}
